// Checks a VMDK file against its descriptor and the one of the package, and follows its tables to data that is missing.

import type { Disk } from './descriptor.ts';
import type { FindingCode } from './findings.ts';
import {
  type PackageFile,
  type ReadWindow,
  readRegion,
  WINDOW_SIZE,
  withWindow,
} from './package-file.ts';
import { GRAIN_MARKER, GrainSum, OTHER_FOOTER, type Packed, SECTOR } from './unpack.ts';

export type ReportDisk = (code: FindingCode, message: string) => null;

export const HEAD_SIZE = 64 * 1024;
/** Of a grain table, as the specification of VMDK has it. Smaller tables could cost a read for each grain. */
const TABLE_ENTRIES = 512;
const STREAM_OPTIMIZED = 'streamOptimized';

/** The file of a disk, or one that may be packed. */
export interface DiskImage {
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

/** Returns how to unpack its grains; null if there is no need to, or it is broken, which is a finding. */
export async function checkVmdk(
  { file, files, disk, isGzip, head, header, text }: DiskImage,
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
  // The tables of a file in gzip or in chunks are not read.
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
export function parseSparseHeader(head: Buffer) {
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
    /** First sector of the grain directory; 0 if there is none, null if only the footer names it. */
    grainDirectory: directory === DIRECTORY_AT_END ? null : Number(directory),
    newlinesIntact: head.toString('latin1', 73, 77) === '\n \r\n',
    /** Bytes. */
    descriptor,
    descriptorEnd,
  };
}

/** Returns the embedded descriptor of a disk; null if it lies outside the file, or unreadably deep inside gzip. */
export async function readText(
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
export const NO_DISK = 0xffff_ffff;

/** Parses the hex digits after the first `name=`, as QEMU does, which refuses a disk without them; at most NO_DISK. */
export function identifierOf(text: string, name: string): number | null {
  const digits = /^=\s*(?:0x)?([0-9a-f]+)/i.exec(text.split(name, 2)[1] ?? '')?.[1];
  return digits === undefined ? null : Math.min(Number.parseInt(digits, 16), NO_DISK);
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
