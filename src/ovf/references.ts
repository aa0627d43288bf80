// Finds the files of each reference and compares them with what the descriptor declares.

import type { FileReference } from './descriptor.ts';
import { byteCount, type FindingList } from './findings.ts';
import type { PackageSource } from './package-source.ts';
import { isSafeName, type PackageFile, readRegion, stripDotSlash } from './region.ts';

export interface ResolvedReference {
  readonly reference: FileReference;
  /** The file or its chunks in order; empty if it is missing or remote. */
  readonly files: readonly PackageFile[];
}

export async function resolveReferences(
  references: readonly FileReference[],
  source: PackageSource,
  findings: FindingList,
): Promise<ResolvedReference[]> {
  const resolved: ResolvedReference[] = [];
  const seen = new Set<string>();
  for (const reference of references) {
    const { href } = reference;
    if (seen.has(href)) {
      findings.add('duplicate-reference', href, 'another reference names the same file');
      continue;
    }
    seen.add(href);
    const files = await findFiles(reference, source, findings);
    resolved.push({ reference, files });
    await checkCompression(reference, files[0], findings);
  }
  return resolved;
}

async function findFiles(
  reference: FileReference,
  source: PackageSource,
  findings: FindingList,
): Promise<PackageFile[]> {
  const { href, size, chunkSize } = reference;
  if (/^[a-z][a-z0-9+.-]+:/i.test(href)) {
    findings.add('remote-reference', href, 'remote file, not checked');
    return [];
  }
  if (!candidateNames(href).every(isSafeName)) {
    findings.add('unsafe-name', href, 'must be relative and stay inside the folder');
    return [];
  }
  if (chunkSize !== null && chunkSize > 0) {
    return findChunks(reference, chunkSize, source, findings);
  }
  const file = await findFile(href, source);
  if (file === null) {
    findings.add('missing-file', href, 'missing or unreadable');
    return [];
  }
  checkSize(file, size, findings);
  return [file];
}

/** Finds the chunks of a file: `<href>.000000000` and so on, all full but the last. */
async function findChunks(
  { href, size }: FileReference,
  chunkSize: number,
  source: PackageSource,
  findings: FindingList,
): Promise<PackageFile[]> {
  const chunks: PackageFile[] = [];
  for (let start = 0; size === null || start < size; start += chunkSize) {
    const name = `${href}.${String(chunks.length).padStart(9, '0')}`;
    const chunk = await findFile(name, source);
    if (chunk === null) {
      const mayEndHere = size === null && start > 0;
      if (!mayEndHere) findings.add('missing-file', name, `missing or unreadable chunk of ${href}`);
      break;
    }
    chunks.push(chunk);
    const rest = size === null ? chunk.size : size - start;
    checkSize(chunk, Math.min(chunkSize, rest), findings);
    if (size === null && chunk.size < chunkSize) break;
  }
  return chunks;
}

async function findFile(href: string, source: PackageSource): Promise<PackageFile | null> {
  for (const name of candidateNames(href)) {
    const file = await source.find(name);
    if (file !== null) return file;
  }
  return null;
}

function checkSize(file: PackageFile, declared: number | null, findings: FindingList): void {
  if (declared === null || declared === file.size || !file.complete) return;
  const message = `${byteCount(file.size)}, the descriptor declares ${declared}`;
  findings.add('size-mismatch', file.name, message);
}

async function checkCompression(
  { compression, href }: FileReference,
  file: PackageFile | undefined,
  findings: FindingList,
): Promise<void> {
  if (compression === null || compression === '' || compression === 'identity') return;
  if (compression !== 'gzip') {
    findings.add('unknown-compression', href, `unknown compression ${compression}, not checked`);
  } else if (file !== undefined) {
    const magic = await readRegion(file, 0, 2);
    if (magic.toString('hex') === '1f8b') return;
    findings.add('not-gzip', file.name, 'declared as gzip, but not gzip data');
  }
}

/** Returns the names that a reference may mean: as written and percent-decoded. */
function candidateNames(href: string): string[] {
  try {
    return [...new Set([stripDotSlash(href), stripDotSlash(decodeURIComponent(href))])];
  } catch {
    return [stripDotSlash(href)];
  }
}
