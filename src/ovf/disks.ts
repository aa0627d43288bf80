// Checks the VMDK file of each disk against the descriptor, follows its tables to data that is missing, and says how
// packed files are unpacked.

import { constants, createGunzip } from 'node:zlib';
import type { Disk } from './descriptor.ts';
import type { FindingCode, FindingList } from './findings.ts';
import { findNeed } from './other-disk.ts';
import {
  hasGzipMagic,
  type PackageFile,
  type ReadWindow,
  readRegion,
  WINDOW_SIZE,
  withWindow,
} from './package-file.ts';
import type { FilesOfReference } from './references.ts';
import { GRAIN_MARKER, GrainSum, OTHER_FOOTER, type Packed, SECTOR } from './unpack.ts';

type ReportDisk = (code: FindingCode, message: string) => null;

/** Of a grain table, as the specification of VMDK has it. Smaller tables could cost a read for each grain. */
const TABLE_ENTRIES = 512;
const HEAD_SIZE = 64 * 1024;
const STREAM_OPTIMIZED = 'streamOptimized';

export async function checkDisks(
  disks: readonly Disk[],
  references: readonly FilesOfReference[],
  findings: FindingList,
  signal?: AbortSignal,
): Promise<ReadonlyMap<PackageFile, Packed>> {
  const byFile = new Map(disks.map((disk) => [disk.file, disk]));
  const parts = new Map<string, PartOfDisk>();
  const packed = new Map<PackageFile, Packed>();
  for (const { reference, files } of references) {
    const [file] = files;
    const { href, compression } = reference;
    if (!file?.complete || !['', 'identity', 'gzip'].includes(compression ?? '')) continue;
    const image = await openImage(file, files, compression === 'gzip', href, byFile.get(href));
    const { disk, isVmdk, isGzip, head, text } = image;
    const report: ReportDisk = (code, message) => {
      findings.add(code, file.name, message);
      return null;
    };
    if (disk || isVmdk) {
      const need = text === null ? await findNeed(head, files, isGzip) : needOfVmdk(text);
      parts.set(href, { disk, need, text, report });
    }
    if (disk && !isVmdk && files.every(({ size }) => size === 0))
      report('size-mismatch', 'a disk of 0 bytes');
    const grains = isVmdk ? await checkVmdk(image, report, signal) : null;
    if (files.length === 1 && (isGzip || grains)) packed.set(file, packedOf(image, grains));
  }
  checkParents(disks, parts);
  return packed;
}

/** The file of a disk, or one that may be packed. */
interface Image {
  /** The file, or its first chunk. */
  readonly file: PackageFile;
  /** The file, or all its chunks. */
  readonly files: readonly PackageFile[];
  readonly disk: Disk | undefined;
  readonly isVmdk: boolean;
  readonly isGzip: boolean;
  /** Its first 64 KiB, unpacked if it is gzip. */
  readonly head: Buffer;
  readonly header: SparseHeader | null;
  /** The embedded descriptor of a VMDK; null if it has none, or it cannot be read. */
  readonly text: string | null;
}

async function openImage(
  file: PackageFile,
  files: readonly PackageFile[],
  isDeclaredGzip: boolean,
  href: string,
  disk: Disk | undefined,
): Promise<Image> {
  // Some programs write no URL.
  const isVmdk = disk?.format
    ? /vmdk|^streamOptimized$/i.test(disk.format)
    : /\.vmdk(\.gz)?$/i.test(href);
  const isGzip = isDeclaredGzip || (!isVmdk && (await hasGzipMagic(file)));
  const head = isGzip ? await gunzipStart(file) : await readRegion(file, 0, HEAD_SIZE);
  const header = parseSparseHeader(head);
  const text = header && (await readText(header, head, file, isGzip));
  return { file, files, disk, isVmdk, isGzip, head, header, text };
}

