// Finds out whether a disk is only a part: a delta, a differencing or a linked disk, useless without another file.

import { type PackageFile, readRegion } from './package-file.ts';

/** Returns what names the other file, or null. @param head the first 64 KiB; those of a file inside gzip are unpacked */
export async function findNeed(
  head: Buffer,
  files: readonly PackageFile[],
  isGzip: boolean,
): Promise<string | null> {
  const magic = head.toString('latin1', 0, 8);
  if (/^(?:QFI\u00fb|QED\0)/.test(magic)) return head.length < 104 ? null : needOfQemu(head);
  if (head.length > 440 && head.readUInt32LE(64) === 0xbeda107f) return needOfVdi(head);
  const [first] = files;
  const last = files.at(-1);
  if (magic === 'conectix') return needOfVhd(head);
  if (!first || !last || isGzip) return null;
  if (magic === 'vhdxfile') return needOfVhdx(first);
  const footer = Math.max(0, last.size - VHD_FOOTER);
  return needOfVhd(await readRegion(last, footer, VHD_FOOTER));
}

const HAS_BACKING_FILE = 1;

/** QEMU's docs/interop/qcow2.txt and qed_spec.txt; a qcow of version 1 starts like a qcow2. */
function needOfQemu(head: Buffer): string | null {
  const isQed = head[3] === 0;
  if (isQed) {
    const features = head.readUInt32LE(16);
    if ((features & HAS_BACKING_FILE) === 0) return null;
    return backingFile(head, head.readUInt32LE(56), head.readUInt32LE(60));
  }
  const offset = Number(head.readBigUInt64BE(8));
  if (offset !== 0) return backingFile(head, offset, head.readUInt32BE(16));
  const hasDataFile = head.readUInt32BE(4) >= 3 && ((head[79] ?? 0) & 4) !== 0;
  return hasDataFile ? 'needs an external data file' : null;
}

function backingFile(head: Buffer, offset: number, size: number): string {
  const name = head.toString('utf8', offset, offset + Math.min(size, 1023));
  return `needs another disk: its backing file is ${name}`;
}

const UNDO = 3;
const DIFFERENCING_VDI = 4;

function needOfVdi(head: Buffer): string | null {
  const isPart = [UNDO, DIFFERENCING_VDI].includes(head.readUInt32LE(76));
  // The identifier of the image that it is linked to.
  const isLinked = head.subarray(424, 440).some((byte) => byte !== 0);
  return isPart || isLinked ? 'needs another disk: it is a differencing VDI' : null;
}

const VHD_FOOTER = 512;
const DIFFERENCING_VHD = 4;

function needOfVhd(footer: Buffer): string | null {
  if (footer.length < VHD_FOOTER || footer.toString('latin1', 0, 8) !== 'conectix') return null;
  return footer.readUInt32BE(60) === DIFFERENCING_VHD
    ? 'needs another disk: it is a differencing VHD'
    : null;
}

/** MS-VHDX, sections 2.2.3 and 2.6: the region table, the metadata table, the file parameters. */
const REGION_TABLE = 192 * 1024;
const TABLE_BYTES = 64 * 1024;
const METADATA_REGION = '06a27c8b90479a4bb8fe575f050f886e';
const FILE_PARAMETERS = '3767a1ca36fa434db3b633f0aa44e76b';
const HAS_PARENT = 2;

async function needOfVhdx(file: PackageFile): Promise<string | null> {
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
