// Unpacks what no digest proves, as its bytes pass: gzip to its end, a stream-optimised disk grain by grain.

import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGunzip, inflateSync } from 'node:zlib';
import type { ByteCheck } from '../chunks.ts';
import type { FileCheck } from './checks.ts';
import type { PackageFile } from './package-file.ts';

export interface Packed {
  readonly isGzip: boolean;
  /** Bytes that it must have at least, unpacked. */
  readonly least: number;
  /** Bytes that it may have at most. */
  readonly limit: number;
  /** Of a stream-optimised disk, which may be inside gzip. */
  readonly grains: GrainLayout | null;
}

interface GrainLayout {
  /** Sectors. */
  readonly capacity: number;
  /** Sectors per grain. */
  readonly grainSize: number;
  /** Grains per grain table. */
  readonly tableEntries: number;
  /** First sector that may be a marker. */
  readonly start: number;
  /** True if a sector is the footer of the disk; null if the disk needs none. */
  readonly isFooter: ((sector: Buffer) => boolean) | null;
  /** Of the grain tables; null if they cannot be read before. */
  readonly sum: GrainSum | null;
}

/** Adds up which grain is where, in any order: the grain tables and the grains must have the same sum. */
export class GrainSum {
  count = 0;
  first = Number.POSITIVE_INFINITY;
  #sum = 0n;

  add(grain: number, sector: number): void {
    this.count += 1;
    this.first = Math.min(this.first, sector);
    this.#sum += BigInt(grain + 1) * BigInt(sector);
  }

  equals(other: GrainSum): boolean {
    return this.count === other.count && this.#sum === other.#sum;
  }
}

/** Bytes that are unpacked at a time, between which an interrupt counts. */
const SLICE = 64 * 1024;

export function unpackCheck(file: PackageFile, packed: Packed, signal?: AbortSignal): FileCheck {
  const start = (): ByteCheck => {
    const { isGzip, least, limit } = packed;
    const grains = packed.grains && grainReader(packed.grains, limit);
    const reader = isGzip ? gunzipReader(least, limit, grains) : grains;
    return {
      async update(chunk) {
        for (let at = 0; at < chunk.length && !signal?.aborted; at += SLICE) {
          await reader?.update(chunk.subarray(at, at + SLICE));
          await setImmediate();
        }
      },
      end: async () => (await reader?.end()) ?? null,
    };
  };
  return { file, kind: 'unpacked', start };
}

/**
 * Unpacks gzip. After the last member, Node's gunzip counts no byte that is written to it, and calls back no write:
 * what it left over must be padding of zeros, or the file is damaged.
 */
function gunzipReader(least: number, limit: number, content: ByteCheck | null): ByteCheck {
  const gunzip = createGunzip({ chunkSize: SLICE });
  let problem: string | null = null;
  let unpacked = 0;
  let received = 0;
  const fail = (message: string) => {
    problem ??= message;
    gunzip.destroy();
  };
  let endPendingWrite = () => {};
  const closed = finished(gunzip)
    .catch(() => {})
    .then(() => endPendingWrite());
  gunzip.on('error', ({ message }) => fail(`damaged gzip: ${message}`));
  gunzip.on('data', (bytes: Buffer) => {
    unpacked += bytes.length;
    if (unpacked > limit) fail(`unpacks to more than ${limit} bytes`);
    else content?.update(bytes);
  });
  return {
    async update(chunk) {
      if (problem !== null) return;
      const isAtEnd = gunzip.bytesWritten < received;
      if (!isAtEnd) {
        await new Promise<void>((resolve) => {
          endPendingWrite = resolve;
          gunzip.write(chunk, () => resolve());
        });
      }
      received += chunk.length;
      const leftOver = Math.min(chunk.length, received - gunzip.bytesWritten);
      if (problem !== null || leftOver === 0) return;
      if (chunk.subarray(-leftOver).some((byte) => byte !== 0))
        fail('damaged gzip: more data after its end');
    },
    async end() {
      gunzip.end();
      await closed;
      if (unpacked < least) problem ??= 'unpacks to no bytes';
      return problem ?? content?.end() ?? null;
    },
  };
}

/** Bytes. */
export const SECTOR = 512;
/** Sector and compressed size, before the data of a grain. */
export const GRAIN_MARKER = 12;
/** Types of the markers without data. */
const END_OF_STREAM = 0;
const FOOTER = 3;
export const OTHER_FOOTER = 'its footer differs from its header';

