// Parses the start of a VMDK disk, and writes a stream-optimised one.

import { deflateSync } from 'node:zlib';

/** Bytes. */
export const SECTOR = 512;

export interface SparseHeader {
  readonly version: number;
  /** Sectors. */
  readonly capacity: number;
  /** Sectors per grain. */
  readonly grainSize: number;
  /** Grains per grain table. */
  readonly tableEntries: number;
  /** True if grains are compressed and have markers. */
  readonly streamOptimized: boolean;
  /** First sector of the grain directory; null if only the footer names it. */
  readonly grainDirectory: number | null;
  /** False after a transfer in text mode. */
  readonly newlinesIntact: boolean;
  /** From the embedded descriptor, such as `streamOptimized`. */
  readonly createType: string | null;
}

/** Starts the header and the footer that repeats it. */
const SPARSE_MAGIC = 'KDMV';
const SERVER_SPARSE_MAGIC = 'COWD';
const NEWLINES = '\n \r\n';
const CREATE_TYPE = /^[ \t]*createType[ \t]*=[ \t]*"([^"\n]{1,100})"/im;
const VALID_NEWLINES = 1 << 0;
const COMPRESSED_GRAINS = 1 << 16;
const MARKERS = 1 << 17;
/** Means that the footer names the sector of the grain directory. */
const DIRECTORY_AT_END = 0xffff_ffff_ffff_ffffn;

/** Parses the first 64 KiB of a file; null if it is not a VMDK. */
export function parseVmdk(head: Buffer): SparseHeader | 'text' | 'server-sparse' | null {
  const magic = head.toString('latin1', 0, 4);
  if (magic === SERVER_SPARSE_MAGIC) return 'server-sparse';
  if (/^\s*# *disk descriptorfile/i.test(head.toString('latin1', 0, 64))) return 'text';
  if (magic !== SPARSE_MAGIC || head.length < SECTOR) return null;
  const flags = head.readUInt32LE(8);
  const descriptor = Number(head.readBigUInt64LE(28)) * SECTOR;
  const descriptorEnd = descriptor + Number(head.readBigUInt64LE(36)) * SECTOR;
  const directory = head.readBigUInt64LE(56);
  return {
    version: head.readUInt32LE(4),
    capacity: Number(head.readBigUInt64LE(12)),
    grainSize: Number(head.readBigUInt64LE(20)),
    tableEntries: head.readUInt32LE(44),
    streamOptimized: (flags & COMPRESSED_GRAINS) !== 0 && (flags & MARKERS) !== 0,
    grainDirectory: directory === DIRECTORY_AT_END ? null : Number(directory),
    newlinesIntact: head.toString('latin1', 73, 77) === NEWLINES,
    createType: CREATE_TYPE.exec(head.toString('latin1', descriptor, descriptorEnd))?.[1] ?? null,
  };
}

/** Sectors in a grain: 64 KiB. */
const GRAIN = 128;
const GRAIN_BYTES = GRAIN * SECTOR;
/** Entries per grain table; no writer makes more. */
export const TABLE_ENTRIES = 512;
/** Sectors before the first grain. */
const OVERHEAD = GRAIN;
const DESCRIPTOR_SECTORS = 20;
/** Types of markers; a grain's marker has the size of its data instead. */
const MARKER = { end: 0, table: 1, directory: 2, footer: 3 } as const;

/**
 * Returns a VMDK with the content of a disk: compressed grains with markers, tables, directory and footer.
 * Grains of zeros take no space.
 * @param disk whole grains of 64 KiB
 * @param extent the file name for the embedded descriptor
 */
export function streamOptimizedVmdk(disk: Buffer, extent: string): Buffer {
  if (disk.length === 0 || disk.length % GRAIN_BYTES !== 0) {
    throw new RangeError('the disk size must be a multiple of 64 KiB');
  }
  const capacity = disk.length / SECTOR;
  const output = new SectorWriter();
  output.write(header(capacity, DIRECTORY_AT_END));
  output.write(descriptor(capacity, extent), DESCRIPTOR_SECTORS);
  output.write(Buffer.alloc(0), OVERHEAD - output.sectors);
  const directory = Buffer.alloc(Math.ceil(capacity / GRAIN / TABLE_ENTRIES) * 4);
  for (let table = 0; table * 4 < directory.length; table += 1) {
    directory.writeUInt32LE(writeTable(disk, table, output), table * 4);
  }
  output.write(marker(sectorsOf(directory), MARKER.directory));
  const directorySector = output.sectors;
  output.write(directory);
  output.write(marker(1, MARKER.footer));
  output.write(header(capacity, BigInt(directorySector)));
  output.write(marker(0, MARKER.end));
  return output.bytes();
}

/** Writes the grains of one table, then the table; returns its sector, or 0 for an empty table. */
function writeTable(disk: Buffer, index: number, output: SectorWriter): number {
  const table = Buffer.alloc(TABLE_ENTRIES * 4);
  const zeros = Buffer.alloc(GRAIN_BYTES);
  const first = index * TABLE_ENTRIES;
  const end = Math.min(first + TABLE_ENTRIES, disk.length / GRAIN_BYTES);
  for (let grain = first; grain < end; grain += 1) {
    const content = disk.subarray(grain * GRAIN_BYTES, (grain + 1) * GRAIN_BYTES);
    if (content.equals(zeros)) continue;
    table.writeUInt32LE(output.sectors, (grain - first) * 4);
    const compressed = deflateSync(content, { level: 9 });
    const start = Buffer.alloc(12);
    start.writeBigUInt64LE(BigInt(grain * GRAIN), 0);
    start.writeUInt32LE(compressed.length, 8);
    output.write(Buffer.concat([start, compressed]));
  }
  if (table.every((byte) => byte === 0)) return 0;
  output.write(marker(sectorsOf(table), MARKER.table));
  const sector = output.sectors;
  output.write(table);
  return sector;
}

/** Builds the header or the footer, which differ only in the sector of the grain directory. */
function header(capacity: number, directory: bigint): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.write(SPARSE_MAGIC, 0);
  bytes.writeUInt32LE(3, 4);
  bytes.writeUInt32LE(VALID_NEWLINES | COMPRESSED_GRAINS | MARKERS, 8);
  bytes.writeBigUInt64LE(BigInt(capacity), 12);
  bytes.writeBigUInt64LE(BigInt(GRAIN), 20);
  bytes.writeBigUInt64LE(1n, 28);
  bytes.writeBigUInt64LE(BigInt(DESCRIPTOR_SECTORS), 36);
  bytes.writeUInt32LE(TABLE_ENTRIES, 44);
  bytes.writeBigUInt64LE(directory, 56);
  bytes.writeBigUInt64LE(BigInt(OVERHEAD), 64);
  bytes.write(NEWLINES, 73);
  bytes.writeUInt16LE(1, 77);
  return bytes;
}

