// Checks a VMDK against the descriptor, and follows its tables to data that is missing.

import type { Disk } from './descriptor.ts';
import type { DiskImage } from './disk-image.ts';
import type { FindingCode, Problem } from './findings.ts';
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
  repeatsHeader,
  SECTOR,
  type SparseHeader,
} from './vmdk-header.ts';

type CheckedVmdk =
  | BrokenVmdk
  /** Its grains are not packed, or it is unknown where they begin. */
  | { readonly kind: 'plain' }
  | { readonly kind: 'packed'; readonly grains: GrainLayout };

interface BrokenVmdk extends Problem {
  readonly kind: 'broken';
}

type ReportDisk = (code: FindingCode, message: string) => void;

/** Of each grain table, as specified. Smaller tables could cost a read for each grain. */
const TABLE_ENTRIES = 512;
const STREAM_OPTIMIZED = 'streamOptimized';
const CREATE_TYPE = /^[ \t]*createType[ \t]*=[ \t]*"([^"\n]{1,100})"/im;
const DEFLATE = 1;
/** Sectors. Such a grain is unpacked in memory. */
const MAX_PACKED_GRAIN = 2 ** 15;

/** Reports where a VMDK and the descriptor differ. Returns what is broken, or how to unpack it. */
export async function checkVmdk(
  { file, files, disk, isGzip, head, header, text }: DiskImage,
  report: ReportDisk,
  signal: AbortSignal | undefined,
): Promise<CheckedVmdk> {
  if (header === null) return otherFormat(head);
  const problem = headerProblem(header, text);
  if (problem !== null) return broken('vmdk-header', problem);
  checkAgainstDescriptor(header, text, disk, report);
  // The size of what gzip holds is unknown.
  const size = isGzip ? Number.MAX_SAFE_INTEGER : files.reduce((sum, each) => sum + each.size, 0);
  if (header.textEnd > size)
    return broken('vmdk-truncated', 'ends before the end of its descriptor');
  if (isGzip) return packedGrains(header, head, null);
  // The tables of a file in chunks are not read.
  if (files.length > 1) return { kind: 'plain' };
  const directory =
    header.grainDirectory === 'in footer' ? await readFooter(file, head) : header.grainDirectory;
  if (typeof directory !== 'number') return directory;
  const sum = await withWindow(file, signal, (read) => readTables(header, directory, read, file));
  return sum instanceof GrainSum ? packedGrains(header, head, sum) : sum;
}

function broken(code: FindingCode, message: string): BrokenVmdk {
  return { kind: 'broken', code, message };
}

function otherFormat(head: Buffer): BrokenVmdk {
  const start = head.toString('latin1', 0, 64);
  if (start.startsWith('COWD'))
    return broken('vmdk-type', 'an ESX server extent, not allowed in a package');
  if (/^\s*# *disk descriptorfile/i.test(start))
    return broken('vmdk-split', 'only a descriptor; the data is in other files');
  return broken('vmdk-magic', 'neither a sparse header nor a VMDK descriptor');
}

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
  if (
    text !== null &&
    (identifierOf(text, 'CID') === null || identifierOf(text, 'parentCID') === null)
  )
    return 'no valid CID and parentCID in its descriptor';
  if (tableEntries !== TABLE_ENTRIES) return `invalid grain table of ${tableEntries} entries`;
  return header.grainDirectory === 0 ? 'no grain directory' : null;
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

/** Returns the sector of the grain directory that the footer names. */
async function readFooter(file: PackageFile, head: Buffer): Promise<number | BrokenVmdk> {
  const end = await readRegion(file, Math.max(SECTOR, file.size - 2 * SECTOR), 2 * SECTOR);
  const isLast = end.subarray(SECTOR).every((byte) => byte === 0);
  const directory = isLast ? parseSparseHeader(end)?.grainDirectory : undefined;
  if (typeof directory !== 'number') return broken('vmdk-truncated', 'does not end with a footer');
  return repeatsHeader(end, head) ? directory : broken('vmdk-header', OTHER_FOOTER);
}

const ENTRY_BYTES = 4;

/** Returns the sum of the tables, or which table, else which last grain, is not inside the file. */
async function readTables(
  header: SparseHeader,
  directory: number,
  read: ReadWindow,
  { size }: PackageFile,
): Promise<GrainSum | BrokenVmdk> {
  const { capacity, grainSize, tableEntries } = header;
  const grains = Math.ceil(capacity / grainSize);
  const tables = Math.ceil(grains / tableEntries);
  const tableBytes = tableEntries * ENTRY_BYTES;
  const truncated = (place: string) => broken('vmdk-truncated', `ends ${place}`);
  if (directory * SECTOR + tables * ENTRY_BYTES > size)
    return truncated('before its grain directory');
  const sum = new GrainSum();
  const last = { sector: 0, index: 0 };
  let bytesOfTables = 0;
  for await (const { table, sector } of readDirectory(directory, tables, read)) {
    const entries = await read(sector * SECTOR, tableBytes);
    if (entries.length < tableBytes) return truncated(`before its grain table at sector ${sector}`);
    bytesOfTables += tableBytes;
    if (bytesOfTables > size) return broken('vmdk-header', 'the grain tables overlap');
    const firstIndex = table * tableEntries;
    // Entries behind the last grain of the disk mean nothing.
    const end = Math.min(grains, firstIndex + tableEntries);
    for (let index = firstIndex; index < end; index += 1) {
      const grain = entries.readUInt32LE((index - firstIndex) * ENTRY_BYTES);
      // 0 and 1 stand for grains of zeros.
      if (grain <= 1) continue;
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

/** @param sum of the grain tables; null if they cannot be read */
function packedGrains(header: SparseHeader, head: Buffer, sum: GrainSum | null): CheckedVmdk {
  const { streamOptimized, overhead } = header;
  const first = sum?.first ?? Infinity;
  const start = overhead > 0 && overhead <= first ? overhead : first;
  // Without overhead, only a grain in the tables shows where the grains begin.
  if (!streamOptimized || start === Infinity) return { kind: 'plain' };
  return { kind: 'packed', grains: { header, head, start, sum } };
}
