// Reads parts of files on disk: a whole file, a member of an archive, or a sliding window.

import { type FileHandle, open } from 'node:fs/promises';

/** Where the bytes of a file of the package lie. */
export interface Region {
  /** Path of the file on disk. */
  readonly path: string;
  /** First byte. */
  readonly offset: number;
  /** Bytes. */
  readonly size: number;
}

/** A file of a package. */
export interface PackageFile extends Region {
  /** As the package calls it. */
  readonly name: string;
  /** Whether all its bytes are there: an archive can end inside a member. */
  readonly complete: boolean;
}

/**
 * Up to `length` bytes from `start` on, counted from the region's own beginning; fewer where it ends.
 * @throws the file system's error
 */
export async function readRegion(region: Region, start: number, length: number): Promise<Buffer> {
  const wanted = Math.max(0, Math.min(length, region.size - start));
  const handle = await open(region.path);
  try {
    const buffer = Buffer.allocUnsafe(wanted);
    const filled = await readFully(handle, buffer, region.offset + start);
    return buffer.subarray(0, filled);
  } finally {
    await handle.close();
  }
}

/** Reads into the whole buffer, from `position` of the file on; how many bytes there were. */
export async function readFully(
  handle: FileHandle,
  buffer: Buffer,
  position: number,
): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(
      buffer,
      filled,
      buffer.length - filled,
      position + filled,
    );
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** How many bytes can be looked at together. */
export const WINDOW_SIZE = 64 * 1024;

export class FileWindow {
  /** Bytes in the file. */
  readonly size: number;
  readonly #handle: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW_SIZE);
  #start = 0;
  #length = 0;

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /** The bytes at an offset, at most WINDOW_SIZE, fewer at the end of the file; valid until the next call. */
  async at(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (offset < this.#start || offset + wanted > this.#start + this.#length) {
      this.#start = offset;
      this.#length = await readFully(this.#handle, this.#buffer, offset);
    }
    const from = offset - this.#start;
    return this.#buffer.subarray(from, Math.min(from + wanted, this.#length));
  }
}
