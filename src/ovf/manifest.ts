// Reads the manifest of a package: the digests that it lists.

import { isUtf8 } from 'node:buffer';
import { digestCheck, type FileCheck } from './checks.ts';
import type { FindingList } from './findings.ts';
import { isSafeName, stripDotSlash, UNSAFE_NAME } from './names.ts';
import { type PackageFile, placeOf, readWhole } from './package-file.ts';
import { type PackageSource, similarHint } from './package-source.ts';

export interface Manifest {
  /** Of the first entry; others are a finding. */
  readonly algorithm: Algorithm | null;
  readonly entries: readonly ManifestEntry[];
}

interface ManifestEntry {
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly digest: string;
}

/** As the standard has it (DSP0243, section 5.1). */
const STANDARD_LINE = /^SHA(?:1|256|512)\(.+\)= *[0-9a-fA-F]+\s*$/;

const DIGITS = { SHA1: 40, SHA256: 64, SHA512: 128 } as const;

type Algorithm = keyof typeof DIGITS;

const MAX_LINE_LENGTH = 4096;
const MAX_MANIFEST_BYTES = 2 * 1024 * 1024;

/** Returns the bytes, or null if they are too many, not complete or not UTF-8. */
export async function readManifest(
  file: PackageFile,
  findings: FindingList,
): Promise<Buffer | null> {
  const bytes = await readWhole(file, findings, MAX_MANIFEST_BYTES, 'manifest-too-large');
  // Text in UTF-16 may be valid UTF-8, but has NUL bytes.
  if (bytes === null || (isUtf8(bytes) && !bytes.includes(0))) return bytes;
  findings.add('manifest-syntax', file.name, 'not encoded in UTF-8; save it as UTF-8');
  return null;
}

/** Returns a check for each digest; reports files and digests without a counterpart. */
export async function matchManifest(
  manifest: Manifest,
  files: readonly PackageFile[],
  source: PackageSource,
): Promise<FileCheck[]> {
  const { find, findings } = source;
  const expected = new Map<string, FileCheck>();
  for (const entry of manifest.entries) {
    const { name, algorithm, digest } = entry;
    if (!isSafeName(name)) {
      findings.add('digest-without-file', name, `listed in the manifest, but ${UNSAFE_NAME}`);
      continue;
    }
    const file = await find(name);
    if (file === null) {
      const hint = await similarHint(name, source);
      findings.add('digest-without-file', name, `listed in the manifest, but missing${hint}`);
      continue;
    }
    if (expected.has(placeOf(file))) {
      findings.add('manifest-duplicate', name, 'listed twice under different names');
    } else expected.set(placeOf(file), digestCheck(file, algorithm, digest));
  }
  for (const file of files) {
    if (expected.has(placeOf(file))) continue;
    findings.add('not-in-manifest', file.name, 'not listed in the manifest');
  }
  return [...expected.values()].filter(({ file }) => file.complete);
}

export function parseManifest(text: string, name: string, findings: FindingList): Manifest {
  const entries = new Map<string, ManifestEntry>();
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const place = `${name}:${index + 1}`;
    const entry = parseLine(line);
    if (entry !== null && !STANDARD_LINE.test(line) && !findings.has('manifest-label')) {
      const written = line.slice(0, line.indexOf('(') + 1);
      const standard = `${entry.algorithm}(file)= digest`;
      const message = `written as ${written}...; other programs may accept only ${standard}`;
      findings.add('manifest-label', place, message);
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
  return { algorithm: algorithms[0] ?? null, entries: list };
}

function parseLine(line: string): ManifestEntry | null {
  if (line.length > MAX_LINE_LENGTH) return null;
  // OpenSSL 3 writes SHA2-256.
  const parts = /^\s*(SHA-?1|SHA(?:2?-)?(?:256|512))\s*\((.+)\)\s*=\s*([0-9a-f]+)\s*$/i.exec(line);
  const [, label, name, digits] = parts ?? [];
  if (label === undefined || name === undefined || digits === undefined) return null;
  const algorithm = label.toUpperCase().replace(/2?-/, '') as Algorithm;
  if (digits.length !== DIGITS[algorithm]) return null;
  return { name: stripDotSlash(name), algorithm, digest: digits.toLowerCase() };
}
