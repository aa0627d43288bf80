// Reads a list by id, some pages at a time. A page number means something else as soon as the list
// changes, an id does not: each image that stays is seen exactly once, whatever changes meanwhile.

import type { ImagePage } from '../api/images.ts';
import { ID_ORDER } from './first-pages.ts';
import { areDescending, idOf } from './ids.ts';
import { isEcho, isWhole } from './page.ts';

/** Why a list cannot be read by id. */
export class NotByIdError extends Error {}

/** Sends the requests. */
interface Reader {
  /** Number of requests at a time. */
  readonly connections: number;
  /** Returns the first page of the images below an id. */
  requestBelow(bound: number): Promise<ImagePage>;
}

export interface TakenPage extends Pick<ImagePage, 'images' | 'bytes'> {
  /** Number of images with lower ids, as the service says. */
  readonly countBelow: number;
}

/**
 * Yields the images of a list, the highest id first, a page at a time, until it has yielded as many
 * as the caller needs.
 * @param first the first page
 * @throws NotByIdError; what the reader throws
 */
export async function* pagesById(first: ImagePage, reader: Reader, mostRead: number) {
  if (!isEcho(ID_ORDER, first.meta.sort)) throw new NotByIdError('the service does not sort by id');
  const segments = new Segments(first, reader);
  let needed = mostRead;
  for (;;) {
    const page = await segments.take();
    needed -= page.images.length;
    const isLast = segments.isAtEnd || needed <= 0;
    // The next pages are on their way while the caller uses this one.
    if (!isLast) segments.requestAhead(Math.min(page.countBelow, needed));
    yield page;
    if (isLast) return;
  }
}

/** Lower than all ids, so that the last page covers all segments. */
const END_OF_LIST = -Infinity;

/** The ids below `bound` and down to `end`, and the page of them, which has been requested. */
interface Segment {
  /** Infinity for the first page. */
  readonly bound: number;
  /** Infinity for the first page, as nobody knows where it ends. */
  readonly end: number;
  readonly arrival: Promise<ImagePage>;
}

/**
 * Cuts the ids that are left into segments of about a page, by the density of the ids seen so far,
 * and requests some at a time. A segment begins where the one before ends, and they are taken in
 * this order:
 *
 *     ids   700 and higher | 699 ... 610 | 609 ... 520 | 519 and lower
 *           taken            segment       segment       not cut yet
 *
 *     the page of 699 ... 610 ends with
 *     650: more images than expected   649 ... 610 is requested, and taken before 609 ... 520
 *     580: fewer                       609 ... 520 is taken next, without its images from 580 on
 *     500: far fewer                   609 ... 520 is dropped, and one request at a time is sent
 */
class Segments {
  readonly #reader: Reader;
  readonly #density: Density;
  #ahead: readonly Segment[];
  /** All images from this id on were taken. */
  #takenDownTo = Infinity;
  /** Number of requests at a time: few where ids lie in clusters, as all may return one page. */
  #parallel: number;

  constructor(first: ImagePage, reader: Reader) {
    this.#reader = reader;
    this.#parallel = reader.connections;
    this.#density = new Density(first);
    this.#ahead = [{ bound: Infinity, end: Infinity, arrival: Promise.resolve(first) }];
  }

  get isAtEnd(): boolean {
    return this.#takenDownTo === END_OF_LIST;
  }

  /** Returns the images that follow those taken. @throws NotByIdError; what the reader throws */
  async take(): Promise<TakenPage> {
    const [segment, ...others] = this.#ahead;
    if (segment === undefined) throw new Error('no segment was requested');
    const page = await segment.arrival;
    requireDescending(page, segment.bound);
    // Of 609 ... 520, those from 580 on were taken with the page before.
    const images = page.images.filter((image) => idOf(image) < this.#takenDownTo);
    // If images came in between, a page may end before the one that was taken before it.
    const takenDownTo = Math.min(this.#takenDownTo, this.#lowestOf(page, segment.bound));
    this.#takenDownTo = takenDownTo;
    this.#ahead = others.filter(({ end }) => end < takenDownTo);
    return { images, countBelow: page.total - page.images.length, bytes: page.bytes };
  }

  /** Returns the id down to which the page has all images below the bound. */
  #lowestOf(page: ImagePage, bound: number): number {
    if (isWhole(page)) return END_OF_LIST;
    const ids = page.images.map(idOf);
    const lowest = ids.at(-1);
    if (lowest === undefined) throw new NotByIdError('an empty page announces images');
    this.#learn(ids, bound, lowest);
    return lowest;
  }

  /** Requests what is taken next, and more segments, but no more than so many images need. */
  requestAhead(images: number): void {
    const ahead = [...this.#ahead];
    const [next] = ahead;
    // 649 ... 610 is left in front of 609 ... 520.
    const hasGap = next !== undefined && next.bound < this.#takenDownTo;
    if (hasGap) ahead.unshift(this.#request(this.#takenDownTo, next.bound));
    const most = Math.min(this.#parallel, Math.ceil(images / this.#density.pageSize));
    let bound = ahead.at(-1)?.end ?? this.#takenDownTo;
    // Only what is taken next may be negative: ids may be, but a database may refuse such a number.
    while (ahead.length === 0 || (ahead.length < most && bound > 0)) {
      const end = bound - this.#density.width;
      ahead.push(this.#request(bound, end));
      bound = end;
    }
    this.#ahead = ahead;
  }

  #request(bound: number, end: number): Segment {
    const arrival = this.#reader.requestBelow(bound);
    // The error is thrown when the segment is taken, if it ever is.
    arrival.catch(() => {});
    return { bound, end, arrival };
  }

  /** Learns from a page with all ids below the bound and down to its lowest. */
  #learn(ids: readonly number[], bound: number, lowest: number): void {
    const [highest = lowest] = ids;
    const isFirst = bound === Infinity;
    const span = (isFirst ? highest + 1 : bound) - lowest;
    // A page that reaches two segments far shows that a cluster lies behind it.
    const isSparse = !isFirst && span > 2 * this.#density.width;
    this.#parallel = isSparse ? 1 : Math.min(this.#reader.connections, this.#parallel + 1);
    this.#density.learn(ids.length, span);
  }
}

/** @throws NotByIdError: the ids are not below the bound, or not sorted */
function requireDescending({ images }: ImagePage, bound: number): void {
  if (areDescending(images.map(idOf), bound)) return;
  const verb = bound === Infinity ? 'sort' : 'filter';
  throw new NotByIdError(`the service does not ${verb} by id`);
}

/** The part of a page that a segment is cut to fill, so that few segments need a second request. */
const FILLED = 0.9;

/** How many ids a segment has, by the pages seen so far. */
class Density {
  /** Number of images on a page. */
  readonly pageSize: number;
  #images = 0;
  #span = 0;

  constructor({ images }: ImagePage) {
    this.pageSize = Math.max(1, images.length);
  }

  /** @param span of the ids of these images: 10 from 699 to 690, whether or not all are there */
  learn(images: number, span: number): void {
    this.#images += images;
    this.#span += span;
  }

  /** The span in which about `FILLED` of a page of images lie. */
  get width(): number {
    const spanOfImage = this.#span / this.#images;
    return Math.max(this.pageSize, Math.floor(FILLED * this.pageSize * spanOfImage));
  }
}
