// Unpacks the grains of a stream-optimised VMDK as its bytes pass, one at a time.

import { inflateSync } from 'node:zlib';
import type { ByteCheck } from '../chunks.ts';
import {
  GRAIN_MARKER,
  OTHER_FOOTER,
  repeatsHeader,
  SECTOR,
  type SparseHeader,
} from './vmdk-header.ts';

/** What must be known of a disk before its grains can be unpacked. */
export interface GrainLayout {
  readonly header: SparseHeader;
  /** The bytes of the header, which a footer repeats. */
  readonly head: Buffer;
  /** The first sector that may be a grain or a marker. */
  readonly start: number;
  /** Of the grain tables; null if they cannot be read before. */
  readonly sum: GrainSum | null;
}

/** Adds up which grain is where, in any order: the tables and the grains must have the same sum. */
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

/** The next bytes of the file, until the room is full. */
interface Request {
  readonly room: Buffer;
  /** What is wrong if the file ends before; null if it may. */
  readonly ifEnded: string | null;
}

/** Reads a stream-optimised disk: fills the room of each request with the bytes as they come. */
export class GrainReader implements ByteCheck {
  readonly #requests: Generator<Request, string>;
  /** The request that is filled, or what is wrong. */
  #step: IteratorResult<Request, string>;
  #filled = 0;

  constructor(layout: GrainLayout, maxBytes: number) {
    this.#requests = readParts(layout, maxBytes);
    this.#step = this.#requests.next();
  }

  update(chunk: Buffer): void {
    for (let at = 0; !this.#step.done && at < chunk.length; ) {
      const { room } = this.#step.value;
      const copied = chunk.copy(room, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled < room.length) return;
      this.#filled = 0;
      this.#step = this.#requests.next();
    }
  }

