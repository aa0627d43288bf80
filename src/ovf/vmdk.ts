// Reads the beginning of a VMDK disk: the header of a sparse extent, or a descriptor in plain text.

/** Disks count in sectors of so many bytes. */
export const SECTOR = 512;

/** What a VMDK file begins with. */
export type VmdkHeader =
  | SparseHeader
  | { readonly form: 'text' }
  | { readonly form: 'server-sparse' };

export interface SparseHeader {
  readonly form: 'sparse';
  readonly version: number;
  /** Sectors. */
  readonly capacity: number;
  /** Sectors in a grain. */
  readonly grainSize: number;
  /** Whether grains are compressed and marked, as a stream needs it. */
  readonly streamOptimized: boolean;
  /** First sector of the grain directory; null where a footer at the end of the file tells it. */
  readonly grainDirectory: number | null;
  /** Whether the line ends of the header are intact, which a transfer as text destroys. */
  readonly newlinesIntact: boolean;
  /** What the embedded descriptor says, such as `streamOptimized`; null without one. */
  readonly createType: string | null;
}

/** The first bytes of a sparse header and of the footer that repeats it. */
export const SPARSE_MAGIC = 'KDMV';
const SERVER_SPARSE_MAGIC = 'COWD';
const LINE_ENDS = '\n \r\n';
const COMPRESSED_GRAINS = 1 << 16;
const MARKERS = 1 << 17;
/** In place of the grain directory's sector: the footer tells it. */
export const DIRECTORY_AT_END = 0xffff_ffff_ffff_ffffn;

/** What a file with this beginning is, or null where it is no VMDK. A beginning of 64 KiB has all that is looked at. */
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
    newlinesIntact: head.toString('latin1', 73, 77) === LINE_ENDS,
    createType: createTypeOf(head.toString('latin1', descriptor, descriptorEnd)),
  };
}

function createTypeOf(descriptor: string): string | null {
  return /^[ \t]*createType[ \t]*=[ \t]*"([^"\n]{1,100})"/im.exec(descriptor)?.[1] ?? null;
}