/** Reads a stream-optimised disk, of which it holds one grain at a time. */
function grainReader(layout: GrainLayout, limit: number): ByteCheck {
  const seen = new GrainSum();
  const parser = readMarkers(layout, seen, limit);
  let step = parser.next();
  /** Room for what the parser needs next, of which this many bytes are there. */
  const makeRoom = () => Buffer.allocUnsafe(step.done ? 0 : step.value);
  let needed = makeRoom();
  let filled = 0;
  const update = (chunk: Buffer) => {
    for (let at = 0; !step.done && at < chunk.length; ) {
      const copied = chunk.copy(needed, filled, at);
      at += copied;
      filled += copied;
      if (filled < needed.length) return;
      step = parser.next(needed);
      needed = makeRoom();
      filled = 0;
    }
  };
  return {
    update,
    end() {
      // The last sector need not be whole.
      update(Buffer.alloc(-filled & (SECTOR - 1)));
      if (filled === 0 && !step.done) step = parser.next();
      if (step.done && step.value !== null) return step.value;
      if (filled > 0) return 'ends inside a grain';
      return layout.sum?.equals(seen) === false ? 'its grain tables do not fit its grains' : null;
    },
  };
}

/** Yields how many bytes it needs next; receives none at the end of the file. Returns what is wrong, or null. */
function* readMarkers(
  { capacity, grainSize, tableEntries, start, isFooter }: GrainLayout,
  seen: GrainSum,
  limit: number,
): Generator<number, string | null, Buffer | undefined> {
  const grainBytes = grainSize * SECTOR;
  const directorySectors = Math.ceil((Math.ceil(capacity / grainSize / tableEntries) * 4) / SECTOR);
  // VMware writes the last one, without content, to show progress.
  const sectorsOf = [0, Math.ceil((tableEntries * 4) / SECTOR), directorySectors, 1, 0];
  const types: number[] = [];
  let unpacked = 0;
  let sector = start;
  if (!(yield* skip(start))) return 'ends before its grains';
  for (;;) {
    const marker = yield SECTOR;
    if (!marker) break;
    const place = `at sector ${sector}`;
    const value = Number(marker.readBigUInt64LE(0));
    const size = marker.readUInt32LE(8);
    if (size === 0) {
      const type = marker.readUInt32LE(12);
      // A footer counts nothing in some programs.
      if (type !== FOOTER && sectorsOf[type] !== value) return `unknown marker ${place}`;
      const sectors = sectorsOf[type] ?? 0;
      const content = yield* skip(sectors);
      if (!content) return `ends after the marker ${place}`;
      if (type === FOOTER && isFooter?.(content) === false) return OTHER_FOOTER;
      types.push(type);
      types.splice(0, types.length - 2);
      sector += 1 + sectors;
      continue;
    }
    const sectors = Math.ceil((GRAIN_MARKER + size) / SECTOR);
    if (size > 2 * grainBytes || value % grainSize !== 0 || value >= capacity)
      return `invalid grain ${place}: ${size} bytes for sector ${value} of ${capacity}`;
    // A copy, as the memory of the sector may be used again.
    const first = Buffer.from(marker.subarray(GRAIN_MARKER));
    const rest = sectors === 1 ? Buffer.alloc(0) : yield (sectors - 1) * SECTOR;
    if (!rest) return `ends inside the grain ${place}`;
    const grain = inflateGrain(Buffer.concat([first, rest], size), grainBytes);
    if (typeof grain === 'string') return `damaged grain ${place}: ${grain}`;
    // The last grain of the disk may be a part of one.
    if (grain < Math.min(grainSize, capacity - value) * SECTOR)
      return `damaged grain ${place}: unpacks to ${grain} bytes`;
    unpacked += grain;
    if (unpacked > limit) return `unpacks to more than ${limit} bytes`;
    seen.add(value / grainSize, sector);
    sector += sectors;
    types.length = 0;
  }
  const isWhole = types[0] === FOOTER && types[1] === END_OF_STREAM;
  return isFooter && !isWhole ? 'does not end with a footer and the end of the stream' : null;
}

/** Returns the last of the sectors, or undefined if the file ends before. */
function* skip(sectors: number): Generator<number, Buffer | undefined, Buffer | undefined> {
  let last: Buffer | undefined = Buffer.alloc(0);
  for (let skipped = 0; last && skipped < sectors; skipped += 1) last = yield SECTOR;
  return last;
}

/** Returns the number of bytes that a grain unpacks to, or what is wrong. */
function inflateGrain(data: Buffer, grainBytes: number): number | string {
  try {
    // With room for a byte more, zlib needs one call.
    return inflateSync(data, { maxOutputLength: grainBytes, chunkSize: grainBytes + 1 }).length;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isTooLarge = 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? `unpacks to more than ${grainBytes} bytes` : error.message;
  }
}
