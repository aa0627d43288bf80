// Opens a package: a descriptor with the files beside it, or an archive.

import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, posix, relative, sep } from 'node:path';
import { mayBeXml } from '../xml.ts';
import type { FindingList } from './findings.ts';
import { type FindSimilar, similarTo, tellApart } from './names.ts';
import { type PackageFile, readRegion, withWindow } from './package-file.ts';
import { BLOCK, parseTarHeader, readArchive } from './tar.ts';

export interface PackageSource {
  readonly kind: 'ova' | 'ovf';
  readonly findings: FindingList;
  readonly descriptor: PackageFile | null;
  /** The folder of the descriptor in an archive, such as `vm/`. Names are relative to it. */
  readonly folder: string;
  /**
   * Files of an archive in order, each name once; for a folder only the descriptor. Of an archive
   * `find` returns these objects, of a folder new ones, which only placeOf compares.
   */
  readonly members: readonly PackageFile[];
  /** Returns the file with a safe name, or null if it is missing or unreadable. */
  find(name: string): Promise<PackageFile | null>;
  /** Returns the name of a file that looks like this one but differs, or null. */
  findSimilar(name: string): Promise<string | null>;
  /** Returns the descriptor's companion with another extension, such as `.mf`. */
  findSibling(extension: string): Promise<PackageFile | null>;
}

/** Decides between archive and descriptor by the extension, else by the first bytes. */
export async function openPackage(
  path: string,
  findings: FindingList,
  signal?: AbortSignal,
): Promise<PackageSource> {
  const stats = await stat(path);
  if (!stats.isFile()) {
    findings.add('not-a-file', basename(path), 'not a regular file');
    return archiveSource(path, [], findings);
  }
  const region = { path, offset: 0, size: stats.size };
  const start = await readRegion(region, 0, BLOCK);
  const isArchive = parseTarHeader(start) !== null;
  const isNamedOvf = /\.ovf$/i.test(path);
  if (isNamedOvf && isArchive)
    findings.add('archive-named-ovf', basename(path), 'is an archive: rename it to .ova');
  const isDescriptor = isNamedOvf || (!/\.ova$/i.test(path) && mayBeXml(start));
  if (isDescriptor && !isArchive) return folderSource(path, stats.size, findings);
  const members: PackageFile[] = [];
  await withWindow(region, signal, async (read) => {
    for await (const member of readArchive(region, read, findings)) members.push(member);
  });
  return archiveSource(path, members, findings);
}

function folderSource(path: string, size: number, findings: FindingList): PackageSource {
  const name = basename(path);
  const folder = dirname(path);
  const descriptor = { name, path: join(folder, name), offset: 0, size, complete: true };
  /** Names that are reported already. */
  const outside = new Set<string>();
  const find = async (other: string) => {
    const file = join(folder, other);
    try {
      const stats = await stat(file);
      if (!stats.isFile()) return null;
      await access(file, constants.R_OK);
      if (!outside.has(other) && (await isOutside(folder, file))) {
        outside.add(other);
        findings.add('outside-folder', other, 'a link to a file outside the folder');
      }
      return { name: other, path: file, offset: 0, size: stats.size, complete: true };
    } catch {
      return null;
    }
  };
  /** By folder. */
  const listed = new Map<string, FindSimilar>();
  const findSimilar = async (other: string) => {
    const normal = posix.join(other);
    const parent = posix.dirname(normal);
    const findIn = listed.get(parent) ?? similarTo(await listFolder(folder, parent));
    listed.set(parent, findIn);
    return findIn(normal);
  };
  const findSibling = async (extension: string) => {
    const own = withoutExtension(name) + extension;
    const file = await find(own);
    const similar = file ? null : await findSimilar(own);
    const other = similar === null ? null : await find(similar);
    if (other)
      findings.add('manifest-name', other.name, `should be named ${tellApart(own, other.name)}`);
    return file ?? other;
  };
  const finders = { find, findSimilar, findSibling };
  return { kind: 'ovf', findings, descriptor, folder: '', members: [descriptor], ...finders };
}

/** True if a file, or what a link leads to, is not in the folder or below. */
async function isOutside(folder: string, file: string): Promise<boolean> {
  const place = relative(await realpath(folder), await realpath(file));
  return isAbsolute(place) || place.split(sep)[0] === '..';
}

async function listFolder(folder: string, parent: string): Promise<string[]> {
  const names = await readdir(join(folder, parent)).catch(() => []);
  return names.map((name) => posix.join(parent, name));
}

function archiveSource(
  path: string,
  found: readonly PackageFile[],
  findings: FindingList,
): PackageSource {
  const byName = new Map<string, PackageFile>();
  for (const member of found) {
    const { name } = member;
    if (posix.basename(name).startsWith('._'))
      findings.add('macos-file', name, 'ignored; pack with COPYFILE_DISABLE=1');
    else if (!byName.has(name)) byName.set(name, member);
    else findings.add('duplicate-member', name, 'another member has the same name');
  }
  const members = [...byName.values()];
  const [descriptor = null, ...others] = withExtension(members, '.ovf');
  const folder = descriptor?.name.slice(0, descriptor.name.lastIndexOf('/') + 1) ?? '';
  if (descriptor === null && !findings.has('not-a-tar') && !findings.has('not-a-file')) {
    findings.add('no-descriptor', basename(path), 'contains no .ovf file');
  }
  for (const other of others) {
    findings.add('several-descriptors', other.name, `the package already has ${descriptor?.name}`);
  }
  const inFolder = members.filter(({ name }) => name.startsWith(folder));
  const similar = similarTo(inFolder.map(({ name }) => name.slice(folder.length)));
  return {
    kind: 'ova',
    findings,
    descriptor,
    folder,
    members,
    find: async (name) => byName.get(`${folder}${name}`) ?? null,
    findSimilar: async (name) => similar(name),
    findSibling: async (extension) => {
      if (descriptor === null) return null;
      const name = withoutExtension(descriptor.name) + extension;
      const [other = null] = withExtension(members, extension);
      const own = byName.get(name);
      if (own || !other) return own ?? other;
      findings.add('manifest-name', other.name, `should be named ${tellApart(name, other.name)}`);
      return other;
    },
  };
}

/** Returns what to add if a file is missing, such as `; the package has this name as A.vmdk`. */
export async function similarHint(name: string, { findSimilar }: PackageSource): Promise<string> {
  const similar = await findSimilar(name);
  return similar === null ? '' : `; the package has this name as ${tellApart(similar, name)}`;
}

function withExtension(members: readonly PackageFile[], extension: string): PackageFile[] {
  return members.filter(({ name }) => name.toLowerCase().endsWith(extension));
}

function withoutExtension(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}
