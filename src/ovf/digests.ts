// Computes the digests of a package's files and compares them with the manifest.

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FindingList } from './findings.ts';
import { fill, type PackageFile } from './region.ts';
import type { DigestAlgorithm, ManifestEntry } from './summary.ts';

/** One read. Larger ones fall out of the processor's cache before they are hashed. */
const CHUNK = 1024 * 1024;

export interface DigestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytesDone: number, bytesTotal: number) => void) | undefined;
}

/** A file and the digest that it should have. */
export interface ExpectedDigest {
  readonly file: PackageFile;
  readonly entry: ManifestEntry;
}

/** Reads each file once, in the order given, in constant memory. */
export async function verifyDigests(
  expected: readonly ExpectedDigest[],
  findings: FindingList,
  { signal, onProgress }: DigestOptions,
): Promise<void> {
  const total = expected.reduce((sum, { file }) => sum + file.size, 0);
  const buffers = [Buffer.allocUnsafe(CHUNK), Buffer.allocUnsafe(CHUNK)] as const;
  let done = 0;
  for (const { file, entry } of expected) {
    const digest = await digestOf(file, entry.algorithm, buffers, (bytes) => {
      signal?.throwIfAborted();
      done += bytes;
      onProgress?.(done, total);
    });
    if (digest === entry.digest) continue;
    const message = `${entry.algorithm} is ${digest}, the manifest has ${entry.digest}`;
    findings.add('digest-mismatch', file.name, message);
  }
}

/** The hexadecimal digest of a file; the next chunk is read while one is hashed. */
async function digestOf(
  file: PackageFile,
  algorithm: DigestAlgorithm,
  buffers: readonly [Buffer, Buffer],
  onChunk: (bytes: number) => void,
): Promise<string> {
  const hash = createHash(algorithm);
  const handle = await open(file.path);
  const read = (buffer: Buffer, start: number) => {
    const wanted = buffer.subarray(0, Math.min(CHUNK, file.size - start));
    return fill(handle, wanted, file.offset + start);
  };
  let [current, next] = buffers;
  let ahead = read(current, 0);
  try {
    for (let start = 0; start < file.size; start += CHUNK) {
      const bytes = await ahead;
      // A file that shrinks meanwhile ends early, and its digest is wrong.
      if (bytes === 0) break;
      if (start + CHUNK < file.size) ahead = read(next, start + CHUNK);
      hash.update(current.subarray(0, bytes));
      [current, next] = [next, current];
      onChunk(bytes);
    }
    return hash.digest('hex');
  } finally {
    // The handle must outlive the read that is under way; its failure was or becomes an error of its own.
    await ahead.catch(() => 0);
    await handle.close();
  }
}
