// A local file that is uploaded: a stream whose bytes are hashed as they pass, which notices changes.

import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';

/** A part of a file that has a digest of its own. */
export interface Region {
  readonly offset: number;
  readonly size: number;
  /** As Node names it, such as `sha256`. */
  readonly algorithm: string;
}

/** Small enough to see progress on a slow line. Parts of S3 are a multiple of it. */
const CHUNK = 256 * 1024;

export class Source {
  readonly path: string;
  readonly size: number;
  /** Differs after every change of the file. */
  readonly identity: string;
  readonly #handle: FileHandle;
  readonly #regions: readonly Region[];
  readonly #signal: AbortSignal;
  #digests: readonly string[] | undefined;

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
    this.#regions = regions;
    this.#signal = signal;
  }

  /** @throws ImgctlError failed */
  static async open(path: string, regions: readonly Region[], signal: AbortSignal) {
    try {
      const handle = await open(path);
      return new Source(path, handle, await factsOf(handle), regions, signal);
    } catch (error) {
      throw readError(path, error);
    }
  }

  /**
   * Returns the bytes in chunks, each full but the last.
   * @throws ImgctlError failed: unreadable, or shorter than before
   */
  async *read(start = 0, end = this.size): AsyncGenerator<Buffer> {
    for (let position = start; position < end; ) {
      this.#signal.throwIfAborted();
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, end - position));
      for (let filled = 0; filled < chunk.length; ) {
        const { bytesRead } = await this.#handle
          .read(chunk, filled, chunk.length - filled, position + filled)
          .catch((error: unknown) => {
            throw readError(this.path, error);
          });
        if (bytesRead === 0) throw this.changed();
        filled += bytesRead;
      }
      yield chunk;
      position += chunk.length;
    }
  }

  /** Returns all bytes and computes the digests meanwhile, from the beginning each time. @throws as read does */
  async *readAll(): AsyncGenerator<Buffer> {
    const hashes = this.#regions.map(({ algorithm }) => createHash(algorithm));
    let position = 0;
    for await (const chunk of this.read()) {
      for (const [index, { offset, size }] of this.#regions.entries()) {
        const start = Math.max(offset - position, 0);
        const end = Math.min(offset + size - position, chunk.length);
        if (start < end) hashes[index]?.update(chunk.subarray(start, end));
      }
      yield chunk;
      position += chunk.length;
    }
    this.#digests = hashes.map((hash) => hash.digest('hex'));
  }

  /**
   * Returns the digests of the regions in hexadecimal; reads the file unless `readAll` did.
   * @throws ImgctlError failed: it changed
   */
  async digests(): Promise<readonly string[]> {
    if (!this.#digests) for await (const _ of this.readAll());
    const { identity } = await factsOf(this.#handle);
    if (identity !== this.identity) throw this.changed();
    return this.#digests ?? [];
  }

  changed(): ImgctlError {
    return new ImgctlError('failed', `${this.path} changed while it was uploaded`, {
      hint: 'wait until the file is complete, then run the command again',
    });
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

async function factsOf(handle: FileHandle) {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return { size: Number(size), identity: [dev, ino, size, mtimeNs, ctimeNs].join(':') };
}

function readError(path: string, cause: unknown): ImgctlError {
  return new ImgctlError('failed', `cannot read ${path}: ${errorReason(cause)}`, { cause });
}
