// Opens the file of a disk: what its first bytes are.

import { constants, createGunzip } from 'node:zlib';
import type { Disk, FileReference } from './descriptor.ts';
import { hasGzipMagic, type PackageFile, readRegion } from './package-file.ts';
import { parseSparseHeader, type SparseHeader } from './vmdk-header.ts';

const HEAD_SIZE = 64 * 1024;

/**
 * Which bytes the header of a format has at which place, and the least length of the header. A qcow
 * of version 1 starts like a qcow2. For a VMDK, vmdk-header.ts parses it.
 */
const FORMATS = [
  ['qcow2', 'QFI\u00fb', 0, 104],
  ['qed', 'QED\0', 0, 104],
  ['vhd', 'conectix', 0, 512],
  ['vhdx', 'vhdxfile', 0, 8],
  ['vdi', '\u007f\u0010\u00da\u00be', 64, 440],
] as const;

type DiskFormat = (typeof FORMATS)[number][0] | 'other';

/** The file of a disk, or one that may be packed. */
export interface DiskImage {
  /** The file, or its first chunk. */
  readonly file: PackageFile;
  /** The file, or all its chunks. */
  readonly files: readonly PackageFile[];
  readonly disk: Disk | undefined;
  /** True if it is declared or named as a VMDK. */
  readonly isVmdk: boolean;
  readonly isGzip: boolean;
  /** Its first 64 KiB, unpacked if it is gzip. */
  readonly head: Buffer;
  /** What the head is: `other` also for a VMDK, and for a VHD that only its end tells. */
  readonly format: DiskFormat;
  /** Null if the head is not that of a sparse VMDK. */
  readonly header: SparseHeader | null;
  /** The embedded descriptor of a VMDK; null if it has none, or it cannot be read. */
  readonly vmdkText: string | null;
}

export async function openDiskImage(
  file: PackageFile,
  files: readonly PackageFile[],
  { href, compression }: FileReference,
  disk: Disk | undefined,
): Promise<DiskImage> {
  // Some programs write a word instead of a URL, or nothing.
  const isVmdk = disk?.format
    ? /vmdk|^streamOptimized$/i.test(disk.format)
    : /\.vmdk(\.gz)?$/i.test(href);
  const isGzip = compression === 'gzip' || (!isVmdk && (await hasGzipMagic(file)));
  const head = isGzip ? await gunzipStart(file) : await readRegion(file, 0, HEAD_SIZE);
  const format = formatOf(head);
  const header = parseSparseHeader(head);
  const vmdkText = header && (await readText(header, head, file, isGzip));
  return { file, files, disk, isVmdk, isGzip, head, format, header, vmdkText };
}

function formatOf(head: Buffer): DiskFormat {
  const start = head.toString('latin1', 0, 68);
  const found = FORMATS.find(
    ([, bytes, place, length]) => head.length >= length && start.startsWith(bytes, place),
  );
  return found?.[0] ?? 'other';
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

/**
 * Returns the embedded descriptor; null if there is none, or it is outside the file, or in gzip
 * outside the head.
 */
async function readText(
  { textStart, textEnd }: SparseHeader,
  head: Buffer,
  file: PackageFile,
  isGzip: boolean,
): Promise<string | null> {
  if (textEnd === 0 || textEnd > (isGzip ? head.length : file.size)) return null;
  const length = Math.min(textEnd - textStart, HEAD_SIZE);
  const bytes = isGzip
    ? head.subarray(textStart, textEnd)
    : await readRegion(file, textStart, length);
  return bytes.toString('latin1').split('\0', 1)[0] ?? '';
}
