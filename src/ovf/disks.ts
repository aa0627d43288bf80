// Checks the VMDK file of each disk against the descriptor.

import { constants, createGunzip } from 'node:zlib';
import type { FindingList } from './findings.ts';
import { checkGrains, type ReportDisk } from './grains.ts';
import type { ResolvedReference } from './references.ts';
import { type PackageFile, readRegion } from './region.ts';
import type { Disk } from './summary.ts';
import { parseVmdk, SECTOR, type SparseHeader, TABLE_ENTRIES } from './vmdk.ts';

const HEAD_SIZE = 64 * 1024;
const STREAM_OPTIMIZED = 'streamOptimized';

export async function checkDisks(
  disks: readonly Disk[],
  references: readonly ResolvedReference[],
  findings: FindingList,
  signal?: AbortSignal,
): Promise<void> {
  const byFile = new Map(disks.map((disk) => [disk.file, disk]));
  for (const { reference, files } of references) {
    const disk = byFile.get(reference.href);
    const isVmdk = disk?.format?.includes('vmdk') ?? /\.vmdk(\.gz)?$/i.test(reference.href);
    const [file] = files;
    if (!isVmdk || file === undefined || !file.complete) continue;
    const gzip = reference.compression === 'gzip';
    if (!gzip && !['', 'identity'].includes(reference.compression ?? '')) continue;
    const report: ReportDisk = (code, message) => findings.add(code, file.name, message);
    const head = gzip ? await gunzipStart(file) : await readRegion(file, 0, HEAD_SIZE);
    const header = readSparseHeader(head, report);
    if (header === null) continue;
    checkAgainstDescriptor(header, disk, report);
    if (gzip || files.length > 1) continue;
    const directory = header.grainDirectory ?? (await directoryOfFooter(file));
    if (directory === null) report('vmdk-truncated', 'does not end with a footer');
    else await checkGrains(file, header, directory, report, signal);
  }
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

function readSparseHeader(head: Buffer, report: ReportDisk): SparseHeader | null {
  const vmdk = parseVmdk(head);
  if (vmdk === null) {
    report('vmdk-magic', 'neither a sparse header nor a VMDK descriptor');
  } else if (vmdk === 'text') {
    report('vmdk-split', 'only a descriptor; the data is in other files');
  } else if (vmdk === 'server-sparse') {
    report('vmdk-type', 'an ESX server extent, not allowed in a package');
  } else {
    const problem = headerProblem(vmdk);
    if (problem === null) return vmdk;
    report('vmdk-header', problem);
  }
  return null;
}

function headerProblem(header: SparseHeader): string | null {
  const { version, capacity, grainSize, tableEntries, grainDirectory } = header;
  if (!header.newlinesIntact) return 'corrupted by a transfer in text mode';
  if (version < 1 || version > 3) return `unknown version ${version}`;
  if (!Number.isSafeInteger(capacity * SECTOR) || capacity === 0) {
    return `invalid capacity of ${capacity} sectors`;
  }
  if (grainSize < 8 || !Number.isInteger(Math.log2(grainSize))) {
    return `invalid grain size of ${grainSize} sectors`;
  }
  if (tableEntries < 1 || tableEntries > TABLE_ENTRIES) {
    return `invalid grain table of ${tableEntries} entries`;
  }
  if (grainDirectory === 0) return 'no grain directory';
  return null;
}

function checkAgainstDescriptor(
  header: SparseHeader,
  disk: Disk | undefined,
  report: ReportDisk,
): void {
  const { streamOptimized, createType } = header;
  const declared = disk?.format?.split('#')[1] ?? '';
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

/** Returns the sector of the grain directory that the footer names; null if the file ends otherwise. */
async function directoryOfFooter(file: PackageFile): Promise<number | null> {
  const end = await readRegion(file, Math.max(SECTOR, file.size - 2 * SECTOR), 2 * SECTOR);
  const footer = parseVmdk(end);
  if (footer === null || typeof footer === 'string') return null;
  return end.subarray(SECTOR).every((byte) => byte === 0) ? footer.grainDirectory : null;
}