function descriptor(capacity: number, extent: string): Buffer {
  const cylinders = Math.max(1, Math.min(16_383, Math.floor(capacity / (16 * 63))));
  return Buffer.from(
    [
      '# Disk DescriptorFile',
      'version=1',
      'CID=1a2b3c4d',
      'parentCID=ffffffff',
      'createType="streamOptimized"',
      '',
      '# Extent description',
      `RDONLY ${capacity} SPARSE "${extent}"`,
      '',
      '# The Disk Data Base',
      'ddb.adapterType = "lsilogic"',
      `ddb.geometry.cylinders = "${cylinders}"`,
      'ddb.geometry.heads = "16"',
      'ddb.geometry.sectors = "63"',
      'ddb.virtualHWVersion = "7"',
      '',
    ].join('\n'),
  );
}

function marker(sectors: number, type: number): Buffer {
  const bytes = Buffer.alloc(SECTOR);
  bytes.writeBigUInt64LE(BigInt(sectors), 0);
  bytes.writeUInt32LE(type, 12);
  return bytes;
}

function sectorsOf(bytes: Buffer): number {
  return Math.ceil(bytes.length / SECTOR);
}

/** Collects pieces, each padded to whole sectors. */
class SectorWriter {
  readonly #pieces: Buffer[] = [];
  sectors = 0;

  write(bytes: Buffer, sectors = sectorsOf(bytes)): void {
    this.#pieces.push(bytes, Buffer.alloc(sectors * SECTOR - bytes.length));
    this.sectors += sectors;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
