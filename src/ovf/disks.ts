// Finds out what the file of each disk is, whether it needs another disk, and how it is unpacked.

import { constants, createGunzip } from 'node:zlib';
import type { Disk } from './descriptor.ts';
import type { FindingList } from './findings.ts';
import { checkParents, findNeed, type PartOfDisk } from './other-disk.ts';
import { hasGzipMagic, type PackageFile, readRegion } from './package-file.ts';
import type { FilesOfReference } from './references.ts';
import { type Packed, SECTOR } from './unpack.ts';
import {
  checkVmdk,
  type DiskImage,
  HEAD_SIZE,
  parseSparseHeader,
  type ReportDisk,
  readText,
} from './vmdk.ts';

export async function checkDisks(
  disks: readonly Disk[],
  references: readonly FilesOfReference[],
  findings: FindingList,
  signal?: AbortSignal,
): Promise<ReadonlyMap<PackageFile, Packed>> {
  const byFile = new Map(disks.map((disk) => [disk.file, disk]));
  const parts = new Map<string, PartOfDisk>();
  const packed = new Map<PackageFile, Packed>();
  for (const resolved of references) {
    const { href, compression } = resolved.reference;
    const { files } = resolved;
    const [file] = files;
    if (!file?.complete || !['', 'identity', 'gzip'].includes(compression ?? '')) continue;
    const image = await openImage(file, resolved, byFile.get(href));
    const { disk, isVmdk, isGzip, text } = image;
    const report: ReportDisk = (code, message) => {
      findings.add(code, file.name, message);
      return null;
    };
    if (disk || isVmdk) parts.set(href, { disk, need: await findNeed(image), text, report });
    if (disk && !isVmdk && files.every(({ size }) => size === 0))
      report('size-mismatch', 'a disk of 0 bytes');
    const grains = isVmdk ? await checkVmdk(image, report, signal) : null;
    if (files.length === 1 && (isGzip || grains)) packed.set(file, packedOf(image, grains));
  }
  checkParents(disks, parts);
  return packed;
}

async function openImage(
  file: PackageFile,
  { reference: { href, compression }, files }: FilesOfReference,
  disk: Disk | undefined,
): Promise<DiskImage> {
  // Some programs write a word instead of a URL, or nothing.
  const isVmdk = disk?.format
    ? /vmdk|^streamOptimized$/i.test(disk.format)
    : /\.vmdk(\.gz)?$/i.test(href);
  const isGzip = compression === 'gzip' || (!isVmdk && (await hasGzipMagic(file)));
  const head = isGzip ? await gunzipStart(file) : await readRegion(file, 0, HEAD_SIZE);
  const header = parseSparseHeader(head);
  const text = header && (await readText(header, head, file, isGzip));
  return { file, files, disk, isVmdk, isGzip, head, header, text };
}

function packedOf({ disk, isGzip, head }: DiskImage, grains: Packed['grains']): Packed {
  // Where the descriptor has a smaller capacity, which is a finding of its own, that of the disk counts; but not in
  // gzip, where a small file can name any and unpack to it.
  const own = isGzip ? 0 : (grains?.capacity ?? 0) * SECTOR;
  const limit = unpackLimit(Math.max(disk?.capacity ?? Infinity, own), head);
  return { isGzip, least: disk ? 1 : 0, limit, grains };
}

const MIB = 2 ** 20;

/** Returns how many bytes may come out of the file of a disk: a container may be larger than its disk. */
function unpackLimit(capacity: number, head: Buffer): number {
  // VHDX grows in large blocks, and qcow2 may hold snapshots.
  const isRoomy = /^(?:vhdxfile|QFI\u00fb)/.test(head.toString('latin1', 0, 8));
  return isRoomy ? 2 * capacity + 64 * MIB : Math.floor(capacity * 1.01) + 4 * MIB;
}

async function gunzipStart(file: PackageFile): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: HEAD_SIZE, finishFlush: constants.Z_SYNC_FLUSH });
  gunzip.end(await readRegion(file, 0, HEAD_SIZE));
  try {
    // Only the first chunk: the rest may be a thousand times as long as the input.
    for await (const chunk of gunzip) return chunk;
  } catch {
    // Not gzip, or damaged.
  }
  return Buffer.alloc(0);
}
