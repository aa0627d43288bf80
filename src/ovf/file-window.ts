// Looks into an open file at any place through one small buffer, for many short reads that lie close together.

import type { FileHandle } from 'node:fs/promises';
import { fill } from './region.ts';

/** How many bytes can be looked at together. */
export const WINDOW = 64 * 1024;

export class FileWindow {
  /** Bytes in the file. */
  readonly size: number;
  readonly #handle: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW);
  #start = 0;
  #length = 0;

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /** The bytes at an offset, at most WINDOW, fewer at the end of the file; valid until the next call. */
  async at(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (offset < this.#start || offset + wanted > this.#start + this.#length) {
      this.#start = offset;
      this.#length = await fill(this.#handle, this.#buffer, offset);
    }
    const from = offset - this.#start;
    return this.#buffer.subarray(from, Math.min(from + wanted, this.#length));
  }
}
