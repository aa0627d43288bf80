// Parses the header of a sparse VMDK, which a footer may repeat, and identifiers of its descriptor.

/** Bytes. Places and lengths in a VMDK are in sectors. */
export const SECTOR = 512;
/** Bytes before the data of a packed grain: its sector on the disk (8), the data's length (4). */
export const GRAIN_MARKER = 12;
export const OTHER_FOOTER = 'its footer differs from its header';

export interface SparseHeader {
  readonly version: number;
  /** Sectors of the disk. */
  readonly capacity: number;
  /** Sectors of a grain. */
  readonly grainSize: number;
  /** Grains of a grain table. */
  readonly tableEntries: number;
  /** Sectors in front of the grains; 0 in disks of some programs. */
  readonly overhead: number;
  readonly compression: number;
  /** True for compressed grains with markers. */
  readonly streamOptimized: boolean;
  /** First sector of the grain directory; 0 if there is none. */
  readonly grainDirectory: number | 'in footer';
  readonly newlinesIntact: boolean;
  /** Where the embedded descriptor starts and ends, in bytes; 0 and 0 if there is none. */
  readonly textStart: number;
  readonly textEnd: number;
}

const COMPRESSED_GRAINS = 1 << 16;
const MARKERS = 1 << 17;
const IN_FOOTER = 0xffff_ffff_ffff_ffffn;

/** Parses the header at the start of a file, or the footer that repeats it; null for other data. */
export function parseSparseHeader(head: Buffer): SparseHeader | null {
  if (head.toString('latin1', 0, 4) !== 'KDMV' || head.length < SECTOR) return null;
  const flags = head.readUInt32LE(8);
  const textStart = Number(head.readBigUInt64LE(28)) * SECTOR;
  const directory = head.readBigUInt64LE(56);
  return {
    version: head.readUInt32LE(4),
    capacity: Number(head.readBigUInt64LE(12)),
    grainSize: Number(head.readBigUInt64LE(20)),
    tableEntries: head.readUInt32LE(44),
    overhead: Number(head.readBigUInt64LE(64)),
    compression: head.readUInt16LE(77),
    streamOptimized: (flags & COMPRESSED_GRAINS) !== 0 && (flags & MARKERS) !== 0,
    grainDirectory: directory === IN_FOOTER ? 'in footer' : Number(directory),
    newlinesIntact: head.toString('latin1', 73, 77) === '\n \r\n',
    textStart,
    textEnd: textStart + Number(head.readBigUInt64LE(36)) * SECTOR,
  };
}

/**
 * Bytes of the header that a footer repeats: all but the places of the grain directories (48 to 63)
 * and whether the shutdown was unclean (72).
 */
const REPEATED = [
  [0, 48],
  [64, 72],
  [73, 79],
] as const;

/** True if a footer, which programs read instead of the header, says the same. */
export function repeatsHeader(footer: Buffer, head: Buffer): boolean {
  return REPEATED.every(([from, to]) => footer.subarray(from, to).equals(head.subarray(from, to)));
}

/** The parentCID of a disk without a parent. */
export const NO_DISK = 0xffff_ffff;

/**
 * Parses the hex digits after `CID=` or `parentCID=`; at most NO_DISK. QEMU refuses a disk without
 * them.
 */
export function identifierOf(text: string | null, name: 'CID' | 'parentCID'): number | null {
  const line = new RegExp(`^[ \\t]*${name}=[ \\t]*(?:0x)?([\\da-fA-F]+)`, 'm');
  const digits = line.exec(text ?? '')?.[1];
  return digits === undefined ? null : Math.min(Number.parseInt(digits, 16), NO_DISK);
}

/** Returns what stands in quotes after `createType=` or `parentFileNameHint=`. */
export function quotedText(
  text: string | null,
  name: 'createType' | 'parentFileNameHint',
): string | null {
  const line = new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*"([^"\\n]{1,1000})"`, 'im');
  return line.exec(text ?? '')?.[1] ?? null;
}