  end(): string | null {
    // The last sector need not be whole.
    this.update(Buffer.alloc(Math.ceil(this.#filled / SECTOR) * SECTOR - this.#filled));
    return this.#step.done ? this.#step.value : this.#step.value.ifEnded;
  }
}

/** Types of markers. VMware writes PROGRESS, without content, to show progress. */
const END_OF_STREAM = 0;
const GRAIN_TABLE = 1;
const GRAIN_DIRECTORY = 2;
const FOOTER = 3;
const PROGRESS = 4;

interface Grain {
  readonly kind: 'grain';
  /** Sectors that it takes in the file. */
  readonly sectors: number;
  /** Its first sector on the disk. */
  readonly first: number;
  /** Bytes that it unpacks to. */
  readonly bytes: number;
}

interface Marker {
  readonly kind: 'marker';
  /** Sectors that it takes in the file, with its content. */
  readonly sectors: number;
  readonly type: number;
}

/** What the last part was; the end of the stream counts only right behind a footer. */
type Last = 'footer' | 'end' | 'other';

/**
 * Yields what it needs to read, and returns what is wrong. Behind header and descriptor are parts,
 * which begin at a sector:
 *
 *     grain   its first sector on the disk (8 bytes), its length, not 0 (4), its packed data
 *     marker  sectors of content (8), 0 (4), type (4); then the content, from the next sector on
 *
 * If only a footer says where the grain directory is, the last parts are FOOTER and END_OF_STREAM.
 */
function* readParts(layout: GrainLayout, maxBytes: number): Generator<Request, string> {
  const { header, start } = layout;
  const seen = new GrainSum();
  let last: Last = 'other';
  let unpacked = 0;
  /** The sector where the part begins. */
  let place = start;
  yield* skip(start, 'ends before its grains');
  const sector = Buffer.alloc(SECTOR);
  for (;;) {
    yield { room: sector, ifEnded: endProblem(layout, last, seen) };
    const isGrain = sector.readUInt32LE(8) > 0;
    const part = isGrain
      ? yield* readGrain(sector, place, header)
      : yield* readMarker(sector, place, layout);
    if (typeof part === 'string') return part;
    if (part.kind === 'grain') {
      unpacked += part.bytes;
      if (unpacked > maxBytes) return `unpacks to more than ${maxBytes} bytes`;
      seen.add(part.first / header.grainSize, place);
    }
    last = lastAfter(part, last);
    place += part.sectors;
  }
}

/** Returns the last of the sectors. */
function* skip(sectors: number, ifEnded: string): Generator<Request, Buffer> {
  const request = { room: Buffer.alloc(SECTOR), ifEnded };
  for (let skipped = 0; skipped < sectors; skipped += 1) yield request;
  return request.room;
}

/** Returns what is wrong if the file ends behind these parts. */
function endProblem({ header, sum }: GrainLayout, last: Last, seen: GrainSum): string | null {
  const needsFooter = header.grainDirectory === 'in footer';
  if (needsFooter && last !== 'end') return 'does not end with a footer and the end of the stream';
  return sum && !sum.equals(seen) ? 'its grain tables do not fit its grains' : null;
}

function lastAfter(part: Grain | Marker, before: Last): Last {
  if (part.kind === 'grain') return 'other';
  if (part.type === FOOTER) return 'footer';
  return part.type === END_OF_STREAM && before === 'footer' ? 'end' : 'other';
}

/** @param sector the first of the grain */
function* readGrain(
  sector: Buffer,
  place: number,
  { capacity, grainSize }: SparseHeader,
): Generator<Request, Grain | string> {
  const grainBytes = grainSize * SECTOR;
  const first = Number(sector.readBigUInt64LE(0));
  const length = sector.readUInt32LE(8);
  if (length > 2 * grainBytes || first % grainSize !== 0 || first >= capacity)
    return `invalid grain at sector ${place}: ${length} bytes for sector ${first} of ${capacity}`;
  const sectors = Math.ceil((GRAIN_MARKER + length) / SECTOR);
  const whole = Buffer.allocUnsafe(sectors * SECTOR);
  sector.copy(whole);
  if (sectors > 1)
    yield { room: whole.subarray(SECTOR), ifEnded: `ends inside the grain at sector ${place}` };
  const bytes = inflateGrain(whole.subarray(GRAIN_MARKER, GRAIN_MARKER + length), grainBytes);
  if (typeof bytes === 'string') return `damaged grain at sector ${place}: ${bytes}`;
  // The last grain of the disk may be a part of one.
  if (bytes < Math.min(grainSize, capacity - first) * SECTOR)
    return `damaged grain at sector ${place}: unpacks to ${bytes} bytes`;
  return { kind: 'grain', sectors, first, bytes };
}

/** @param sector the one in front of the content of the marker */
function* readMarker(
  sector: Buffer,
  place: number,
  layout: GrainLayout,
): Generator<Request, Marker | string> {
  const announced = Number(sector.readBigUInt64LE(0));
  const type = sector.readUInt32LE(12);
  const sectors = contentSectors(type, layout.header);
  // Some programs announce no content of a footer.
  if (sectors === null || (sectors !== announced && type !== FOOTER))
    return `unknown marker at sector ${place}`;
  const lastSector = yield* skip(sectors, `ends after the marker at sector ${place}`);
  const isNeeded = type === FOOTER && layout.header.grainDirectory === 'in footer';
  if (isNeeded && !repeatsHeader(lastSector, layout.head)) return OTHER_FOOTER;
  return { kind: 'marker', sectors: 1 + sectors, type };
}

/** Returns the sectors of content of a marker, or null if its type is unknown. */
function contentSectors(type: number, header: SparseHeader): number | null {
  const { capacity, grainSize, tableEntries } = header;
  const sectorsOf = (entries: number) => Math.ceil((entries * 4) / SECTOR);
  if (type === END_OF_STREAM || type === PROGRESS) return 0;
  if (type === FOOTER) return 1;
  if (type === GRAIN_TABLE) return sectorsOf(tableEntries);
  if (type !== GRAIN_DIRECTORY) return null;
  return sectorsOf(Math.ceil(capacity / grainSize / tableEntries));
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
