// The files of a package: safe names, and reading a file, a member of an archive, or a sliding window.

import { open } from 'node:fs/promises';

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

export type Region = Pick<PackageFile, 'path' | 'offset' | 'size'>;

export const WINDOW_SIZE = 64 * 1024;

/** Returns at most the window's bytes, fewer at the end of the region; valid until the next call. */
export type ReadWindow = (start: number, length: number) => Promise<Buffer>;

/** Serves many short reads that lie close together from one small buffer. */
export async function withWindow<Result>(
  { path, offset, size }: Region,
  signal: AbortSignal | undefined,
  action: (read: ReadWindow) => Promise<Result>,
  windowSize = WINDOW_SIZE,
): Promise<Result> {
  const buffer = Buffer.allocUnsafe(windowSize);
  const handle = await open(path);
  let first = 0;
  let filled = 0;
  const read: ReadWindow = async (start, length) => {
    signal?.throwIfAborted();
    const wanted = Math.max(0, Math.min(length, size - start));
    if (start < first || start + wanted > first + filled) {
      first = start;
      filled = 0;
      let bytesRead = -1;
      while (filled < windowSize && bytesRead !== 0) {
        const place = offset + start + filled;
        ({ bytesRead } = await handle.read(buffer, filled, windowSize - filled, place));
        filled += bytesRead;
      }
    }
    const from = start - first;
    return buffer.subarray(from, Math.min(from + wanted, filled));
  };
  return action(read).finally(() => handle.close());
}

/** Reads up to `length` bytes from `start`, relative to the region; fewer at its end. */
export function readRegion(region: Region, start: number, length: number): Promise<Buffer> {
  const available = Math.max(0, Math.min(length, region.size - start));
  return withWindow(region, undefined, (read) => read(start, available), available);
}
