// Checks the files of disks: what they are, whether they need other disks, how they are unpacked.

import type { Disk } from './descriptor.ts';
import { type DiskImage, openDiskImage } from './disk-image.ts';
import type { FindingCode, FindingList } from './findings.ts';
import type { GrainLayout } from './grains.ts';
import { checkParents, type DiskNeed, findNeed } from './other-disk.ts';
import type { PackageFile } from './package-file.ts';
import type { FilesOfReference } from './references.ts';
import type { Packed } from './unpack.ts';
import { checkVmdk } from './vmdk.ts';
import { SECTOR } from './vmdk-header.ts';

/** Returns how the files are unpacked that can be. */
export async function checkDisks(
  disks: readonly Disk[],
  references: readonly FilesOfReference[],
  findings: FindingList,
  signal?: AbortSignal,
): Promise<ReadonlyMap<PackageFile, Packed>> {
  const byFile = new Map(disks.map((disk) => [disk.file, disk]));
  const needs = new Map<string, DiskNeed>();
  const packed = new Map<PackageFile, Packed>();
  for (const resolved of references) {
    const { href, compression } = resolved.reference;
    const { files } = resolved;
    const [file] = files;
    if (!file?.complete || (compression !== null && compression !== 'gzip')) continue;
    const image = await openDiskImage(file, resolved, byFile.get(href));
    const { disk, isVmdk, text } = image;
    const report = (code: FindingCode, message: string) => findings.add(code, file.name, message);
    if (disk || isVmdk) needs.set(href, { disk, need: await findNeed(image), text, report });
    if (disk && !isVmdk && files.every(({ size }) => size === 0))
      report('size-mismatch', 'a disk of 0 bytes');
    const grains = isVmdk ? await checkVmdk(image, report, signal) : null;
    const how = packedOf(image, grains);
    if (files.length === 1 && how) packed.set(file, how);
  }
  checkParents(disks, needs);
  return packed;
}

/** Returns how to unpack the file of a disk; null if it is neither gzip nor has packed grains. */
function packedOf({ disk, isGzip, head }: DiskImage, grains: GrainLayout | null): Packed | null {
  const declared = disk?.capacity ?? Infinity;
  // A small file in gzip can name any capacity and unpack to it, so only the descriptor's counts.
  if (isGzip) return { kind: 'gzip', grains, maxBytes: maxBytesOf(declared, head) };
  if (grains === null) return null;
  // That the descriptor declares less is a finding of its own.
  const capacity = Math.max(declared, grains.header.capacity * SECTOR);
  return { kind: 'grains', grains, maxBytes: maxBytesOf(capacity, head) };
}

const MIB = 2 ** 20;

/** Returns how many bytes a file may unpack to: a container may be larger than its disk. */
function maxBytesOf(capacity: number, head: Buffer): number {
  // VHDX grows in large blocks, and qcow2 may hold snapshots.
  const isRoomy = /^(?:vhdxfile|QFI\u00fb)/.test(head.toString('latin1', 0, 8));
  return isRoomy ? 2 * capacity + 64 * MIB : Math.floor(capacity * 1.01) + 4 * MIB;
}
