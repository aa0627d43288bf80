// Scans a user's upload folder and turns its packages into images.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Image } from '../api/types.ts';
import { readPackage } from '../ovf/package.ts';
import { serviceTimestamp } from './timestamp.ts';

const DATA_STORE = 'user-images-01';

/** File names of added and deleted images. */
export type Changes = ReturnType<UserImageStore['apply']>;

export type UserImageStore = ReturnType<typeof createUserImageStore>;

export function createUserImageStore(nextId: () => number) {
  const images = new Map<string, { readonly image: Image; readonly version: string }>();

  const put = (name: string, version: string, at: number): boolean => {
    const known = images.get(name);
    if (known?.version === version) return false;
    const now = serviceTimestamp(at);
    const image = known?.image ?? newImage(nextId(), name, now);
    images.set(name, { image: { ...image, updated_on: now }, version });
    return known === undefined;
  };

  return {
    list: () => [...images.values()].map(({ image }) => image),
    /** Applies a scan: keeps an image unchanged if its file is now invalid, and deletes it if the file is missing. */
    apply: ({ present, packages }: Scan, at: number) => {
      const deleted = [...images.keys()].filter((name) => present?.has(name) === false);
      for (const name of deleted) images.delete(name);
      const added = packages.filter(({ name, version }) => put(name, version, at));
      return { added: added.map(({ name }) => name), deleted };
    },
  };
}

function newImage(id: number, name: string, now: string): Image {
  return {
    id,
    name,
    path: `[${DATA_STORE}] ${name}`,
    label: name,
    folder: null,
    data_store: DATA_STORE,
    public: false,
    created_on: now,
    updated_on: now,
  };
}

interface UploadedPackage {
  readonly name: string;
  /** Changes whenever one of its files changes. */
  readonly version: string;
}

export interface Scan {
  /** Names of all packages, valid or not; undefined if the folder cannot be read. */
  readonly present: ReadonlySet<string> | undefined;
  readonly packages: readonly UploadedPackage[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads every OVA and OVF of a folder in full. Never rejects: every failure is one of the errors. */
export async function scanUploads(folder: string, signal: AbortSignal): Promise<Scan> {
  const packages: UploadedPackage[] = [];
  const errors: string[] = [];
  const warnings: string[] = [];
  const referenced = new Set<string>();

  const read = async (name: string): Promise<void> => {
    const summary = await readPackage(join(folder, name), { signal });
    for (const { severity, code, place, message } of summary.findings) {
      const lines = severity === 'error' ? errors : warnings;
      const where = place.startsWith(name) ? place : `${name}, ${place}`;
      lines.push(
        `${severity} in ${where.replace(/, (byte|line)/, ' at $1')}: ${message} (${code})`,
      );
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
      warnings.push(`${name}: ignored, because no OVF file references it`);
    }
  }
  return { present: new Set(present), packages, errors, warnings };
}

/** Returns all files but hidden ones; none if there is no folder, as before the first upload. */
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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
