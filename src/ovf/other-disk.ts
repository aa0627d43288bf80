// Finds disks that are useless without another one: a delta, a differencing or a linked disk.

import type { Disk } from './descriptor.ts';
import type { DiskImage } from './disk-image.ts';
import type { FindingList } from './findings.ts';
import { type PackageFile, readRegion } from './package-file.ts';
import type { Packed } from './unpack.ts';
import { identifierOf, NO_DISK, quotedText } from './vmdk-header.ts';

export interface OpenedDisk {
  readonly image: DiskImage;
  /** What names the other disk that it needs; null if it is whole. */
  readonly missingDisk: string | null;
  /** Null if it is not packed, or in chunks. */
  readonly packed: Packed | null;
}

/** Hypervisors take at most 255 snapshots. Disks that name each other as parent have no end. */
const MAX_PARENTS = 255;

/** Reports disks that need another one, unless their parentRef names it in the package. */
export function checkParents(
  disks: readonly Disk[],
  opened: readonly OpenedDisk[],
  findings: FindingList,
): void {
  const byHref = new Map(opened.map((each) => [each.image.disk?.file, each]));
  const byId: DisksById = new Map(disks.map(({ id, file }) => [id, byHref.get(file ?? '')]));
  for (const each of opened) {
    const problem = each.missingDisk && parentProblem(each, byId);
    if (!problem) continue;
    const message = `${each.missingDisk}; ${problem}`;
    findings.add('needs-other-disk', each.image.file.name, message);
  }
}

/** All disks of the descriptor; undefined for one that is empty, or whose file cannot be read. */
type DisksById = ReadonlyMap<string, OpenedDisk | undefined>;

function parentProblem(child: OpenedDisk, byId: DisksById): string | null {
  const { disk, vmdkText } = child.image;
  if (!disk?.parent || !byId.has(disk.parent)) return 'no parentRef names a disk of this package';
  const parent = byId.get(disk.parent);
  if (!parent) return `its parent ${disk.parent} has no file that can be read`;
  if (parent === child) return 'its parentRef names its own file';
  const wanted = identifierOf(vmdkText, 'parentCID') ?? NO_DISK;
  const actual = identifierOf(parent.image.vmdkText, 'CID') ?? wanted;
  if (wanted !== NO_DISK && wanted !== actual)
    return `the CID of its parent ${disk.parent} is ${hexadecimal(actual)}`;
  if (endsInWholeDisk(parent, byId)) return null;
  return 'its chain of parents does not end in a complete disk of this package';
}

function endsInWholeDisk(first: OpenedDisk, byId: DisksById): boolean {
  let ancestor: OpenedDisk | undefined = first;
  for (let count = 0; ancestor && count < MAX_PARENTS; count += 1) {
    if (ancestor.missingDisk === null) return true;
    ancestor = byId.get(ancestor.image.disk?.parent ?? '');
  }
  return false;
}

/** Returns what names the other disk, or null. */
export async function findMissingDisk(image: DiskImage): Promise<string | null> {
  const { file, files, head, format, isGzip, vmdkText } = image;
  if (vmdkText !== null) return parentOfVmdk(vmdkText);
  if (format === 'qcow2') return partOfQcow(head);
  if (format === 'qed') return backingFileOfQed(head);
  if (format === 'vdi') return parentOfVdi(head);
  if (format === 'vhd') return parentOfVhd(head);
  if (isGzip) return null;
  if (format === 'vhdx') return parentOfVhdx(file);
  const last = files.at(-1) ?? file;
  return parentOfVhd(await readRegion(last, Math.max(0, last.size - VHD_FOOTER), VHD_FOOTER));
}

function parentOfVmdk(text: string): string | null {
  const parent = identifierOf(text, 'parentCID') ?? NO_DISK;
  const hint = quotedText(text, 'parentFileNameHint');
  if (parent !== NO_DISK) return `needs another disk: parentCID is ${hexadecimal(parent)}`;
  return hint === null ? null : `needs another disk: parentFileNameHint is ${hint}`;
}