function packedOf({ disk, isGzip, head }: Image, grains: Packed['grains']): Packed {
  // A wrong capacity of the descriptor is a finding of its own, and no reason to stop. In gzip, a small file could
  // have many large grains.
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

interface PartOfDisk {
  readonly disk: Disk | undefined;
  /** What names the other disk that it needs; null if it is whole. */
  readonly need: string | null;
  readonly text: string | null;
  readonly report: ReportDisk;
}

/** A hypervisor takes 32 to 255 snapshots of a disk. Disks that name each other as parent have no end. */
const MAX_PARENTS = 255;

/** Reports each disk that needs another one, unless its parentRef names the right disk of the package. */
function checkParents(disks: readonly Disk[], parts: ReadonlyMap<string, PartOfDisk>): void {
  const fileOf = new Map(disks.map(({ id, file }) => [id, file ?? '']));
  const parentOf = ({ disk }: PartOfDisk) => parts.get(fileOf.get(disk?.parent ?? '') ?? '');
  for (const part of parts.values()) {
    const { disk, need, text, report } = part;
    if (need === null) continue;
    const parent = parentOf(part);
    const wanted = text && identifierOf(text, 'parentCID');
    const actual = parent?.text && identifierOf(parent.text, 'CID');
    let last = parent;
    for (let count = 0; last && last.need !== null && count < MAX_PARENTS; count += 1)
      last = parentOf(last);
    if (!parent || parent === part) {
      report('needs-other-disk', `${need}; no parentRef names a disk of this package`);
    } else if (wanted && actual && wanted !== NO_DISK && wanted !== actual) {
      const message = `${need}; the CID of its parent ${disk?.parent} is ${hexadecimal(actual)}`;
      report('needs-other-disk', message);
    } else if (last?.need !== null) {
      report('needs-other-disk', `${need}; its parents end in no whole disk of this package`);
    }
  }
}

/** Returns how to unpack its grains; null if there is no need to, or it is broken, which is a finding. */
async function checkVmdk(
  { file, files, disk, isGzip, head, header, text }: Image,
  report: ReportDisk,
  signal: AbortSignal | undefined,
): Promise<Packed['grains']> {
  if (header === null) return reportOtherFormat(head, report);
  // The size of what gzip holds is unknown.
  const size = isGzip ? Number.MAX_SAFE_INTEGER : files.reduce((sum, each) => sum + each.size, 0);
  const problem = headerProblem(header, text);
  if (problem !== undefined) return report('vmdk-header', problem);
  checkAgainstDescriptor(header, text, disk, report);
  if (header.descriptorEnd > size)
    return report('vmdk-truncated', 'ends before the end of its descriptor');
  const isFooter =
    header.grainDirectory === null ? (sector: Buffer) => repeatsHeader(sector, head) : null;
  const layout = { ...header, isFooter };
  if (isGzip)
    return header.streamOptimized ? { ...layout, start: header.overhead, sum: null } : null;
  if (files.length > 1) return null;
  const directory = header.grainDirectory ?? (await directoryOfFooter(file, head, report));
  if (directory === null) return null;
  const sum = await withWindow(file, signal, (read) =>
    checkGrains(header, directory, read, file, report),
  );
  if (!sum || !header.streamOptimized) return null;
  const isInFront = header.overhead > 0 && header.overhead <= sum.first;
  return { ...layout, start: isInFront ? header.overhead : sum.first, sum };
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

function reportOtherFormat(head: Buffer, report: ReportDisk): null {
  const start = head.toString('latin1', 0, 64);
  if (start.startsWith('COWD'))
    return report('vmdk-type', 'an ESX server extent, not allowed in a package');
  if (/^\s*# *disk descriptorfile/i.test(start))
    return report('vmdk-split', 'only a descriptor; the data is in other files');
  return report('vmdk-magic', 'neither a sparse header nor a VMDK descriptor');
}

function headerProblem(header: SparseHeader, text: string | null): string | undefined {
  const { version, capacity, grainSize, tableEntries, streamOptimized } = header;
  const isGrainValid = grainSize >= 8 && Number.isInteger(Math.log2(grainSize));
  if (!header.newlinesIntact) return 'corrupted by a transfer in text mode';
  if (version < 1 || version > 3) return `unknown version ${version}`;
  if (capacity === 0 || !Number.isSafeInteger(capacity * SECTOR))
    return `invalid capacity of ${capacity} sectors`;
  if (!isGrainValid) return `invalid grain size of ${grainSize} sectors`;
  if (streamOptimized && header.compression !== DEFLATE)
    return `unknown compression ${header.compression}`;
  if (streamOptimized && grainSize > MAX_PACKED_GRAIN)
    return `compressed grains of ${grainSize} sectors, more than ${MAX_PACKED_GRAIN}`;
  if (text !== null && ['CID', 'parentCID'].some((name) => identifierOf(text, name) === null))
    return 'no valid CID and parentCID in its descriptor';
  if (tableEntries !== TABLE_ENTRIES) return `invalid grain table of ${tableEntries} entries`;
  return header.grainDirectory === 0 ? 'no grain directory' : undefined;
}

function checkAgainstDescriptor(
  header: SparseHeader,
  text: string | null,
  disk: Disk | undefined,
  report: ReportDisk,
) {
  const { streamOptimized } = header;
  const createType = CREATE_TYPE.exec(text ?? '')?.[1] ?? null;
  const declared = disk?.format?.split('#').at(-1) ?? '';
  if (declared.toLowerCase() === STREAM_OPTIMIZED.toLowerCase() && !streamOptimized) {
    report('vmdk-type', `declared as ${declared}, but its grains are not compressed`);
  }
  if (createType !== null && (createType === STREAM_OPTIMIZED) !== streamOptimized) {
    const actual = streamOptimized ? 'compressed' : 'not compressed';
    report('vmdk-create-type', `createType is ${createType}, but its grains are ${actual}`);
  }
  const capacity = header.capacity * SECTOR;
  if (typeof disk?.capacity === 'number' && disk.capacity !== capacity) {
    const message = `capacity is ${capacity} bytes, the descriptor declares ${disk.capacity}`;
    report('capacity-mismatch', message);
  }
}

/** Returns the sector of the grain directory that the footer names; reports a missing or different footer. */
async function directoryOfFooter(
  file: PackageFile,
  head: Buffer,
  report: ReportDisk,
): Promise<number | null> {
  const end = await readRegion(file, Math.max(SECTOR, file.size - 2 * SECTOR), 2 * SECTOR);
  const isLast = end.subarray(SECTOR).every((byte) => byte === 0);
  const directory = isLast ? (parseSparseHeader(end)?.grainDirectory ?? null) : null;
  if (directory === null) return report('vmdk-truncated', 'does not end with a footer');
  return repeatsHeader(end, head) ? directory : report('vmdk-header', OTHER_FOOTER);
}

type SparseHeader = NonNullable<ReturnType<typeof parseSparseHeader>>;

const CREATE_TYPE = /^[ \t]*createType[ \t]*=[ \t]*"([^"\n]{1,100})"/im;
const DEFLATE = 1;
/** Sectors. Such a grain is unpacked in memory. */
const MAX_PACKED_GRAIN = 2 ** 15;
const COMPRESSED_GRAINS = 1 << 16;
const MARKERS = 1 << 17;
/** Means that the footer names the sector of the grain directory. */
const DIRECTORY_AT_END = 0xffff_ffff_ffff_ffffn;

/** Bytes of the header that its footer repeats: not where the grain directories are, nor if the shutdown was unclean. */
const REPEATED = [
  [0, 48],
  [64, 72],
  [73, 79],
] as const;

/** True if a footer, which programs read instead of the header, says the same. */
function repeatsHeader(footer: Buffer, head: Buffer): boolean {
  return REPEATED.every(([from, to]) => footer.subarray(from, to).equals(head.subarray(from, to)));
}

/** Parses the header at the start of a file, or the footer that repeats it; null for other data. */
function parseSparseHeader(head: Buffer) {
  if (head.toString('latin1', 0, 4) !== 'KDMV' || head.length < SECTOR) return null;
  const flags = head.readUInt32LE(8);
  const descriptor = Number(head.readBigUInt64LE(28)) * SECTOR;
  const descriptorEnd = descriptor + Number(head.readBigUInt64LE(36)) * SECTOR;
  const directory = head.readBigUInt64LE(56);
  return {
    version: head.readUInt32LE(4),
    capacity: Number(head.readBigUInt64LE(12)),
    grainSize: Number(head.readBigUInt64LE(20)),
    tableEntries: head.readUInt32LE(44),
    /** Sectors in front of the grains. */
    overhead: Number(head.readBigUInt64LE(64)),
    compression: head.readUInt16LE(77),
    /** True for compressed grains with markers. */
    streamOptimized: (flags & COMPRESSED_GRAINS) !== 0 && (flags & MARKERS) !== 0,
    /** First sector of the grain directory; null if only the footer names it. */
    grainDirectory: directory === DIRECTORY_AT_END ? null : Number(directory),
    newlinesIntact: head.toString('latin1', 73, 77) === '\n \r\n',
    /** Bytes. */
    descriptor,
    descriptorEnd,
  };
}

/** Returns the embedded descriptor of a disk; null if it lies outside the file, or unreadably deep inside gzip. */
async function readText(
  { descriptor, descriptorEnd }: SparseHeader,
  head: Buffer,
  file: PackageFile,
  isGzip: boolean,
): Promise<string | null> {
  if (descriptorEnd > (isGzip ? head.length : file.size)) return null;
  const length = Math.min(descriptorEnd - descriptor, HEAD_SIZE);
  const bytes = isGzip
    ? head.subarray(descriptor, descriptorEnd)
    : await readRegion(file, descriptor, length);
  return bytes.toString('latin1').split('\0', 1)[0] ?? '';
}

/** The parentCID of a disk without a parent. */
const NO_DISK = 0xffff_ffff;

/** Parses the hex digits after the first `name=`, as QEMU does, which refuses a disk without them; at most NO_DISK. */
function identifierOf(text: string, name: string): number | null {
  const digits = /^=\s*(?:0x)?([0-9a-f]+)/i.exec(text.split(name, 2)[1] ?? '')?.[1];
  return digits === undefined ? null : Math.min(Number.parseInt(digits, 16), NO_DISK);
}

const PARENT_HINT = /^[ \t]*parentFileNameHint[ \t]*=[ \t]*"([^"\n]{1,1000})"/im;

