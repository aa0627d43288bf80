// The files of a package: safe names, and reading a file, a member of an archive, or a sliding window.

import { type FileHandle, open } from 'node:fs/promises';

export interface PackageFile {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  /** The name within the package. */
  readonly name: string;
  /** False for the last member of a truncated archive. */
  readonly complete: boolean;
}

/** True if a name is relative and stays inside its folder, on any system. */
export function isSafeName(name: string): boolean {
  if (name === '' || /^\/|^[a-z]:|[\\\0]/i.test(name)) return false;
  return !name.split('/').includes('..');
}

export function stripDotSlash(name: string): string {
  return name.replace(/^(?:\.\/+)+/, '') || name;
}

/** Reads up to `length` bytes from `start`, relative to the region; fewer at its end. */
export async function readRegion(
  { path, offset, size }: Pick<PackageFile, 'path' | 'offset' | 'size'>,
  start: number,
  length: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - start)));
  const handle = await open(path);
  const filled = await readFully(handle, buffer, offset + start).finally(() => handle.close());
  return buffer.subarray(0, filled);
}

/** Fills the buffer from `position` of the file; returns the number of bytes read. */
async function readFully(handle: FileHandle, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const rest = buffer.length - filled;
    const { bytesRead } = await handle.read(buffer, filled, rest, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

export const WINDOW_SIZE = 64 * 1024;

/** Serves many short reads that lie close together from one small buffer. */
export class FileWindow {
  readonly size: number;
  readonly #handle: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW_SIZE);
  #start = 0;
  #length = 0;

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /** Returns at most WINDOW_SIZE bytes, fewer at the end of the file; valid until the next call. */
  async read(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.size - offset));
    if (offset < this.#start || offset + wanted > this.#start + this.#length) {
      this.#start = offset;
      this.#length = await readFully(this.#handle, this.#buffer, offset);
    }
    const from = offset - this.#start;
    return this.#buffer.subarray(from, Math.min(from + wanted, this.#length));
  }
}
