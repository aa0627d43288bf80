// Finds the files of each reference and compares them with what the descriptor declares.

import type { FileReference } from './descriptor.ts';
import { byteCount } from './findings.ts';
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
): Promise<ResolvedReference[]> {
  const { findings } = source;
  const resolved: ResolvedReference[] = [];
  const seen = new Set<string>();
  for (const reference of references) {
    const { href, compression } = reference;
    if (seen.has(href)) {
      findings.add('duplicate-reference', href, 'another reference names the same file');
      continue;
    }
    seen.add(href);
    const files = await findFiles(reference, source);
    resolved.push({ reference, files });
    if (compression === null || compression === '' || compression === 'identity') continue;
    const [file] = files;
    if (compression !== 'gzip') {
      findings.add('unknown-compression', href, `unknown compression ${compression}, not checked`);
    } else if (file && (await readRegion(file, 0, 2)).toString('hex') !== '1f8b') {
      findings.add('not-gzip', file.name, 'declared as gzip, but not gzip data');
    }
  }
  return resolved;
}

async function findFiles(reference: FileReference, source: PackageSource): Promise<PackageFile[]> {
  const { href, size, chunkSize } = reference;
  const { findings } = source;
  if (/^[a-z][a-z0-9+.-]+:/i.test(href)) {
    findings.add('remote-reference', href, 'remote file, not checked');
    return [];
  }
  if (!candidateNames(href).every(isSafeName)) {
    findings.add('unsafe-name', href, 'must be relative and stay inside the folder');
    return [];
  }
  if (chunkSize !== null && chunkSize > 0) return findChunks(href, size, chunkSize, source);
  const file = await findFile(href, source);
  if (file === null) {
    findings.add('missing-file', href, 'missing or unreadable');
    return [];
  }
  checkSize(file, size, source);
  return [file];
}

/** Finds the chunks of a file: `<href>.000000000` and so on, all full but the last. */
async function findChunks(
  href: string,
  size: number | null,
  chunkSize: number,
  source: PackageSource,
): Promise<PackageFile[]> {
  const chunks: PackageFile[] = [];
  for (let start = 0; size === null || start < size; start += chunkSize) {
    const name = `${href}.${String(chunks.length).padStart(9, '0')}`;
    const chunk = await findFile(name, source);
    if (chunk === null) {
      const mayEndHere = size === null && start > 0;
      const message = `missing or unreadable chunk of ${href}`;
      if (!mayEndHere) source.findings.add('missing-file', name, message);
      break;
    }
    chunks.push(chunk);
    checkSize(chunk, Math.min(chunkSize, size === null ? chunk.size : size - start), source);
    if (size === null && chunk.size < chunkSize) break;
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
  const message = `${byteCount(file.size)}, the descriptor declares ${declared}`;
  source.findings.add('size-mismatch', file.name, message);
}

/** Returns the names that a reference may mean: as written and percent-decoded. */
function candidateNames(href: string): string[] {
  const names = [stripDotSlash(href)];
  try {
    names.push(stripDotSlash(decodeURIComponent(href)));
  } catch {
    // Not percent-encoded.
  }
  return names;
}
