// Opens the files of disks: what they are, whether they need other disks, how they are unpacked.

import type { Disk } from './descriptor.ts';
import { type DiskImage, openDiskImage } from './disk-image.ts';
import type { FindingList } from './findings.ts';
import type { GrainLayout } from './grains.ts';
import { checkParents, findMissingDisk, type OpenedDisk } from './other-disk.ts';
import type { PackageFile } from './package-file.ts';
import type { FilesOfReference } from './references.ts';
import type { Packed } from './unpack.ts';
import { checkVmdk, type ReportDisk } from './vmdk.ts';
import { SECTOR } from './vmdk-header.ts';

/**
 * Opens the files of disks and those that may be packed. Reports what is wrong with disks.
 * @returns each opened disk by its file or first chunk
 */
export async function openDisks(
  disks: readonly Disk[],
  references: readonly FilesOfReference[],
  findings: FindingList,
  signal?: AbortSignal,
): Promise<ReadonlyMap<PackageFile, OpenedDisk>> {
  const byFile = new Map(disks.map((disk) => [disk.file, disk]));
  const opened = new Map<PackageFile, OpenedDisk>();
  for (const { reference, files } of references) {
    const { href, compression } = reference;
    const [file] = files;
    if (!file?.complete || (compression !== null && compression !== 'gzip')) continue;
    const image = await openDiskImage(file, files, reference, byFile.get(href));
    const { disk, isVmdk } = image;
    const missingDisk = disk || isVmdk ? await findMissingDisk(image) : null;
    const report: ReportDisk = (code, message) => findings.add(code, file.name, message);
    if (disk && !isVmdk && files.every(({ size }) => size === 0))
      report('size-mismatch', 'a disk of 0 bytes');
    const grains = isVmdk ? await checkVmdk(image, report, signal) : null;
    const packed = files.length === 1 ? packedOf(image, grains) : null;
    opened.set(file, { image, missingDisk, packed });
  }
  checkParents(disks, [...opened.values()], findings);
  return opened;
}

/** Returns how to unpack the file of a disk; null if it is neither gzip nor has packed grains. */
function packedOf(image: DiskImage, grains: GrainLayout | null): Packed | null {
  const declared = image.disk?.capacity;
  const own = grains ? grains.header.capacity * SECTOR : Infinity;
  // A small file in gzip can name any capacity and unpack to it, so the descriptor's counts.
  if (image.isGzip) return { kind: 'gzip', grains, maxBytes: maxBytesOf(declared ?? own, image) };
  if (grains === null) return null;
  // That the descriptor declares less is a finding of its own.
  const maxBytes = maxBytesOf(Math.max(declared ?? 0, own), image);
  return { kind: 'grains', grains, maxBytes };
}

const MIB = 2 ** 20;

/** Returns how many bytes a file may unpack to: a container may be larger than its disk. */
function maxBytesOf(capacity: number, { format }: DiskImage): number {
  // VHDX grows in large blocks, and qcow2 may hold snapshots.
  const isRoomy = format === 'vhdx' || format === 'qcow2';
  return isRoomy ? 2 * capacity + 64 * MIB : Math.floor(capacity * 1.01) + 4 * MIB;
}