function needOfVmdk(text: string): string | null {
  const parent = identifierOf(text, 'parentCID') ?? NO_DISK;
  const hint = PARENT_HINT.exec(text)?.[1];
  if (parent !== NO_DISK) return `needs another disk: parentCID is ${hexadecimal(parent)}`;
  return hint === undefined ? null : `needs another disk: parentFileNameHint is ${hint}`;
}

function hexadecimal(identifier: number): string {
  return identifier.toString(16).padStart(8, '0');
}

const ENTRY_BYTES = 4;

/** Reports the first table, or else the last grain, that is not inside the file. Returns the sum of the tables. */
async function checkGrains(
  header: SparseHeader,
  directory: number,
  read: ReadWindow,
  { size }: PackageFile,
  report: ReportDisk,
): Promise<GrainSum | null> {
  const { capacity, grainSize, tableEntries } = header;
  const tables = Math.ceil(capacity / grainSize / tableEntries);
  const tableBytes = tableEntries * ENTRY_BYTES;
  const truncated = (place: string) => report('vmdk-truncated', `ends ${place}`);
  if (directory * SECTOR + tables * ENTRY_BYTES > size)
    return truncated('before its grain directory');
  const sum = new GrainSum();
  const last = { sector: 0, index: 0 };
  let bytesOfTables = 0;
  for await (const { table, sector } of readDirectory(directory, tables, read)) {
    const entries = await read(sector * SECTOR, tableBytes);
    if (entries.length < tableBytes) return truncated(`before its grain table at sector ${sector}`);
    bytesOfTables += tableBytes;
    if (bytesOfTables > size) return report('vmdk-header', 'the grain tables overlap');
    for (let entry = 0; entry < tableEntries; entry += 1) {
      const grain = entries.readUInt32LE(entry * ENTRY_BYTES);
      // 0 and 1 stand for grains of zeros.
      if (grain <= 1) continue;
      const index = table * tableEntries + entry;
      if (header.streamOptimized) sum.add(index, grain);
      if (grain <= last.sector) continue;
      last.sector = grain;
      last.index = index;
    }
  }
  if (last.sector === 0 || (await endOfGrain(header, last, read)) <= size) return sum;
  return truncated(`before the end of its grain at sector ${last.sector}`);
}

