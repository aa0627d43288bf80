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

/** Types of markers. VMware writes PROGRESS, without content, to show progress. */
const END_OF_STREAM = 0;
const GRAIN_TABLE = 1;
const GRAIN_DIRECTORY = 2;
const FOOTER = 3;
const PROGRESS = 4;

/**
 * Reads a stream-optimised disk. Behind header and descriptor are parts, which begin at a sector:
 *
 *     grain   its first sector on the disk (8 bytes), its length, not 0 (4), its packed data
 *     marker  sectors of content (8), 0 (4), type (4); then the content, from the next sector on
 *
 * If only a footer says where the grain directory is, the last parts are FOOTER and END_OF_STREAM.
 */
export class GrainReader implements ByteCheck {
  readonly #layout: GrainLayout;
  readonly #maxBytes: number;
  readonly #needsFooter: boolean;
  /** Sectors of content of each type of marker. */
  readonly #contents: ReadonlyMap<number, number>;
  readonly #seen = new GrainSum();
  /** The first sector of a part, or the last of the content of a marker. */
  readonly #sector = Buffer.alloc(SECTOR);
  /** Where the part begins, in sectors. */
  #place: number;
  /** What the last part was; an end only right behind a footer. */
  #last: 'footer' | 'end' | 'other' = 'other';
  #unpacked = 0;
  readonly #parts: Generator<Request, string>;
  #step: IteratorResult<Request, string>;
  #filled = 0;

  constructor(layout: GrainLayout, maxBytes: number) {
    const { capacity, grainSize, tableEntries, grainDirectory } = layout.header;
    const sectorsOf = (entries: number) => Math.ceil((entries * 4) / SECTOR);
    this.#contents = new Map([
      [END_OF_STREAM, 0],
      [GRAIN_TABLE, sectorsOf(tableEntries)],
      [GRAIN_DIRECTORY, sectorsOf(Math.ceil(capacity / grainSize / tableEntries))],
      [FOOTER, 1],
      [PROGRESS, 0],
    ]);
    this.#layout = layout;
    this.#maxBytes = maxBytes;
    this.#needsFooter = grainDirectory === 'in footer';
    this.#place = layout.start;
    this.#parts = this.#readParts();
    this.#step = this.#parts.next();
  }

  update(chunk: Buffer): void {
    for (let at = 0; !this.#step.done && at < chunk.length; ) {
      const { room } = this.#step.value;
      const copied = chunk.copy(room, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled < room.length) return;
      this.#filled = 0;
      this.#step = this.#parts.next();
    }
  }

  end(): string | null {
    // The last sector need not be whole.
    this.update(Buffer.alloc(Math.ceil(this.#filled / SECTOR) * SECTOR - this.#filled));
    if (this.#step.done) return this.#step.value;
    const { ifEnded } = this.#step.value;
    if (ifEnded !== null) return ifEnded;
    const { sum } = this.#layout;
    return sum && !sum.equals(this.#seen) ? 'its grain tables do not fit its grains' : null;
  }

  /** Yields what it needs to read. Returns what is wrong. */
  *#readParts(): Generator<Request, string> {
    yield* this.#skip(this.#layout.start, 'ends before its grains');
    for (;;) {
      const mayEnd = !this.#needsFooter || this.#last === 'end';
      const ifEnded = mayEnd ? null : 'does not end with a footer and the end of the stream';
      yield { room: this.#sector, ifEnded };
      const isGrain = this.#sector.readUInt32LE(8) > 0;
      const problem = isGrain ? yield* this.#readGrain() : yield* this.#readMarker();
      if (problem !== null) return problem;
    }
  }

  *#readGrain(): Generator<Request, string | null> {
    const { capacity, grainSize } = this.#layout.header;
    const grainBytes = grainSize * SECTOR;
    const first = Number(this.#sector.readBigUInt64LE(0));
    const length = this.#sector.readUInt32LE(8);
    const place = `at sector ${this.#place}`;
    if (length > 2 * grainBytes || first % grainSize !== 0 || first >= capacity)
      return `invalid grain ${place}: ${length} bytes for sector ${first} of ${capacity}`;
    const sectors = Math.ceil((GRAIN_MARKER + length) / SECTOR);
    const part = Buffer.allocUnsafe(sectors * SECTOR);
    this.#sector.copy(part);
    if (sectors > 1)
      yield { room: part.subarray(SECTOR), ifEnded: `ends inside the grain ${place}` };
    const unpacked = inflateGrain(part.subarray(GRAIN_MARKER, GRAIN_MARKER + length), grainBytes);
    if (typeof unpacked === 'string') return `damaged grain ${place}: ${unpacked}`;
    // The last grain of the disk may be a part of one.
    if (unpacked < Math.min(grainSize, capacity - first) * SECTOR)
      return `damaged grain ${place}: unpacks to ${unpacked} bytes`;
    this.#unpacked += unpacked;
    if (this.#unpacked > this.#maxBytes) return `unpacks to more than ${this.#maxBytes} bytes`;
    this.#seen.add(first / grainSize, this.#place);
    this.#place += sectors;
    this.#last = 'other';
    return null;
  }

  *#readMarker(): Generator<Request, string | null> {
    const announced = Number(this.#sector.readBigUInt64LE(0));
    const type = this.#sector.readUInt32LE(12);
    const sectors = this.#contents.get(type);
    // Some programs announce no content of a footer.
    if (sectors === undefined || (sectors !== announced && type !== FOOTER))
      return `unknown marker at sector ${this.#place}`;
    yield* this.#skip(sectors, `ends after the marker at sector ${this.#place}`);
    const isNeeded = type === FOOTER && this.#needsFooter;
    if (isNeeded && !repeatsHeader(this.#sector, this.#layout.head)) return OTHER_FOOTER;
    this.#place += 1 + sectors;
    const isEnd = type === END_OF_STREAM && this.#last === 'footer';
    this.#last = isEnd ? 'end' : 'other';
    if (type === FOOTER) this.#last = 'footer';
    return null;
  }

  *#skip(sectors: number, ifEnded: string): Generator<Request, void> {
    const request = { room: this.#sector, ifEnded };
    for (let skipped = 0; skipped < sectors; skipped += 1) yield request;
  }
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
