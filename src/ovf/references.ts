// Finds the files that a descriptor references, whole or in chunks.

import { counted } from '../words.ts';
import type { FileCheck } from './checks.ts';
import type { FileReference } from './descriptor.ts';
import type { FindingCode, FindingList } from './findings.ts';
import { candidateNames, flawOf } from './names.ts';
import { hasGzipMagic, type PackageFile, placeOf } from './package-file.ts';
import { type PackageSource, similarHint } from './package-source.ts';

export interface FilesOfReference {
  readonly reference: FileReference;
  /** The file, or all its chunks; at least one. */
  readonly files: readonly PackageFile[];
  /** True if chunks may follow the last: no size is declared, and the last chunk is full. */
  readonly isOpenEnded: boolean;
}

/** Finds the file of each reference, or its chunks, and compares them with what is declared. */
export async function resolveReferences(
  references: readonly FileReference[],
  source: PackageSource,
) {
  const resolved: FilesOfReference[] = [];
  const taken = new Set<string>();
  for (const reference of references) {
    const found = await findFiles(reference, source, taken);
    if (found === null) continue;
    resolved.push(found);
    await checkCompression(found, source);
  }
  return resolved;
}

/**
 * Returns null, which is a finding, if there are no files, or another reference has taken one.
 * @param taken places of files, to which this adds
 */
async function findFiles(
  reference: FileReference,
  source: PackageSource,
  taken: Set<string>,
): Promise<FilesOfReference | null> {
  const { href, size, chunkSize } = reference;
  const report = (code: FindingCode, message: string) => {
    source.findings.add(code, href, message);
    return null;
  };
  if (/^https?:\/\//i.test(href)) return report('remote-reference', 'remote file, not checked');
  const flaw = flawOf(href);
  if (flaw !== null) return report('unsafe-name', flaw);
  const file = await findFile(href, source);
  // A file that fits into one chunk need not be named as one.
  const isChunked = chunkSize !== null && chunkSize > 0 && (file === null || file.size > chunkSize);
  const files = isChunked
    ? await findChunks(reference, chunkSize, source, taken)
    : await checkWhole(file, reference, source);
  const places = files.map(placeOf);
  const isRepeated = places.some((place) => taken.has(place));
  for (const place of places) taken.add(place);
  if (isRepeated) return report('duplicate-reference', 'another reference names the same file');
  const last = files.at(-1);
  if (last === undefined) return null;
  return { reference, files, isOpenEnded: isChunked && size === null && last.size >= chunkSize };
}

/** Returns the file, or none if it is missing, which this reports. */
async function checkWhole(
  file: PackageFile | null,
  { href, size }: FileReference,
  source: PackageSource,
): Promise<PackageFile[]> {
  if (file !== null) {
    checkSize(file, size, source);
    return [file];
  }
  const hints = await Promise.all(candidateNames(href).map((name) => similarHint(name, source)));
  source.findings.add('missing-file', href, `missing or unreadable${hints.find(Boolean) ?? ''}`);
  return [];
}

/**
 * Finds the chunks `<href>.000000000` and so on: at least one, all full but the last. Stops at one
 * that is taken, as thousands of references may name the same thousands of chunks.
 */
async function findChunks(
  { href, size }: FileReference,
  chunkSize: number,
  source: PackageSource,
  taken: ReadonlySet<string>,
): Promise<PackageFile[]> {
  const chunks: PackageFile[] = [];
  const count = size === null ? Infinity : Math.max(1, Math.ceil(size / chunkSize));
  const nameOf = (index: number) => `${href}.${String(index).padStart(9, '0')}`;
  for (let index = 0; index < count; index += 1) {
    const chunk = await findFile(nameOf(index), source);
    if (chunk === null) {
      const mayEndHere =
        size === null && index > 0 && (await findFile(nameOf(index + 1), source)) === null;
      const message = `missing or unreadable chunk of ${href}`;
      if (!mayEndHere) source.findings.add('missing-file', nameOf(index), message);
      break;
    }
    const rest = size === null ? chunk.size : size - index * chunkSize;
    checkSize(chunk, Math.min(chunkSize, rest), source);
    chunks.push(chunk);
    const isLast = size === null && chunk.size < chunkSize;
    if (isLast || taken.has(placeOf(chunk))) break;
  }
  return chunks;
}

async function findFile(href: string, { find }: PackageSource): Promise<PackageFile | null> {
  for (const name of candidateNames(href)) {
    const file = await find(name);
    if (file !== null) return file;
  }
  return null;
}

function checkSize(file: PackageFile, declared: number | null, source: PackageSource): void {
  if (declared === null || declared === file.size || !file.complete) return;
  const message = `${counted(file.size, 'byte')}, the descriptor declares ${declared}`;
  source.findings.add('size-mismatch', file.name, message);
}

async function checkCompression(
  { reference: { href, compression }, files: [file] }: FilesOfReference,
  { findings }: PackageSource,
): Promise<void> {
  if (compression === null || file === undefined) return;
  if (compression !== 'gzip')
    findings.add('unknown-compression', href, `unknown compression ${compression}, not checked`);
  else if (!(await hasGzipMagic(file)))
    findings.add('not-gzip', file.name, 'declared as gzip, but not gzip data');
}

/** Reports references that may have more chunks. A manifest that lists the last one lists all. */
export function checkEnds(
  references: readonly FilesOfReference[],
  digests: readonly FileCheck[],
  findings: FindingList,
): void {
  const listed = new Set(digests.map(({ file }) => placeOf(file)));
  for (const { reference, files, isOpenEnded } of references) {
    const last = files.at(-1);
    if (!isOpenEnded || !last || listed.has(placeOf(last))) continue;
    const message = `no size, so chunks after ${last.name} may be missing`;
    findings.add('unknown-end', reference.href, message);
  }
}