function hexadecimal(identifier: number): string {
  return identifier.toString(16).padStart(8, '0');
}

/** Places in the headers of QEMU's docs/interop/qed_spec.txt and qcow2.txt. */
const QED = { features: 16, nameOffset: 56, nameSize: 60, hasBackingFile: 1 };
const QCOW = { version: 4, nameOffset: 8, nameSize: 16, features: 79, hasDataFile: 4 };

function backingFileOfQed(head: Buffer): string | null {
  if ((head.readUInt8(QED.features) & QED.hasBackingFile) === 0) return null;
  return backingFile(head, head.readUInt32LE(QED.nameOffset), head.readUInt32LE(QED.nameSize));
}

function partOfQcow(head: Buffer): string | null {
  const offset = Number(head.readBigUInt64BE(QCOW.nameOffset));
  if (offset !== 0) return backingFile(head, offset, head.readUInt32BE(QCOW.nameSize));
  if (head.readUInt32BE(QCOW.version) < 3) return null;
  const hasDataFile = (head.readUInt8(QCOW.features) & QCOW.hasDataFile) !== 0;
  return hasDataFile ? 'needs an external data file' : null;
}

function backingFile(head: Buffer, offset: number, size: number): string {
  const name = head.toString('utf8', offset, offset + Math.min(size, 1023));
  return `needs another disk: its backing file is ${name}`;
}

/** VirtualBox's VDICore.h: the type of the image, the identifier of the image it is linked to. */
const VDI_HEADER = 440;
const VDI = { type: 76, link: 424, differencing: 4 };

function parentOfVdi(head: Buffer): string | null {
  const isPart = head.readUInt32LE(VDI.type) === VDI.differencing;
  const isLinked = head.subarray(VDI.link, VDI_HEADER).some((byte) => byte !== 0);
  return isPart || isLinked ? 'needs another disk: it is a differencing VDI' : null;
}

const VHD_FOOTER = 512;
const VHD = { type: 60, differencing: 4 };

function parentOfVhd(footer: Buffer): string | null {
  if (footer.length < VHD_FOOTER || footer.toString('latin1', 0, 8) !== 'conectix') return null;
  return footer.readUInt32BE(VHD.type) === VHD.differencing
    ? 'needs another disk: it is a differencing VHD'
    : null;
}

/** MS-VHDX, sections 2.2.3 and 2.6: the region table, the metadata table, the file parameters. */
const REGION_TABLE = 192 * 1024;
const TABLE_BYTES = 64 * 1024;
const METADATA_REGION = '06a27c8b90479a4bb8fe575f050f886e';
const FILE_PARAMETERS = '3767a1ca36fa434db3b633f0aa44e76b';
const HAS_PARENT = 2;

async function parentOfVhdx(file: PackageFile): Promise<string | null> {
  const regions = await readRegion(file, REGION_TABLE, TABLE_BYTES);
  const region = entryOf(regions, METADATA_REGION, 16);
  if (!region) return null;
  const start = Number(region.readBigUInt64LE(16));
  const entry = entryOf(await readRegion(file, start, TABLE_BYTES), FILE_PARAMETERS, 32);
  if (!entry) return null;
  const parameters = await readRegion(file, start + entry.readUInt32LE(16), 8);
  const hasParent = parameters.length === 8 && (parameters.readUInt32LE(4) & HAS_PARENT) !== 0;
  return hasParent ? 'needs another disk: it is a differencing VHDX' : null;
}

/** Returns the entry of 32 bytes that starts with an identifier. */
function entryOf(table: Buffer, id: string, first: number): Buffer | undefined {
  for (let at = first; at + 32 <= table.length; at += 32) {
    const entry = table.subarray(at, at + 32);
    if (entry.toString('hex', 0, 16) === id) return entry;
  }
  return undefined;
}
