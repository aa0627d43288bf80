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

type Region = Pick<PackageFile, 'path' | 'offset' | 'size'>;

/** Reads up to `length` bytes from `start`, relative to the region; fewer at its end. */
export async function readRegion(
  { path, offset, size }: Region,
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

/** Returns at most WINDOW_SIZE bytes, fewer at the end of the region; valid until the next call. */
export type ReadWindow = (start: number, length: number) => Promise<Buffer>;

/** Serves many short reads that lie close together from one small buffer. */
export async function withWindow<Result>(
  { path, offset, size }: Region,
  signal: AbortSignal | undefined,
  action: (read: ReadWindow) => Promise<Result>,
): Promise<Result> {
  const buffer = Buffer.allocUnsafe(WINDOW_SIZE);
  const handle = await open(path);
  let first = 0;
  let filled = 0;
  const read: ReadWindow = async (start, length) => {
    signal?.throwIfAborted();
    const wanted = Math.max(0, Math.min(length, size - start));
    if (start < first || start + wanted > first + filled) {
      first = start;
      filled = await readFully(handle, buffer, offset + start);
    }
    const from = start - first;
    return buffer.subarray(from, Math.min(from + wanted, filled));
  };
  return action(read).finally(() => handle.close());
}
