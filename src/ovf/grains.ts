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
  /** The first sector of the file that may be a grain or a marker. */
  readonly start: number;
  /** Of the grain tables; null if they cannot be read before. */
  readonly sum: GrainSum | null;
}

/** Adds up which grain is where, in any order: the tables and the grains must have the same sum. */
export class GrainSum {
  count = 0;
  /** The first sector of the file with a grain; Infinity without a grain. */
  first = Number.POSITIVE_INFINITY;
  /** The last sector of the file where a grain begins; 0 without a grain. */
  last = 0;
  /** The number of that grain on the disk. */
  lastGrain = 0;
  #sum = 0n;

  add(grain: number, fileSector: number): void {
    this.count += 1;
    this.first = Math.min(this.first, fileSector);
    if (fileSector > this.last) {
      this.last = fileSector;
      this.lastGrain = grain;
    }
    this.#sum += BigInt(grain + 1) * BigInt(fileSector);
  }

  equals(other: GrainSum): boolean {
    return this.count === other.count && this.#sum === other.#sum;
  }
}

/** What the parser wants to read next. */
interface Wanted {
  /** To be filled with the next bytes of the file. */
  readonly buffer: Buffer;
  /** What is wrong if the file ends before it is full; null if the file may end there. */
  readonly ifFileEnds: string | null;
}

/**
 * Reads a stream-optimised disk. The bytes come in chunks of any size, so the control is inverted:
 * readParts is the parser, which yields a buffer when it needs bytes, and goes on when this class
 * has filled the buffer from the chunks.
 */
export class GrainReader implements ByteCheck {
  readonly #parser: Generator<Wanted, string>;
  /** The buffer that is being filled, or what is wrong. */
  #step: IteratorResult<Wanted, string>;
  #filled = 0;

  constructor(layout: GrainLayout, maxBytes: number) {
    this.#parser = readParts(layout, maxBytes);
    this.#step = this.#parser.next();
  }

  update(chunk: Buffer): void {
    for (let at = 0; !this.#step.done && at < chunk.length; ) {
      const { buffer } = this.#step.value;
      const copied = chunk.copy(buffer, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled < buffer.length) return;
      this.#filled = 0;
      this.#step = this.#parser.next();
    }
  }

