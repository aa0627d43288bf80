// Where the files of a package come from: the members of an archive, or the descriptor's folder.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readArchive } from './archive.ts';
import type { FindingList } from './findings.ts';
import { withoutExtension } from './names.ts';
import { type PackageFile, readRegion } from './region.ts';
import type { PackageSummary } from './summary.ts';
import { mayBeXml } from './xml.ts';

export interface PackageSource {
  readonly kind: PackageSummary['kind'];
  readonly descriptor: PackageFile | null;
  /** All files of an archive in its order, each name once; of a folder none but the descriptor is known. */
  readonly members: readonly PackageFile[];
  /** The file of a safe name; null where it is missing or may not be read. */
  find(name: string): Promise<PackageFile | null>;
  /** The file that belongs to the descriptor and has another extension, such as `.mf`. */
  findSibling(extension: string): Promise<PackageFile | null>;
}

/**
 * The files of a package. Its name tells whether it is an archive or a descriptor, else what it begins with.
 * @throws the file system's error where the file can't be opened or read
 */
export async function openSource(
  path: string,
  findings: FindingList,
  signal?: AbortSignal,
): Promise<PackageSource> {
  const stats = await stat(path);
  if (!stats.isFile()) {
    findings.add('not-a-file', basename(path), 'a folder, a pipe or a device');
    const nothing = async () => null;
    return { kind: 'ova', descriptor: null, members: [], find: nothing, findSibling: nothing };
  }
  const start = await readRegion({ path, offset: 0, size: stats.size }, 0, 64);
  const isDescriptor = /\.ovf$/i.test(path) || (!/\.ova$/i.test(path) && mayBeXml(start));
  return isDescriptor ? folderSource(path, stats.size) : archiveSource(path, findings, signal);
}

/** A descriptor and the files around it. */
function folderSource(path: string, size: number): PackageSource {
  const name = basename(path);
  const folder = dirname(path);
  const descriptor = { name, path: join(folder, name), offset: 0, size, complete: true };
  const find = async (other: string) => {
    const file = join(folder, other);
    try {
      const stats = await stat(file);
      if (!stats.isFile()) return null;
      await access(file, constants.R_OK);
      return { name: other, path: file, offset: 0, size: stats.size, complete: true };
    } catch {
      return null;
    }
  };
  const findSibling = (extension: string) => find(withoutExtension(name) + extension);
  return { kind: 'ovf', descriptor, members: [descriptor], find, findSibling };
}

/** The members of an archive; which of them is the descriptor, and names that occur twice, are looked at here. */
async function archiveSource(
  path: string,
  findings: FindingList,
  signal?: AbortSignal,
): Promise<PackageSource> {
  const byName = new Map<string, PackageFile>();
  for (const member of await readArchive(path, findings, signal)) {
    if (byName.has(member.name)) {
      findings.add('duplicate-member', member.name, 'a second member of this name');
    } else {
      byName.set(member.name, member);
    }
  }
  const members = [...byName.values()];
  const descriptors = withExtension(members, '.ovf');
  const [descriptor = null, ...others] = descriptors;
  if (descriptor === null && !findings.has('not-a-tar')) {
    findings.add('no-descriptor', basename(path), 'no .ovf file in it');
  }
  for (const other of others) {
    findings.add('several-descriptors', other.name, `the package has ${descriptor?.name} already`);
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
      findings.add('manifest-name', other.name, `its name should be ${name}`);
      return other;
    },
  };
}

function withExtension(members: readonly PackageFile[], extension: string): PackageFile[] {
  return members.filter(({ name }) => name.toLowerCase().endsWith(extension));
}
