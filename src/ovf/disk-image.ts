// Opens the file of a disk: what its first bytes are.

import { constants, createGunzip } from 'node:zlib';
import type { Disk } from './descriptor.ts';
import { hasGzipMagic, type PackageFile, readRegion } from './package-file.ts';
import type { FilesOfReference } from './references.ts';
import { parseSparseHeader, type SparseHeader } from './vmdk-header.ts';

const HEAD_SIZE = 64 * 1024;

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
  /** Null if the head is not that of a sparse VMDK. */
  readonly header: SparseHeader | null;
  /** The embedded descriptor of a VMDK; null if it has none, or it cannot be read. */
  readonly text: string | null;
}

export async function openDiskImage(
  file: PackageFile,
  { reference: { href, compression }, files }: FilesOfReference,
  disk: Disk | undefined,
): Promise<DiskImage> {
  // Some programs write a word instead of a URL, or nothing.
  const isVmdk = disk?.format
    ? /vmdk|^streamOptimized$/i.test(disk.format)
    : /\.vmdk(\.gz)?$/i.test(href);
  const isGzip = compression === 'gzip' || (!isVmdk && (await hasGzipMagic(file)));
  const head = isGzip ? await gunzipStart(file) : await readRegion(file, 0, HEAD_SIZE);
  const header = parseSparseHeader(head);
  const text = header && (await readText(header, head, file, isGzip));
  return { file, files, disk, isVmdk, isGzip, head, header, text };
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