  end(): string | null {
    // The last sector need not be whole.
    this.update(Buffer.alloc(Math.ceil(this.#filled / SECTOR) * SECTOR - this.#filled));
    return this.#step.done ? this.#step.value : this.#step.value.ifFileEnds;
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
  readonly fileSectors: number;
  /** Its first sector on the disk. */
  readonly diskSector: number;
  /** Bytes that it unpacks to. */
  readonly bytes: number;
}

interface Marker {
  readonly kind: 'marker';
  /** Sectors that it takes in the file, with its content. */
  readonly fileSectors: number;
  readonly type: number;
}

/** What the last part was; the end of the stream counts only right after a footer. */
type Last = 'footer' | 'end' | 'other';

/**
 * Yields what it wants to read, and returns what is wrong. Behind header and descriptor are parts,
 * which begin at a sector:
 *
 *     grain   its first sector on the disk (8 bytes), its length, not 0 (4), its packed data
 *     marker  sectors of content (8), 0 (4), type (4); then the content, from the next sector on
 *
 * If only a footer says where the grain directory is, the last parts are FOOTER and END_OF_STREAM.
 */
function* readParts(layout: GrainLayout, maxBytes: number): Generator<Wanted, string> {
  const { header, start } = layout;
  const seen = new GrainSum();
  let last: Last = 'other';
  let unpacked = 0;
  /** Where the part begins in the file. */
  let fileSector = start;
  yield* skip(start, 'ends before its grains');
  /** The bytes of the first sector of the part. */
  const firstSector = Buffer.alloc(SECTOR);
  for (;;) {
    yield { buffer: firstSector, ifFileEnds: endProblem(layout, last, seen) };
    const isGrain = firstSector.readUInt32LE(8) > 0;
    const part = isGrain
      ? yield* readGrain(firstSector, fileSector, header)
      : yield* readMarker(firstSector, fileSector, layout);
    if (typeof part === 'string') return part;
    if (part.kind === 'grain') {
      unpacked += part.bytes;
      if (unpacked > maxBytes) return `unpacks to more than ${maxBytes} bytes`;
      seen.add(part.diskSector / header.grainSize, fileSector);
    }
    last = lastAfter(part, last);
    fileSector += part.fileSectors;
  }
}

/** Returns the last of the sectors. */
function* skip(sectors: number, ifFileEnds: string): Generator<Wanted, Buffer> {
  const wanted = { buffer: Buffer.alloc(SECTOR), ifFileEnds };
  for (let skipped = 0; skipped < sectors; skipped += 1) yield wanted;
  return wanted.buffer;
}

/** Returns what is wrong if the file ends after these parts. */
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

/** Reads the rest of a grain, and unpacks it. Returns what is wrong as a text. */
function* readGrain(
  firstSector: Buffer,
  fileSector: number,
  { capacity, grainSize }: SparseHeader,
): Generator<Wanted, Grain | string> {
  const grainBytes = grainSize * SECTOR;
  const diskSector = Number(firstSector.readBigUInt64LE(0));
  const length = firstSector.readUInt32LE(8);
  if (length > 2 * grainBytes || diskSector % grainSize !== 0 || diskSector >= capacity) {
    const what = `${length} bytes for sector ${diskSector} of ${capacity}`;
    return `invalid grain at sector ${fileSector}: ${what}`;
  }
  const fileSectors = Math.ceil((GRAIN_MARKER + length) / SECTOR);
  const whole = Buffer.allocUnsafe(fileSectors * SECTOR);
  firstSector.copy(whole);
  if (fileSectors > 1) {
    const ifFileEnds = `ends inside the grain at sector ${fileSector}`;
    yield { buffer: whole.subarray(SECTOR), ifFileEnds };
  }
  const bytes = inflateGrain(whole.subarray(GRAIN_MARKER, GRAIN_MARKER + length), grainBytes);
  if (typeof bytes === 'string') return `damaged grain at sector ${fileSector}: ${bytes}`;
  // The last grain of the disk may be a part of one.
  if (bytes < Math.min(grainSize, capacity - diskSector) * SECTOR)
    return `damaged grain at sector ${fileSector}: unpacks to ${bytes} bytes`;
  return { kind: 'grain', fileSectors, diskSector, bytes };
}

/** Reads the content of a marker, which begins after its first sector. */
function* readMarker(
  firstSector: Buffer,
  fileSector: number,
  layout: GrainLayout,
): Generator<Wanted, Marker | string> {
  const announced = Number(firstSector.readBigUInt64LE(0));
  const type = firstSector.readUInt32LE(12);
  const sectors = contentSectors(type, layout.header);
  // Some programs announce no content of a footer.
  if (sectors === null || (sectors !== announced && type !== FOOTER))
    return `unknown marker at sector ${fileSector}`;
  const lastSector = yield* skip(sectors, `ends after the marker at sector ${fileSector}`);
  const isNeeded = type === FOOTER && layout.header.grainDirectory === 'in footer';
  if (isNeeded && !repeatsHeader(lastSector, layout.head)) return OTHER_FOOTER;
  return { kind: 'marker', fileSectors: 1 + sectors, type };
}

/** Returns the sectors of content of a marker, or null if its type is unknown. */
function contentSectors(type: number, header: SparseHeader): number | null {
  const { capacity, grainSize, tableEntries } = header;
  const sectorsOf = (entries: number) => Math.ceil((entries * 4) / SECTOR);
  switch (type) {
    case END_OF_STREAM:
    case PROGRESS:
      return 0;
    case FOOTER:
      return 1;
    case GRAIN_TABLE:
      return sectorsOf(tableEntries);
    case GRAIN_DIRECTORY:
      return sectorsOf(Math.ceil(capacity / grainSize / tableEntries));
    default:
      return null;
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
