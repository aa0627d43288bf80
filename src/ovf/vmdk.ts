// Checks a VMDK against the descriptor, and follows its tables to data that is missing.

import type { Disk } from './descriptor.ts';
import type { DiskImage } from './disk-image.ts';
import type { FindingCode } from './findings.ts';
import { type GrainLayout, GrainSum } from './grains.ts';
import {
  type PackageFile,
  type ReadWindow,
  readRegion,
  WINDOW_SIZE,
  withWindow,
} from './package-file.ts';
import {
  GRAIN_MARKER,
  identifierOf,
  OTHER_FOOTER,
  parseSparseHeader,
  quotedText,
  repeatsHeader,
  SECTOR,
  type SparseHeader,
} from './vmdk-header.ts';

/** What is so wrong with a disk that the rest of it is not read. */
class VmdkError extends Error {
  readonly code: FindingCode;

  constructor(code: FindingCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type ReportDisk = (code: FindingCode, message: string) => void;

/** Of each grain table, as specified. Smaller tables could cost a read for each grain. */
const TABLE_ENTRIES = 512;
const STREAM_OPTIMIZED = 'streamOptimized';
const DEFLATE = 1;
/** Sectors. Such a grain is unpacked in memory. */
const MAX_PACKED_GRAIN = 2 ** 15;

/**
 * Reports what is wrong with a VMDK, and where it differs from the descriptor. Returns how to
 * unpack it; null if it is broken, its grains are not packed, or it is unknown where they begin.
 */
export async function checkVmdk(
  image: DiskImage,
  report: ReportDisk,
  signal: AbortSignal | undefined,
): Promise<GrainLayout | null> {
  try {
    return await readLayout(image, report, signal);
  } catch (thrown) {
    if (!(thrown instanceof VmdkError)) throw thrown;
    report(thrown.code, thrown.message);
    return null;
  }
}

/** @throws VmdkError */
async function readLayout(
  { file, files, disk, isGzip, head, header, vmdkText }: DiskImage,
  report: ReportDisk,
  signal: AbortSignal | undefined,
): Promise<GrainLayout | null> {
  if (header === null) throw otherFormat(head);
  const problem = headerProblem(header, vmdkText);
  if (problem !== null) throw new VmdkError('vmdk-header', problem);
  checkAgainstDescriptor(header, vmdkText, disk, report);
  // The size of what gzip holds is unknown.
  const size = isGzip ? Number.MAX_SAFE_INTEGER : files.reduce((sum, each) => sum + each.size, 0);
  if (header.textEnd > size) throw truncated('before the end of its embedded descriptor');
  if (isGzip) return packedGrains(header, head, null);
  // The tables of a file in chunks are not read.
  if (files.length > 1) return null;
  const directory =
    header.grainDirectory === 'in footer' ? await readFooter(file, head) : header.grainDirectory;
  const sum = await withWindow(file, signal, async (read) => {
    const ofTables = await readTables(header, directory, read, file.size);
    await requireLastGrain(header, ofTables, read, file.size);
    return ofTables;
  });
  return packedGrains(header, head, sum);
}

function truncated(place: string): VmdkError {
  return new VmdkError('vmdk-truncated', `ends ${place}`);
}

function otherFormat(head: Buffer): VmdkError {
  const start = head.toString('latin1', 0, 64);
  if (start.startsWith('KDMV')) return truncated('before the end of its header');
  if (start.startsWith('COWD'))
    return new VmdkError('vmdk-type', 'an ESX server extent, not allowed in a package');
  if (/^\s*# *disk descriptorfile/i.test(start))
    return new VmdkError('vmdk-split', 'only a descriptor; the data is in other files');
  if (start.startsWith('\u001f\u008b'))
    return new VmdkError('vmdk-magic', 'gzip data: unpack it, or declare ovf:compression');
  return new VmdkError('vmdk-magic', 'neither a sparse header nor a VMDK descriptor');
}

const NO_DIRECTORY = 'no grain directory';

function headerProblem(header: SparseHeader, text: string | null): string | null {
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
  if (header.textEnd === 0) return 'no embedded descriptor';
  // A text that cannot be read is not compared.
  const lacksIdentifier = (name: 'CID' | 'parentCID') =>
    text !== null && identifierOf(text, name) === null;
  if (lacksIdentifier('CID') || lacksIdentifier('parentCID'))
    return 'no valid CID and parentCID in its embedded descriptor';
  if (tableEntries !== TABLE_ENTRIES) return `invalid grain table of ${tableEntries} entries`;
  return header.grainDirectory === 0 ? NO_DIRECTORY : null;
}

function checkAgainstDescriptor(
  header: SparseHeader,
  text: string | null,
  disk: Disk | undefined,
  report: ReportDisk,
) {
  const { streamOptimized } = header;
  const createType = quotedText(text, 'createType');
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

/** Returns the sector of the grain directory that the footer names. @throws VmdkError */
async function readFooter(file: PackageFile, head: Buffer): Promise<number> {
  const end = await readRegion(file, Math.max(SECTOR, file.size - 2 * SECTOR), 2 * SECTOR);
  const isLast = end.subarray(SECTOR).every((byte) => byte === 0);
  const directory = isLast ? parseSparseHeader(end)?.grainDirectory : undefined;
  if (typeof directory !== 'number')
    throw new VmdkError('vmdk-truncated', 'does not end with a footer');
  if (!repeatsHeader(end, head)) throw new VmdkError('vmdk-header', OTHER_FOOTER);
  if (directory === 0) throw new VmdkError('vmdk-header', NO_DIRECTORY);
  return directory;
}

const ENTRY_BYTES = 4;

/** Returns the sum of all tables. @throws VmdkError: one is not inside the file */
async function readTables(
  header: SparseHeader,
  directory: number,
  read: ReadWindow,
  size: number,
): Promise<GrainSum> {
  const { capacity, grainSize, tableEntries } = header;
  const grains = Math.ceil(capacity / grainSize);
  const tables = Math.ceil(grains / tableEntries);
  const tableBytes = tableEntries * ENTRY_BYTES;
  if (directory * SECTOR + tables * ENTRY_BYTES > size)
    throw truncated('before its grain directory');
  const sum = new GrainSum();
  let bytesOfTables = 0;
  for await (const { table, sector } of readDirectory(directory, tables, read)) {
    const entries = await read(sector * SECTOR, tableBytes);
    if (entries.length < tableBytes) throw truncated(`before its grain table at sector ${sector}`);
    bytesOfTables += tableBytes;
    if (bytesOfTables > size) throw new VmdkError('vmdk-header', 'the grain tables overlap');
    const firstGrain = table * tableEntries;
    // Entries after the last grain of the disk mean nothing.
    const end = Math.min(grains, firstGrain + tableEntries);
    for (let grain = firstGrain; grain < end; grain += 1) {
      const grainSector = entries.readUInt32LE((grain - firstGrain) * ENTRY_BYTES);
      // 0 and 1 stand for grains of zeros.
      if (grainSector > 1) sum.add(grain, grainSector);
    }
  }
  return sum;
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

/** @throws VmdkError: the last grain is not inside the file */
async function requireLastGrain(
  { capacity, grainSize, streamOptimized }: SparseHeader,
  { count, last, lastGrain }: GrainSum,
  read: ReadWindow,
  size: number,
): Promise<void> {
  if (count === 0) return;
  const start = last * SECTOR;
  // The last grain of the disk may be a part of one.
  const plainBytes = Math.min(grainSize, capacity - lastGrain * grainSize) * SECTOR;
  const bytes = streamOptimized ? await packedBytes(start, read) : plainBytes;
  if (start + bytes > size) throw truncated(`before the end of its grain at sector ${last}`);
}

/** Returns the bytes of a packed grain and its marker; of the marker, if that is not whole. */
async function packedBytes(start: number, read: ReadWindow): Promise<number> {
  const marker = await read(start, GRAIN_MARKER);
  const isWhole = marker.length === GRAIN_MARKER;
  return GRAIN_MARKER + (isWhole ? marker.readUInt32LE(8) : 0);
}

/** @param sum of the grain tables; null if they cannot be read */
function packedGrains(
  header: SparseHeader,
  head: Buffer,
  sum: GrainSum | null,
): GrainLayout | null {
  const { streamOptimized, overhead } = header;
  const first = sum?.first ?? Infinity;
  const start = overhead > 0 && overhead <= first ? overhead : first;
  // Without overhead, only a grain in the tables shows where the grains begin.
  return streamOptimized && start !== Infinity ? { header, head, start, sum } : null;
}
