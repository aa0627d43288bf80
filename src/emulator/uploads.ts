// Reads a user's upload folder: which files are packages that can become images, and what is wrong with the others.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readPackage } from '../ovf/package.ts';

/** A package that can become an image. */
export interface UploadedPackage {
  readonly name: string;
  /** Differs whenever one of its files has changed. */
  readonly version: string;
}

export interface Scan {
  /** The files of all packages, good or not; undefined where the folder can't be read. */
  readonly present: ReadonlySet<string> | undefined;
  readonly packages: readonly UploadedPackage[];
  /** One line each, beginning with the name of the file. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Reads every OVA and OVF of the folder in full, one after the other; a package passes that has no finding of
 * severity error. Sub-folders are not looked into. Never rejects: whatever goes wrong is one of the errors.
 */
export async function scanUploads(folder: string, signal: AbortSignal): Promise<Scan> {
  const packages: UploadedPackage[] = [];
  const errors: string[] = [];
  const warnings: string[] = [];
  const referenced = new Set<string>();

  const read = async (name: string): Promise<void> => {
    const summary = await readPackage(join(folder, name), { signal });
    for (const { severity, code, place, message } of summary.findings) {
      const lines = severity === 'error' ? errors : warnings;
      lines.push(`${name}: ${code}: ${place}: ${message}`);
    }
    const files = summary.kind === 'ova' ? [name] : summary.files.map((file) => file.name);
    for (const file of files) referenced.add(file);
    if (summary.findings.some(({ severity }) => severity === 'error')) return;
    packages.push({ name, version: await versionOf(files.map((file) => join(folder, file))) });
  };

  const names = await fileNames(folder).catch((error: unknown) => {
    errors.push(`the upload folder cannot be read (${codeOf(error)})`);
  });
  if (names === undefined) return { present: undefined, packages, errors, warnings };
  const present = names.filter((name) => /\.(ova|ovf)$/i.test(name));
  for (const name of present) {
    await read(name).catch((error: unknown) => {
      errors.push(`${name}: cannot be read (${codeOf(error)})`);
    });
  }
  for (const name of names) {
    if (/\.vmdk$/i.test(name) && !referenced.has(name)) {
      warnings.push(`${name}: left alone, no OVF file references it`);
    }
  }
  return { present: new Set(present), packages, errors, warnings };
}

/** Everything in the folder but hidden files; nothing where there is no folder, as before the first upload. */
async function fileNames(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function versionOf(files: string[]): Promise<string> {
  const states = await Promise.all(files.map((file) => stat(file)));
  return states.map(({ mtimeMs, size }) => `${mtimeMs}:${size}`).join(' ');
}

/** The system's word for an error of the file system. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
