// A local file that is uploaded: reads it in order, hashes each byte once, and notices changes.

import { type FileHandle, open } from 'node:fs/promises';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { createHasher, type Hasher, type Region } from './hashes.ts';

/** Small enough to see progress on a slow line, larger than what a socket buffers. */
const CHUNK = 256 * 1024;

/** A chunk is overwritten this many chunks later, when the socket has sent it. */
const CHUNKS = 16;

interface Slot {
  readonly bytes: Buffer;
  /** Settles when the bytes may be overwritten. */
  hashed: Promise<unknown>;
}

export interface Part {
  readonly bytes: Buffer;
  /** MD5, hexadecimal. */
  readonly md5: string;
}

export class Source {
  readonly path: string;
  readonly size: number;
  /** Differs after every change of the file. */
  readonly identity: string;
  readonly #handle: FileHandle;
  readonly #hasher: Hasher;
  readonly #hasRegions: boolean;
  readonly #slots: Slot[] = [];
  readonly #signal: AbortSignal;
  #next = 0;
  /** Everything before this position was hashed. */
  #hashed = 0;
  #digests: Promise<string[]> | undefined;

  private constructor(
    path: string,
    handle: FileHandle,
    { size, identity }: Pick<Source, 'size' | 'identity'>,
    regions: readonly Region[],
    signal: AbortSignal,
  ) {
    this.path = path;
    this.size = size;
    this.identity = identity;
    this.#handle = handle;
    this.#hasRegions = regions.length > 0;
    this.#hasher = createHasher(regions, size);
    this.#signal = signal;
  }

  /** @throws ImgctlError not-found, failed */
  static async open(path: string, regions: readonly Region[], signal: AbortSignal) {
    const handle = await open(path).catch((cause: unknown) => {
      throw readError(path, cause);
    });
    const facts = await factsOf(path, handle);
    return new Source(path, handle, facts, regions, signal);
  }

  /**
   * Returns the bytes from `start` on. A chunk is valid until several more were taken.
   * @throws ImgctlError failed: unreadable, or shorter than before
   */
  async *read(start = 0, end = this.size): AsyncGenerator<Buffer> {
    await this.#hashUntil(start);
    for (let position = start; position < end; ) {
      const slot = await this.#slot();
      const bytes = slot.bytes.subarray(0, Math.min(CHUNK, end - position));
      await this.#fill(bytes, position);
      slot.hashed = this.#hash(bytes, position);
      position += bytes.length;
      yield bytes;
    }
  }

  /** Reads a part into the buffer, with its MD5. The next part may be read meanwhile into another one. */
  async readPart(buffer: Buffer, start: number): Promise<Part> {
    await this.#hashUntil(start);
    const bytes = buffer.subarray(0, Math.min(buffer.length, this.size - start));
    await this.#fill(bytes, start);
    await this.#hash(bytes, start);
    return { bytes, md5: await this.#hasher.md5(bytes) };
  }

  /** Returns some bytes, without hashing them. */
  async peek(start: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - start)));
    await this.#fill(bytes, start);
    return bytes;
  }

  /** Returns the digests of the regions; reads what was not read yet. @throws ImgctlError failed: it changed */
  async digests(): Promise<string[]> {
    await this.#hashUntil(this.size);
    await this.checkUnchanged();
    this.#digests ??= this.#hasher.digests();
    return this.#digests;
  }

  /** @throws ImgctlError failed */
  async checkUnchanged(): Promise<void> {
    const { identity } = await factsOf(this.path, this.#handle);
    if (identity !== this.identity) throw this.changed();
  }

  changed(): ImgctlError {
    return new ImgctlError('failed', `${this.path} changed while it was uploaded`, {
      hint: 'wait until the file is complete, then run the command again',
    });
  }

  async close(): Promise<void> {
    this.#hasher.close();
    await Promise.allSettled(this.#slots.map(({ hashed }) => hashed));
    await this.#handle.close();
  }

  async #hashUntil(position: number): Promise<void> {
    if (!this.#hasRegions) return;
    while (this.#hashed < position) {
      const slot = await this.#slot();
      const bytes = slot.bytes.subarray(0, Math.min(CHUNK, position - this.#hashed));
      await this.#fill(bytes, this.#hashed);
      slot.hashed = this.#hash(bytes, this.#hashed);
    }
  }

  /** Hashes what is new of the bytes: a retry reads some again. */
  #hash(bytes: Buffer, position: number): Promise<unknown> {
    const fresh = bytes.subarray(Math.max(0, this.#hashed - position));
    this.#hashed = Math.max(this.#hashed, position + bytes.length);
    if (fresh.length === 0 || !this.#hasRegions) return Promise.resolve();
    const done = this.#hasher.update(fresh, position + bytes.length - fresh.length);
    // Reported when the slot is used again, or at the end.
    done.catch(() => {});
    return done;
  }

  async #slot(): Promise<Slot> {
    this.#signal.throwIfAborted();
    const index = this.#next++ % CHUNKS;
    let slot = this.#slots[index];
    if (slot) await slot.hashed;
    else {
      slot = { bytes: sharedBuffer(CHUNK), hashed: Promise.resolve() };
      this.#slots[index] = slot;
    }
    return slot;
  }

  async #fill(bytes: Buffer, position: number): Promise<void> {
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await this.#handle
        .read(bytes, filled, bytes.length - filled, position + filled)
        .catch((cause: unknown) => {
          throw readError(this.path, cause);
        });
      if (bytesRead === 0) throw this.changed();
      filled += bytesRead;
    }
  }
}

/** Returns memory that a thread can read without a copy. */
export function sharedBuffer(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

async function factsOf(path: string, handle: FileHandle) {
  const stat = await handle.stat({ bigint: true }).catch((cause: unknown) => {
    throw readError(path, cause);
  });
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return { size: Number(size), identity: [dev, ino, size, mtimeNs, ctimeNs].join(':') };
}

function readError(path: string, cause: unknown): ImgctlError {
  return new ImgctlError('failed', `cannot read ${path}: ${errorReason(cause)}`, { cause });
}
