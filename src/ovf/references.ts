// Finds the files that a descriptor references, whole or in chunks.

import { counted } from '../words.ts';
import type { FileCheck } from './checks.ts';
import type { FileReference } from './descriptor.ts';
import type { FindingCode, FindingList } from './findings.ts';
import { candidateNames, flawOf } from './names.ts';
import { hasGzipMagic, type PackageFile, placeOf } from './package-file.ts';
import type { PackageSource } from './package-source.ts';

export interface FilesOfReference {
  readonly reference: FileReference;
  /** The file, or all its chunks. */
  readonly files: readonly PackageFile[];
}

/** Finds the file of each reference, or its chunks, and compares them with what is declared. */
export async function resolveReferences(
  references: readonly FileReference[],
  source: PackageSource,
) {
  const { findings } = source;
  const resolved: FilesOfReference[] = [];
  const places = new Set<string>();
  for (const reference of references) {
    const { href, compression } = reference;
    const files = await takeFiles(reference, source, places);
    if (files === null) {
      findings.add('duplicate-reference', href, 'another reference names the same file');
      continue;
    }
    resolved.push({ reference, files });
    if (compression === null) continue;
    const [file] = files;
    if (compression !== 'gzip') {
      findings.add('unknown-compression', href, `unknown compression ${compression}, not checked`);
    } else if (file && !(await hasGzipMagic(file))) {
      findings.add('not-gzip', file.name, 'declared as gzip, but not gzip data');
    }
  }
  return resolved;
}

/** Returns the files of a reference and adds their places; null if another reference has one. */
async function takeFiles(reference: FileReference, source: PackageSource, places: Set<string>) {
  const files: PackageFile[] = [];
  for await (const file of findFiles(reference, source)) {
    const place = placeOf(file);
    if (places.has(place)) return null;
    places.add(place);
    files.push(file);
  }
  return files;
}

async function* findFiles(
  reference: FileReference,
  source: PackageSource,
): AsyncGenerator<PackageFile, void> {
  const { href, size, chunkSize } = reference;
  const report = (code: FindingCode, message: string) => source.findings.add(code, href, message);
  if (/^https?:\/\//i.test(href)) return report('remote-reference', 'remote file, not checked');
  const flaw = flawOf(href);
  if (flaw !== undefined) return report('unsafe-name', flaw);
  const file = await findFile(href, source);
  // A file that fits into one chunk need not be named as one.
  const isWhole = file !== null && chunkSize !== null && file.size <= chunkSize;
  if (chunkSize !== null && chunkSize > 0 && !isWhole)
    return yield* findChunks(reference, chunkSize, source);
  if (file === null) {
    const [how] = (await Promise.all(candidateNames(href).map(source.findSimilar))).filter(Boolean);
    const hint = how ? `; the package has this name ${how}` : '';
    return report('missing-file', `missing or unreadable${hint}`);
  }
  checkSize(file, size, source);
  yield file;
}

/** Finds the chunks `<href>.000000000` and so on: at least one, all full but the last. */
async function* findChunks(
  { href, size }: FileReference,
  chunkSize: number,
  source: PackageSource,
): AsyncGenerator<PackageFile, void> {
  const nameOf = (index: number) => `${href}.${String(index).padStart(9, '0')}`;
  for (let index = 0, start = 0; ; index += 1, start += chunkSize) {
    if (size !== null && index > 0 && start >= size) return;
    const chunk = await findFile(nameOf(index), source);
    if (chunk === null) {
      const mayEndHere =
        size === null && index > 0 && (await findFile(nameOf(index + 1), source)) === null;
      const message = `missing or unreadable chunk of ${href}`;
      if (!mayEndHere) source.findings.add('missing-file', nameOf(index), message);
      return;
    }
    checkSize(chunk, Math.min(chunkSize, size === null ? chunk.size : size - start), source);
    yield chunk;
    if (size === null && chunk.size < chunkSize) return;
  }
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

/** Only a declared size, a manifest or a chunk that is not full shows that no chunk is missing. */
export function checkEnds(
  references: readonly FilesOfReference[],
  digests: readonly FileCheck[],
  findings: FindingList,
): void {
  const listed = new Set(digests.map(({ file }) => placeOf(file)));
  for (const { reference, files } of references) {
    const { href, size, chunkSize } = reference;
    const last = files.at(-1);
    if (!last || size !== null || !chunkSize || listed.has(placeOf(last))) continue;
    const isWhole = !/\.\d{9}$/.test(last.name);
    if (last.size < chunkSize || isWhole) continue;
    const message = `no size, so chunks after ${last.name} may be missing`;
    findings.add('unknown-end', href, message);
  }
}
