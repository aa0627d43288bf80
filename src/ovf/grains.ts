// Follows the grain directory and the grain tables of a VMDK, to find data that is missing at its end.

import { open } from 'node:fs/promises';
import type { FindingCode } from './findings.ts';
import { FileWindow, type PackageFile, WINDOW_SIZE } from './region.ts';
import { SECTOR, type SparseHeader } from './vmdk.ts';

export type ReportDisk = (code: FindingCode, message: string) => void;

const ENTRY_BYTES = 4;
/** Sector and compressed size, before the data of a grain. */
const MARKER_BYTES = 12;

/**
 * Reports the first table, or else the last grain, that is not inside the file. Reads no more than the file has.
 * @param directory the sector of the grain directory
 */
export async function checkGrains(
  file: PackageFile,
  header: SparseHeader,
  directory: number,
  report: ReportDisk,
  signal: AbortSignal | undefined,
): Promise<void> {
  const handle = await open(file.path);
  try {
    const window = new FileWindow(handle, file.offset + file.size);
    const problem = await findProblem(header, directory, file.size, async (start, length) => {
      signal?.throwIfAborted();
      return window.read(file.offset + start, length);
    });
    if (problem !== null) report(...problem);
  } finally {
    await handle.close();
  }
}

async function findProblem(
  { capacity, grainSize, tableEntries, streamOptimized }: SparseHeader,
  directory: number,
  size: number,
  read: (start: number, length: number) => Promise<Buffer>,
): Promise<Parameters<ReportDisk> | null> {
  const directoryBytes = Math.ceil(capacity / grainSize / tableEntries) * ENTRY_BYTES;
  const tableBytes = tableEntries * ENTRY_BYTES;
  const truncated = (place: string): Parameters<ReportDisk> => ['vmdk-truncated', `ends ${place}`];
  if (directory * SECTOR + directoryBytes > size) return truncated('before its grain directory');
  let bytesOfTables = 0;
  let lastGrain = 0;
  let lastIndex = 0;
  for (let start = 0; start < directoryBytes; start += WINDOW_SIZE) {
    const length = Math.min(WINDOW_SIZE, directoryBytes - start);
    // A copy, since the next read overwrites it.
    const tables = Buffer.from(await read(directory * SECTOR + start, length));
    for (let entry = 0; entry + ENTRY_BYTES <= tables.length; entry += ENTRY_BYTES) {
      const table = tables.readUInt32LE(entry);
      if (table === 0) continue;
      const grains = await read(table * SECTOR, tableBytes);
      if (grains.length < tableBytes) return truncated(`before its grain table at sector ${table}`);
      bytesOfTables += tableBytes;
      if (bytesOfTables > size) return ['vmdk-header', 'the grain tables overlap'];
      const firstIndex = ((start + entry) / ENTRY_BYTES) * tableEntries;
      for (let grain = 0; grain < tableBytes; grain += ENTRY_BYTES) {
        const sector = grains.readUInt32LE(grain);
        if (sector <= lastGrain) continue;
        lastGrain = sector;
        lastIndex = firstIndex + grain / ENTRY_BYTES;
      }
    }
  }
  // 0 and 1 stand for grains of zeros.
  if (lastGrain <= 1) return null;
  const truncatedGrain = truncated(`before the end of its grain at sector ${lastGrain}`);
  const start = lastGrain * SECTOR;
  if (!streamOptimized) {
    // The last grain of the disk may be a part of one.
    const sectors = Math.min(grainSize, capacity - lastIndex * grainSize);
    return start + sectors * SECTOR <= size ? null : truncatedGrain;
  }
  const marker = await read(start, MARKER_BYTES);
  const isInside =
    marker.length === MARKER_BYTES && start + MARKER_BYTES + marker.readUInt32LE(8) <= size;
  return isInside ? null : truncatedGrain;
}
