// A file of a package, which may be a part of an archive, and how its bytes are read.

import { open } from 'node:fs/promises';
import { counted } from '../words.ts';
import type { FindingCode, FindingList } from './findings.ts';

export const WINDOW_SIZE = 64 * 1024;

export interface PackageFile {
  readonly path: string;
  readonly offset: number;
  readonly size: number;
  readonly name: string;
  /** False for the last member of a truncated archive. */
  readonly complete: boolean;
}

/** Identifies a file, which can have several names, such as `b/c` and `b//c`. */
export function placeOf({ path, offset }: PackageFile): string {
  return `${offset} ${path}`;
}

export type Region = Pick<PackageFile, 'path' | 'offset' | 'size'>;

/** Returns at most the bytes of the window, fewer at the end; valid until the next call. */
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
    const wanted = Math.min(length, size - start);
    if (wanted <= 0) return Buffer.alloc(0);
    if (start < first || start + wanted > first + filled) {
      first = start;
      filled = 0;
      let bytesRead = -1;
      while (filled < windowSize && bytesRead !== 0) {
        const position = offset + start + filled;
        ({ bytesRead } = await handle.read(buffer, filled, windowSize - filled, position));
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
  return withWindow(region, undefined, (read) => read(start, length), length);
}

/**
 * Reads a file into memory. Returns null if the archive ends inside it, and reports it if it is too
 * large, or ends before its size because another program shortened it.
 */
export async function readWhole(
  file: PackageFile,
  findings: FindingList,
  maxBytes: number,
  tooLarge: FindingCode,
): Promise<Buffer | null> {
  if (!file.complete) return null;
  if (file.size > maxBytes) {
    const message = `${file.size} bytes, more than ${maxBytes / 2 ** 20} MiB`;
    findings.add(tooLarge, file.name, message);
    return null;
  }
  const bytes = await readRegion(file, 0, file.size);
  const problem = shortRead(bytes.length, file.size);
  if (problem !== null) findings.add('size-mismatch', file.name, problem);
  return problem === null ? bytes : null;
}

/** Returns what is wrong with a file of which only these bytes were there to read, or null. */
export function shortRead(read: number, size: number): string | null {
  return read < size ? `ends after ${read} of ${counted(size, 'byte')}` : null;
}

export async function hasGzipMagic(file: PackageFile): Promise<boolean> {
  return (await readRegion(file, 0, 2)).toString('hex') === '1f8b';
}