/** Yields the number and the sector of each grain table; a table of zeros has none. */
async function* readDirectory(directory: number, tables: number, read: ReadWindow) {
  const tablesPerRead = WINDOW_SIZE / ENTRY_BYTES;
  for (let first = 0; first < tables; first += tablesPerRead) {
    const length = Math.min(tablesPerRead, tables - first) * ENTRY_BYTES;
    // A copy, since the next read overwrites it.
    const entries = Buffer.from(await read(directory * SECTOR + first * ENTRY_BYTES, length));
    for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
      const sector = entries.readUInt32LE(at);
      if (sector !== 0) yield { table: first + at / ENTRY_BYTES, sector };
    }
  }
}

/** Returns the byte behind a grain, by its marker if it is compressed. */
async function endOfGrain(
  { capacity, grainSize, streamOptimized }: SparseHeader,
  { sector, index }: { readonly sector: number; readonly index: number },
  read: ReadWindow,
): Promise<number> {
  const start = sector * SECTOR;
  // The last grain of the disk may be a part of one.
  if (!streamOptimized) return start + Math.min(grainSize, capacity - index * grainSize) * SECTOR;
  const marker = await read(start, GRAIN_MARKER);
  const isWhole = marker.length === GRAIN_MARKER;
  return start + GRAIN_MARKER + (isWhole ? marker.readUInt32LE(8) : 0);
}
