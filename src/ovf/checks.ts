// Checks the bytes of files as they pass: validate reads them for it, push uploads them.

import { createHash } from 'node:crypto';
import { type ByteCheck, readFileChunks } from '../chunks.ts';
import { type Finding, type FindingCode, FindingList } from './findings.ts';
import { type PackageFile, shortRead } from './package-file.ts';

export interface RunChecksOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytesDone: number, bytesTotal: number) => void) | undefined;
}

const CODES = {
  digest: 'digest-mismatch',
  unpacked: 'unpack-failed',
  read: 'size-mismatch',
} as const satisfies Record<string, FindingCode>;

export interface FileCheck {
  readonly file: PackageFile;
  readonly kind: keyof typeof CODES;
  /** Starts at the first byte, each time. */
  start(): ByteCheck;
}

/** @param expected lower-case hexadecimal */
export function digestCheck(file: PackageFile, algorithm: string, expected: string): FileCheck {
  const start = (): ByteCheck => {
    const hash = createHash(algorithm);
    return {
      update: (chunk) => void hash.update(chunk),
      end() {
        const digest = hash.digest('hex');
        if (digest === expected) return null;
        return `${algorithm} is ${digest}, the manifest has ${expected}`;
      },
    };
  };
  return { file, kind: 'digest', start };
}

export function readCheck(file: PackageFile): FileCheck {
  return { file, kind: 'read', start: () => ({ update() {}, end: () => null }) };
}

/** Reads each file once, in constant memory. Returns what is wrong with each, or null. */
export async function runChecks(
  checks: readonly FileCheck[],
  { signal, onProgress }: RunChecksOptions,
): Promise<(string | null)[]> {
  const total = checks.reduce((sum, { file }) => sum + file.size, 0);
  const results: (string | null)[] = [];
  let done = 0;
  for (const { file, start } of checks) {
    const { path, offset, size } = file;
    const check = start();
    const before = done;
    for await (const chunk of readFileChunks(path, offset, offset + size)) {
      signal?.throwIfAborted();
      await check.update(chunk);
      done += chunk.length;
      onProgress?.(done, total);
    }
    // A check that was interrupted knows nothing.
    signal?.throwIfAborted();
    const result = await check.end();
    results.push(shortRead(done - before, size) ?? result);
  }
  return results;
}

/** @param results those of the checks; without one, a file was not read */
export function checkFindings(
  file: string,
  checks: readonly FileCheck[],
  results: readonly (string | null | undefined)[],
): readonly Finding[] {
  const findings = new FindingList();
  for (const [index, check] of checks.entries()) {
    const { name } = check.file;
    const result = results[index];
    if (result === undefined) findings.add('missing-file', name, 'was not read');
    else if (result !== null) findings.add(CODES[check.kind], name, result);
  }
  return findings.list(file);
}
