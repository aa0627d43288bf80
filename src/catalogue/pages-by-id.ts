// Reads a list by id, some pages at a time. A page number means something else as soon as the list
// changes, an id does not: each image that stays is seen exactly once, whatever changes meanwhile.

import type { ImagePage } from '../api/images.ts';
import { SORT_BY_ID } from '../query/sort.ts';
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
  if (!isEcho(SORT_BY_ID, first.meta.sort))
    throw new NotByIdError('the service does not sort by id');
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

/** A range of ids of which a page has been requested, which may end above or below the range. */
interface Segment {
  /** Infinity for the first page. */
  readonly below: number;
  /** The lowest id that is expected on the page; Infinity for the first one. */
  readonly downTo: number;
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
    this.#ahead = [{ below: Infinity, downTo: Infinity, arrival: Promise.resolve(first) }];
  }

  get isAtEnd(): boolean {
    return this.#takenDownTo === END_OF_LIST;
  }

  /** Returns the images that follow those taken. @throws NotByIdError; what the reader throws */
  async take(): Promise<TakenPage> {
    const [segment] = this.#ahead;
    if (segment === undefined) throw new Error('no segment was requested');
    const page = await segment.arrival;
    requireDescending(page, segment.below);
    const lowest = lowestOf(page);
    if (lowest !== END_OF_LIST) this.#learn(page, segment.below, lowest);
    // Of 609 ... 520, those from 580 on were taken with the page before.
    const images = page.images.filter((image) => idOf(image) < this.#takenDownTo);
    this.#takeDownTo(lowest);
    return { images, countBelow: page.total - page.images.length, bytes: page.bytes };
  }

  /** Drops the segment that was taken, and others that it covers. */
  #takeDownTo(lowest: number): void {
    // If images came in between, the page may end above the one before it.
    this.#takenDownTo = Math.min(this.#takenDownTo, lowest);
    const [, ...others] = this.#ahead;
    this.#ahead = others.filter(({ downTo }) => downTo < this.#takenDownTo);
  }

  /** Requests what is taken next, and more segments, but no more than so many images need. */
  requestAhead(imagesNeeded: number): void {
    const ahead = [...this.#ahead];
    const [next] = ahead;
    // 649 ... 610 is left in front of 609 ... 520.
    const hasGap = next !== undefined && next.below < this.#takenDownTo;
    if (hasGap) ahead.unshift(this.#request(this.#takenDownTo, next.below));
    const most = Math.min(this.#parallel, Math.ceil(imagesNeeded / this.#density.pageSize));
    const lowest = () => ahead.at(-1)?.downTo ?? this.#takenDownTo;
    const cut = () => ahead.push(this.#request(lowest(), lowest() - this.#density.width));
    // Only what is taken next may be negative: ids may be, but a database may refuse such a number.
    if (ahead.length === 0) cut();
    while (ahead.length < most && lowest() > 0) cut();
    this.#ahead = ahead;
  }

  #request(below: number, downTo: number): Segment {
    const arrival = this.#reader.requestBelow(below);
    // The error is thrown when the segment is taken, if it ever is.
    arrival.catch(() => {});
    return { below, downTo, arrival };
  }

  /** Learns from a page that has all images below a number and down to its lowest id. */
  #learn({ images }: ImagePage, below: number, lowest: number): void {
    const [top = {}] = images;
    const ownSpan = idOf(top) + 1 - lowest;
    const span = below === Infinity ? ownSpan : below - lowest;
    // A page that reaches two segments far shows that a cluster lies behind it.
    const isSparse = below !== Infinity && span > 2 * this.#density.width;
    this.#parallel = isSparse ? 1 : Math.min(this.#reader.connections, this.#parallel + 1);
    // The gap before a cluster says nothing about what follows.
    this.#density.learn(images.length, isSparse ? ownSpan : span);
  }
}

/** Returns the id down to which the page has all images. @throws NotByIdError: it has none */
function lowestOf(page: ImagePage): number {
  if (isWhole(page)) return END_OF_LIST;
  const last = page.images.at(-1);
  if (last === undefined) throw new NotByIdError('an empty page announces images');
  return idOf(last);
}

/** @throws NotByIdError: the ids are not below the number, or not sorted */
function requireDescending({ images }: ImagePage, below: number): void {
  if (areDescending(images.map(idOf), below)) return;
  const verb = below === Infinity ? 'sort' : 'filter';
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
