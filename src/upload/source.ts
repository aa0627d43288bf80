// A local file that is uploaded: reads it ahead, in order, hashes each byte once, and notices changes.

import { type FileHandle, open } from 'node:fs/promises';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { type Checksums, createReader, type Reader, type Region, sharedBuffer } from './reader.ts';

/** Large enough that the thread that reads it is rarely woken. */
const CHUNK = 2 ** 20;

/** Small enough to see progress on a slow line, larger than what a socket buffers. */
const PIECE = 256 * 1024;

/** Chunks that are read while others are sent. */
const AHEAD = 6;

/** A chunk is overwritten this many chunks later, when the socket has sent it. */
const CHUNKS = AHEAD + 2;

export interface Part extends Checksums {
  readonly bytes: Buffer;
}

export class Source {
  readonly path: string;
  readonly size: number;
  /** Differs after every change of the file. */
  readonly identity: string;
  readonly #handle: FileHandle;
  readonly #reader: Reader;
  readonly #hasRegions: boolean;
  readonly #buffers: Buffer[] = [];
  readonly #signal: AbortSignal;
  #count = 0;
  /** Everything before this position is hashed, or will be first. */
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
    this.#reader = createReader(handle, regions, size);
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
   * Returns the bytes from `start` on. A piece is valid until several more were taken.
   * @throws ImgctlError failed: unreadable, or shorter than before
   */
  async *read(start = 0): AsyncGenerator<Buffer> {
    await this.#hashUntil(start);
    const ahead: Promise<Buffer>[] = [];
    for (let next = start; next < this.size || ahead.length > 0; ) {
      for (; ahead.length <= AHEAD && next < this.size; next += CHUNK) {
        const chunk = this.#readChunk(next);
        // Reported when its turn has come.
        chunk.catch(() => {});
        ahead.push(chunk);
      }
      const bytes = await ahead.shift();
      for (let from = 0; bytes && from < bytes.length; from += PIECE) {
        yield bytes.subarray(from, from + PIECE);
      }
    }
  }

  /** Reads a part into the buffer, with its checksums. The next part may be read meanwhile into another one. */
  async readPart(buffer: Buffer, start: number): Promise<Part> {
    await this.#hashUntil(start);
    return this.#fill(buffer, start, true);
  }

  /** Returns some bytes, without hashing them. */
  async peek(start: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - start)));
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await this.#handle
        .read(bytes, filled, bytes.length - filled, start + filled)
        .catch((cause: unknown) => {
          throw readError(this.path, cause);
        });
      if (bytesRead === 0) throw this.changed();
      filled += bytesRead;
    }
    return bytes;
  }

  /** Returns the digests of the regions; reads what was not read yet. @throws ImgctlError failed: it changed */
  async digests(): Promise<string[]> {
    await this.#hashUntil(this.size);
    await this.checkUnchanged();
    this.#digests ??= this.#reader.digests();
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
    await this.#reader.close();
    await this.#handle.close();
  }

  async #hashUntil(position: number): Promise<void> {
    while (this.#hasRegions && this.#hashed < position) {
      await this.#readChunk(this.#hashed, position);
    }
  }

  /** Reads a chunk, or what is before `end`, into the buffer whose turn it is. */
  async #readChunk(position: number, end = this.size): Promise<Buffer> {
    const index = this.#count++ % CHUNKS;
    const buffer = this.#buffers[index] ?? sharedBuffer(CHUNK);
    this.#buffers[index] = buffer;
    const { bytes } = await this.#fill(buffer.subarray(0, end - position), position, false);
    return bytes;
  }

  /** Hashes what is new of the bytes: a retry reads some again. */
  async #fill(buffer: Buffer, position: number, isPart: boolean): Promise<Part> {
    this.#signal.throwIfAborted();
    const bytes = buffer.subarray(0, Math.max(0, this.size - position));
    const hashed = Math.max(0, this.#hashed - position);
    this.#hashed = Math.max(this.#hashed, position + bytes.length);
    const job = { bytes, position, hashed, isPart };
    const { length, ...checksums } = await this.#reader.read(job).catch((cause: unknown) => {
      throw readError(this.path, cause);
    });
    if (length < bytes.length) throw this.changed();
    return { bytes, ...checksums };
  }
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
