// Compares the VMDK file of each disk with what the descriptor says about it.

import { constants, createGunzip } from 'node:zlib';
import type { FindingList } from './findings.ts';
import type { ResolvedReference } from './references.ts';
import { type PackageFile, readRegion } from './region.ts';
import type { Disk } from './summary.ts';
import { parseVmdk, SECTOR, SPARSE_MAGIC, type SparseHeader } from './vmdk.ts';

const HEAD = 64 * 1024;
const STREAM_OPTIMIZED = 'streamOptimized';

/** Looks at each VMDK among the files that are referenced. */
export async function checkDisks(
  disks: readonly Disk[],
  references: readonly ResolvedReference[],
  findings: FindingList,
): Promise<void> {
  const byFile = new Map(disks.map((disk) => [disk.file, disk]));
  for (const { reference, files } of references) {
    const disk = byFile.get(reference.href);
    const isVmdk = disk?.format?.includes('vmdk') ?? /\.vmdk(\.gz)?$/i.test(reference.href);
    const [file] = files;
    if (!isVmdk || file === undefined || !file.complete) continue;
    const gzip = reference.compression === 'gzip';
    if (!gzip && !['', 'identity'].includes(reference.compression ?? '')) continue;
    const head = gzip ? await gunzipStart(file) : await readRegion(file, 0, HEAD);
    const sparse = readSparseHeader(head, file, findings);
    if (sparse === null) continue;
    checkAgainstDescriptor(sparse, disk, file, findings);
    if (!gzip && files.length === 1) await checkEnd(sparse, file, findings);
  }
}

async function gunzipStart(file: PackageFile): Promise<Buffer> {
  const gunzip = createGunzip({ chunkSize: HEAD, finishFlush: constants.Z_SYNC_FLUSH });
  gunzip.end(await readRegion(file, 0, HEAD));
  try {
    // One chunk and no more: what follows may be a thousand times as long as what was read.
    for await (const chunk of gunzip) return chunk;
  } catch {
    // Not gzip, or damaged: then it has no head that could be looked at.
  }
  return Buffer.alloc(0);
}

/** The sparse header; null, with a finding, where the file is something else. */
function readSparseHeader(
  head: Buffer,
  file: PackageFile,
  findings: FindingList,
): SparseHeader | null {
  const vmdk = parseVmdk(head);
  if (vmdk === null) {
    findings.add('vmdk-magic', file.name, 'neither a sparse header nor a VMDK descriptor');
  } else if (vmdk.form === 'text') {
    findings.add('vmdk-split', file.name, 'only a descriptor, the data lie in other files');
  } else if (vmdk.form === 'server-sparse') {
    findings.add('vmdk-type', file.name, 'a sparse extent of a server, which is not for packages');
  } else {
    const problem = headerError(vmdk);
    if (problem === null) return vmdk;
    findings.add('vmdk-header', file.name, problem);
  }
  return null;
}

function headerError({
  newlinesIntact,
  version,
  capacity,
  grainSize,
}: SparseHeader): string | null {
  if (!newlinesIntact) return 'its line ends were changed, as by a transfer in text mode';
  if (version < 1 || version > 3) return `version ${version}`;
  if (!Number.isSafeInteger(capacity * SECTOR) || capacity === 0) return `${capacity} sectors`;
  if (grainSize < 8 || !Number.isInteger(Math.log2(grainSize))) {
    return `grains of ${grainSize} sectors`;
  }
  return null;
}

function checkAgainstDescriptor(
  head: SparseHeader,
  disk: Disk | undefined,
  file: PackageFile,
  findings: FindingList,
): void {
  const declared = disk?.format?.split('#')[1] ?? '';
  const isStream = declared.toLowerCase() === STREAM_OPTIMIZED.toLowerCase();
  if (isStream && !head.streamOptimized) {
    findings.add('vmdk-type', file.name, `declared as ${declared}, its grains are not compressed`);
  }
  const saysStream = head.createType === STREAM_OPTIMIZED;
  if (head.createType !== null && saysStream !== head.streamOptimized) {
    const actual = head.streamOptimized ? 'compressed' : 'not compressed';
    findings.add('vmdk-create-type', file.name, `${head.createType}, but its grains are ${actual}`);
  }
  const capacity = head.capacity * SECTOR;
  if (typeof disk?.capacity === 'number' && disk.capacity !== capacity) {
    const message = `holds ${capacity} bytes, the descriptor declares ${disk.capacity}`;
    findings.add('capacity-mismatch', file.name, message);
  }
}

/** The grain directory lies in the file, or a footer and an empty marker end it and tell where. */
async function checkEnd(
  head: SparseHeader,
  file: PackageFile,
  findings: FindingList,
): Promise<void> {
  if (head.grainDirectory !== null) {
    if (head.grainDirectory * SECTOR < file.size) return;
    findings.add('vmdk-truncated', file.name, 'ends before its grain directory');
    return;
  }
  const end = await readRegion(file, Math.max(SECTOR, file.size - 2 * SECTOR), 2 * SECTOR);
  const footer = end.toString('latin1', 0, SPARSE_MAGIC.length);
  if (footer === SPARSE_MAGIC && end.subarray(SECTOR).every((byte) => byte === 0)) return;
  findings.add('vmdk-truncated', file.name, 'does not end with a footer');
}
