// Parses the start of a VMDK disk: the header of a sparse extent, or a descriptor in plain text.

/** Bytes. */
export const SECTOR = 512;

export type VmdkHeader =
  | SparseHeader
  | { readonly form: 'text' }
  | { readonly form: 'server-sparse' };

export interface SparseHeader {
  readonly form: 'sparse';
  readonly version: number;
  /** Sectors. */
  readonly capacity: number;
  /** Sectors per grain. */
  readonly grainSize: number;
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
export const SPARSE_MAGIC = 'KDMV';
const SERVER_SPARSE_MAGIC = 'COWD';
const NEWLINES = '\n \r\n';
const COMPRESSED_GRAINS = 1 << 16;
const MARKERS = 1 << 17;
/** Means that the footer names the sector of the grain directory. */
export const DIRECTORY_AT_END = 0xffff_ffff_ffff_ffffn;

/** Parses the first 64 KiB of a file; null if it is not a VMDK. */
export function parseVmdk(head: Buffer): VmdkHeader | null {
  const magic = head.toString('latin1', 0, 4);
  if (magic === SERVER_SPARSE_MAGIC) return { form: 'server-sparse' };
  if (/^\s*# *disk descriptorfile/i.test(head.toString('latin1', 0, 64))) return { form: 'text' };
  if (magic !== SPARSE_MAGIC || head.length < SECTOR) return null;
  const flags = head.readUInt32LE(8);
  const descriptor = Number(head.readBigUInt64LE(28)) * SECTOR;
  const descriptorEnd = descriptor + Number(head.readBigUInt64LE(36)) * SECTOR;
  const directory = head.readBigUInt64LE(56);
  return {
    form: 'sparse',
    version: head.readUInt32LE(4),
    capacity: Number(head.readBigUInt64LE(12)),
    grainSize: Number(head.readBigUInt64LE(20)),
    streamOptimized: (flags & COMPRESSED_GRAINS) !== 0 && (flags & MARKERS) !== 0,
    grainDirectory: directory === DIRECTORY_AT_END ? null : Number(directory),
    newlinesIntact: head.toString('latin1', 73, 77) === NEWLINES,
    createType: createTypeOf(head.toString('latin1', descriptor, descriptorEnd)),
  };
}

function createTypeOf(descriptor: string): string | null {
  return /^[ \t]*createType[ \t]*=[ \t]*"([^"\n]{1,100})"/im.exec(descriptor)?.[1] ?? null;
}
