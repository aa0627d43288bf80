// Reads the manifest of a package and verifies the digests that it lists.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type Finding, FindingList } from './findings.ts';
import {
  isSafeName,
  type PackageFile,
  type PackageSource,
  readRegion,
  stripDotSlash,
} from './package-source.ts';

export interface ReadOptions {
  /** Warns about newer virtual hardware and rarely supported devices: 13 for vmx-13. */
  readonly maxHardware?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytesDone: number, bytesTotal: number) => void) | undefined;
}

type Manifest = ReturnType<typeof parseManifest>;
type ManifestEntry = NonNullable<ReturnType<typeof parseLine>>;

/** Hexadecimal digits of a digest. */
const DIGITS = { SHA1: 40, SHA256: 64, SHA512: 128 } as const;

const MAX_LINE_LENGTH = 4096;
const MAX_MANIFEST_BYTES = 2 * 1024 * 1024;

export async function readManifest(file: PackageFile, findings: FindingList) {
  if (!file.complete) return null;
  if (file.size > MAX_MANIFEST_BYTES) {
    findings.add('manifest-too-large', file.name, `${file.size} bytes, more than 2 MiB`);
    return null;
  }
  const bytes = await readRegion(file, 0, file.size);
  return parseManifest(bytes.toString('utf8'), file.name, findings);
}

/** Pairs files with their digests; reports files and digests without a counterpart. */
export async function matchManifest(
  manifest: Manifest,
  files: readonly PackageFile[],
  { find, findings }: PackageSource,
): Promise<ExpectedDigest[]> {
  const expected = new Map<string, ExpectedDigest>();
  for (const entry of manifest.entries) {
    const file = isSafeName(entry.name) ? await find(entry.name) : null;
    const place = file === null ? '' : placeOf(file);
    if (file === null) {
      findings.add('digest-without-file', entry.name, 'listed in the manifest, but missing');
    } else if (expected.has(place)) {
      findings.add('manifest-duplicate', entry.name, 'listed twice under different names');
    } else {
      expected.set(place, { file, entry });
    }
  }
  for (const file of files) {
    if (expected.has(placeOf(file))) continue;
    findings.add('not-in-manifest', file.name, 'not listed in the manifest');
  }
  return [...expected.values()].filter(({ file }) => file.complete);
}

/** Identifies a file, which can have several names, such as `b/c` and `b//c`. */
function placeOf({ path, offset }: PackageFile): string {
  return `${offset} ${path}`;
}

export function parseManifest(text: string, name: string, findings: FindingList) {
  const entries = new Map<string, ManifestEntry>();
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const place = `${name}:${index + 1}`;
    const entry = parseLine(line);
    if (/^\s*sha2-/i.test(line) && entry !== null && !findings.has('manifest-label')) {
      findings.add('manifest-label', place, 'SHA2- read as SHA; other programs may refuse it');
    }
    if (entry === null) {
      findings.add('manifest-syntax', place, 'expected SHA256(file)= digest');
    } else if (entries.has(entry.name)) {
      findings.add('manifest-duplicate', place, `${entry.name} is listed twice`);
    } else {
      entries.set(entry.name, entry);
    }
  }
  const list = [...entries.values()];
  const algorithms = [...new Set(list.map(({ algorithm }) => algorithm))];
  if (algorithms.length > 1) findings.add('manifest-algorithms', name, algorithms.join(', '));
  // Of the first entry; others are a finding.
  return { algorithm: algorithms[0] ?? null, entries: list };
}

function parseLine(line: string) {
  if (line.length > MAX_LINE_LENGTH) return null;
  // OpenSSL 3 writes SHA2-256.
  const parts = /^\s*(SHA-?1|SHA(?:2?-)?(?:256|512))\s*\((.+)\)\s*=\s*([0-9a-f]+)\s*$/i.exec(line);
  const [, label, name, digits] = parts ?? [];
  if (label === undefined || name === undefined || digits === undefined) return null;
  const algorithm = label.toUpperCase().replace(/2?-/, '') as keyof typeof DIGITS;
  if (digits.length !== DIGITS[algorithm]) return null;
  return { name: stripDotSlash(name), algorithm, digest: digits.toLowerCase() };
}

/** Larger reads fall out of the processor's cache before they are hashed. */
const READ_SIZE = 1024 * 1024;

interface ExpectedDigest {
  readonly file: PackageFile;
  readonly entry: ManifestEntry;
}

/** Returns a finding for each digest (lower-case hexadecimal) that is not the expected one. */
export function digestFindings(
  file: string,
  expected: readonly ExpectedDigest[],
  digests: readonly string[],
): readonly Finding[] {
  const findings = new FindingList();
  for (const [index, { file: part, entry }] of expected.entries()) {
    const digest = digests[index] ?? '';
    if (digest === entry.digest) continue;
    const message = `${entry.algorithm} is ${digest}, the manifest has ${entry.digest}`;
    findings.add('digest-mismatch', part.name, message);
  }
  return findings.list(file);
}

/** Reads each file once, in order and in constant memory. A file that shrinks meanwhile gets a wrong digest. */
export async function computeDigests(
  expected: readonly ExpectedDigest[],
  { signal, onProgress }: ReadOptions,
): Promise<string[]> {
  const total = expected.reduce((sum, { file }) => sum + file.size, 0);
  const digests: string[] = [];
  let done = 0;
  for (const { file, entry } of expected) {
    const { path, offset: start, size } = file;
    const hash = createHash(entry.algorithm);
    const range = { start, end: start + size - 1, highWaterMark: READ_SIZE };
    for await (const chunk of size === 0 ? [] : createReadStream(path, range)) {
      signal?.throwIfAborted();
      hash.update(chunk);
      done += chunk.length;
      onProgress?.(done, total);
    }
    digests.push(hash.digest('hex'));
  }
  return digests;
}
