// Opens a package: the members of an archive, or a descriptor and the files beside it.

import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { readArchive } from './archive.ts';
import type { FindingList } from './findings.ts';
import { type PackageFile, readRegion, withWindow } from './region.ts';
import type { PackageSummary } from './summary.ts';
import { mayBeXml } from './xml.ts';

export interface PackageSource {
  readonly kind: PackageSummary['kind'];
  readonly descriptor: PackageFile | null;
  /** Files of an archive in order, each name once; for a folder only the descriptor. */
  readonly members: readonly PackageFile[];
  /** Returns the file with a safe name, or null if it is missing or unreadable. */
  find(name: string): Promise<PackageFile | null>;
  /** Returns the descriptor's companion with another extension, such as `.mf`. */
  findSibling(extension: string): Promise<PackageFile | null>;
}

/** Decides between archive and descriptor by the extension, else by the first bytes. */
export async function openSource(
  path: string,
  findings: FindingList,
  signal?: AbortSignal,
): Promise<PackageSource> {
  const stats = await stat(path);
  if (!stats.isFile()) {
    findings.add('not-a-file', basename(path), 'not a regular file');
    const nothing = async () => null;
    return { kind: 'ova', descriptor: null, members: [], find: nothing, findSibling: nothing };
  }
  const region = { path, offset: 0, size: stats.size };
  const start = await readRegion(region, 0, 64);
  const isDescriptor = /\.ovf$/i.test(path) || (!/\.ova$/i.test(path) && mayBeXml(start));
  if (isDescriptor) return folderSource(path, stats.size, findings);
  const members = await withWindow(region, signal, (read) =>
    readArchive(path, stats.size, read, findings),
  );
  return archiveSource(path, members, findings);
}

function folderSource(path: string, size: number, findings: FindingList): PackageSource {
  const name = basename(path);
  const folder = dirname(path);
  const descriptor = { name, path: join(folder, name), offset: 0, size, complete: true };
  const outside = new Set<string>();
  const find = async (other: string) => {
    const file = join(folder, other);
    try {
      const stats = await stat(file);
      if (!stats.isFile()) return null;
      await access(file, constants.R_OK);
      const place = relative(await realpath(folder), await realpath(file));
      const isOutside = isAbsolute(place) || place.split(sep)[0] === '..';
      if (isOutside && !outside.has(other)) {
        outside.add(other);
        findings.add('outside-folder', other, 'a link to a file outside of the folder');
      }
      return { name: other, path: file, offset: 0, size: stats.size, complete: true };
    } catch {
      return null;
    }
  };
  const findSibling = (extension: string) => find(withoutExtension(name) + extension);
  return { kind: 'ovf', descriptor, members: [descriptor], find, findSibling };
}

function archiveSource(
  path: string,
  found: readonly PackageFile[],
  findings: FindingList,
): PackageSource {
  const byName = new Map<string, PackageFile>();
  for (const member of found) {
    if (byName.has(member.name)) {
      findings.add('duplicate-member', member.name, 'another member has the same name');
    } else {
      byName.set(member.name, member);
    }
  }
  const members = [...byName.values()];
  const descriptors = withExtension(members, '.ovf');
  const [descriptor = null, ...others] = descriptors;
  if (descriptor === null && !findings.has('not-a-tar')) {
    findings.add('no-descriptor', basename(path), 'contains no .ovf file');
  }
  for (const other of others) {
    findings.add('several-descriptors', other.name, `the package already has ${descriptor?.name}`);
  }
  return {
    kind: 'ova',
    descriptor,
    members,
    find: async (name) => byName.get(name) ?? null,
    async findSibling(extension) {
      if (descriptor === null) return null;
      const candidates = withExtension(members, extension);
      const name = withoutExtension(descriptor.name) + extension;
      const own = candidates.find((candidate) => candidate.name === name);
      const other = candidates[0];
      if (own !== undefined || other === undefined) return own ?? null;
      findings.add('manifest-name', other.name, `should be named ${name}`);
      return other;
    },
  };
}

function withExtension(members: readonly PackageFile[], extension: string): PackageFile[] {
  return members.filter(({ name }) => name.toLowerCase().endsWith(extension));
}

function withoutExtension(name: string): string {
  return name.replace(/\.[^./]*$/, '');
}
