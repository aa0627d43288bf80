// Reads a list by id, some pages at a time. A page number means something else as soon as the list
// changes, an id does not: each image that stays is seen exactly once, whatever changes meanwhile.

import type { ImagePage } from '../api/images.ts';
import { areDescending, idOf } from './ids.ts';
import { isWhole } from './page.ts';

/** Why a list cannot be read by id. */
export class NotByIdError extends Error {}

/**
 * Yields the images of a list, the highest id first, a page at a time, until it has yielded as many
 * as are wanted.
 * @param first the first page @param readBelow returns the first page of the images below an id
 * @throws NotByIdError; what readBelow throws
 */
export async function* pagesById(
  first: ImagePage,
  readBelow: (bound: number) => Promise<ImagePage>,
  { connections, wanted }: { readonly connections: number; readonly wanted: number },
) {
  const segments = new Segments(first, readBelow, connections);
  let stillWanted = wanted;
  for (;;) {
    const page = await segments.take();
    stillWanted -= page.images.length;
    const isLast = segments.isAtEnd || stillWanted <= 0;
    // The next pages are on their way while the caller uses this one.
    if (!isLast) segments.requestAhead(Math.min(page.left, stillWanted));
    yield page;
    if (isLast) return;
  }
}

/** The part of a page that a segment is cut to fill, so that few segments need a second request. */
const FILLED = 0.9;

const END_OF_LIST = -Infinity;

/** The ids below `bound` and down to `end`, and the page of them, which has been requested. */
interface Segment {
  readonly bound: number;
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
  readonly #readBelow: (bound: number) => Promise<ImagePage>;
  readonly #connections: number;
  readonly #density: Density;
  #ahead: readonly Segment[];
  /** All images from this id on were taken. */
  #takenDownTo = Infinity;
  /** Number of requests at a time. Where ids lie in clusters, all would return the same page. */
  #parallel: number;

  constructor(
    first: ImagePage,
    readBelow: (bound: number) => Promise<ImagePage>,
    connections: number,
  ) {
    this.#readBelow = readBelow;
    this.#connections = connections;
    this.#parallel = connections;
    this.#density = new Density(first);
    this.#ahead = [{ bound: Infinity, end: Infinity, arrival: Promise.resolve(first) }];
  }

  get isAtEnd(): boolean {
    return this.#takenDownTo === END_OF_LIST;
  }

  /** Returns the images that follow those taken. @throws NotByIdError; what readBelow throws */
  async take() {
    const [segment, ...others] = this.#ahead;
    if (segment === undefined) throw new Error('no segment was requested');
    const { bound } = segment;
    const page = await segment.arrival;
    const { ids, end } = readIds(page, bound);
    if (end !== END_OF_LIST) {
      // The first page has no bound. Another that reaches two segments far shows a cluster behind it.
      const isSparse = bound - end > 2 * this.#density.width && Number.isFinite(bound);
      this.#parallel = isSparse ? 1 : Math.min(this.#connections, this.#parallel + 1);
      this.#density.learn(ids, bound, end);
    }
    const repeated = ids.filter((id) => id >= this.#takenDownTo).length;
    const takenDownTo = Math.min(this.#takenDownTo, end);
    this.#takenDownTo = takenDownTo;
    this.#ahead = others.filter((other) => other.end < takenDownTo);
    return {
      images: page.images.slice(repeated),
      ids: ids.slice(repeated),
      /** Number of images with lower ids, as the service says. */
      left: page.total - ids.length,
      bytes: page.bytes,
    };
  }

  /** Requests what is taken next, and more segments, but no more than so many images need. */
  requestAhead(images: number): void {
    const mostAhead = Math.min(this.#parallel, Math.ceil(images / this.#density.pageSize));
    const ahead = [...this.#ahead];
    const [next] = ahead;
    const hasGap = next !== undefined && next.bound < this.#takenDownTo;
    if (hasGap) ahead.unshift(this.#request(this.#takenDownTo, next.bound));
    let bound = ahead.at(-1)?.end ?? this.#takenDownTo;
    // Only what is taken next may be negative: ids may be, but a database may refuse such a number.
    while (ahead.length === 0 || (ahead.length < mostAhead && bound > 0)) {
      const end = bound - this.#density.width;
      ahead.push(this.#request(bound, end));
      bound = end;
    }
    this.#ahead = ahead;
  }

  #request(bound: number, end: number): Segment {
    const arrival = this.#readBelow(bound);
    // The error is thrown when the segment is taken, if it ever is.
    arrival.catch(() => {});
    return { bound, end, arrival };
  }
}

/** How many ids a segment has, by the pages seen so far. */
class Density {
  /** Number of images on a page. */
  readonly pageSize: number;
  #images = 0;
  /** Number of ids between the bounds and the ends of the pages. */
  #ids = 0;

  constructor({ images }: ImagePage) {
    this.pageSize = Math.max(1, images.length);
  }

  /** @param bound above the page, Infinity for the first one @param end the lowest id of the page */
  learn(ids: readonly number[], bound: number, end: number): void {
    const [highest = end] = ids;
    this.#images += ids.length;
    this.#ids += (Number.isFinite(bound) ? bound : highest + 1) - end;
  }

  /** The number of ids in which about `FILLED` of a page of images lie. */
  get width(): number {
    const idsPerImage = this.#ids / this.#images;
    return Math.max(this.pageSize, Math.floor(FILLED * this.pageSize * idsPerImage));
  }
}

/** Returns the ids of a page, and where they end. @throws NotByIdError: not below the bound */
function readIds(page: ImagePage, bound: number) {
  const ids = page.images.map(idOf);
  if (!areDescending(ids, bound)) {
    const verb = Number.isFinite(bound) ? 'filter' : 'sort';
    throw new NotByIdError(`the service does not ${verb} by id`);
  }
  const end = isWhole(page) ? END_OF_LIST : ids.at(-1);
  // An empty page that says that there are images leads nowhere.
  if (end === undefined) throw new NotByIdError('the service does not filter by id');
  return { ids, end };
}
