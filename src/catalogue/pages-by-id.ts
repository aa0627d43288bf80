// Reads a list by id, some pages at a time. A page number means something else as soon as the list changes, an id does
// not: each image that stays in the list is seen exactly once, whatever comes or goes meanwhile.

import type { ImagePage } from '../api/images.ts';
import { areDescending, idOf } from './ids.ts';
import { isWhole } from './read-page.ts';

/** Why a list cannot be read by id. */
export class NotByIdError extends Error {}

/**
 * Yields the images of a list as they come, the highest id first, with their ids, and how many the service says are below.
 * @param first the first page @param readBelow returns the first page of those below an id
 * @param wanted number of images after which the caller stops
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
    for (const taken of segments.takeReady()) {
      stillWanted -= taken.images.length;
      // The next pages are on their way while the caller uses these.
      if (stillWanted > 0) segments.requestNext(stillWanted);
      yield taken;
    }
    if (segments.isAtEnd) return;
    segments.requestNext(stillWanted);
    await segments.arrival();
  }
}

/** The part of a page that a segment is cut to hold, so that few segments need a second request. */
const FILLED = 0.9;

const END_OF_LIST = Number.NEGATIVE_INFINITY;

/** The ids below `bound` and down to `end`, which one page is to hold. */
interface Segment {
  readonly bound: number;
  /** Number of ids that segments were cut to have when it was requested; undefined for the first page. */
  readonly width?: number;
  /** The last id of its page, or END_OF_LIST. An estimate until the page has come. */
  end: number;
  page?: ImagePage;
  ids?: readonly number[];
}

/**
 * Cuts the ids that are left into segments of about a page, by the density of those seen so far, and reads some at a time:
 *
 *     ids      ... 700 | 699 ... 610 | 609 ... 520 | 519 ... 430 | 429 ... 1
 *              yielded   gap           page          page          gap
 *
 * The gap below 700 is requested next, and yielded with the two pages behind it; the gap below 430 is cut into segments. A
 * page that ends before its segment leaves a gap; one that ends behind it covers a part of the next. A segment without a
 * page has a request among the arrivals. What follows the images yielded is requested even if the others are as many as may
 * be at a time, so there is always an arrival to wait for.
 */
class Segments {
  readonly #readBelow: (bound: number) => Promise<ImagePage>;
  readonly #connections: number;
  readonly #pageSize: number;
  /** The lowest id of the images yielded. */
  #yieldedTo = Number.POSITIVE_INFINITY;
  /** Number of images below it, as the service says. */
  #below: number;
  /** The segments that are not yielded yet, the highest ids first. */
  #ahead: Segment[] = [];
  readonly #arrivals = new Set<Promise<void>>();
  /** Number of requests at a time. Where ids lie in clusters, all would return the same page. */
  #parallel: number;
  /** Number of images seen, and of the ids in the ranges that they were in. */
  #seenImages = 0;
  #seenIds = 0;

  constructor(
    first: ImagePage,
    readBelow: (bound: number) => Promise<ImagePage>,
    connections: number,
  ) {
    this.#readBelow = readBelow;
    this.#connections = connections;
    this.#parallel = connections;
    this.#pageSize = Math.max(1, first.images.length);
    this.#below = first.total;
    const top: Segment = { bound: Number.POSITIVE_INFINITY, end: END_OF_LIST };
    this.#ahead.push(top);
    this.#receive(top, first);
  }

  get isAtEnd(): boolean {
    return this.#yieldedTo === END_OF_LIST;
  }

  /** Resolves when a page has come. @throws NotByIdError; what readBelow throws */
  arrival(): Promise<void> {
    return Promise.race(this.#arrivals);
  }

  /** Yields the images of the pages that follow those yielded, up to the first gap. */
  *takeReady() {
    for (;;) {
      const low = this.#yieldedTo;
      const next = this.#ahead.find(({ page, bound, end }) => page && bound >= low && end < low);
      if (next?.page === undefined) return;
      const { page, ids = [], end } = next;
      this.#yieldedTo = end;
      this.#below = page.total - ids.length;
      this.#ahead = this.#ahead.filter((segment) => segment.end < end);
      // The page before may have reached into this segment.
      const repeated = ids.filter((id) => id >= low).length;
      yield {
        images: page.images.slice(repeated),
        ids: ids.slice(repeated),
        below: this.#below,
        bytes: page.bytes,
      };
    }
  }

  /** Requests the next segments, at most as many as it takes for the images that are wanted. */
  requestNext(wanted: number): void {
    const pages = Math.ceil(Math.min(this.#below, wanted) / this.#pageSize);
    const maxAhead = Math.min(2 * this.#connections, pages);
    for (const segment of this.#segmentsOfGaps()) {
      const isFull = this.#arrivals.size >= this.#parallel || this.#ahead.length >= maxAhead;
      if (isFull && !this.#isNext(segment.bound)) return;
      this.#start(segment);
    }
  }

  /** True for the segment that follows the images yielded: nothing goes on without it. */
  #isNext(bound: number): boolean {
    return bound === this.#yieldedTo;
  }

  /** Yields the segments that the gaps are cut into, from the top. */
  *#segmentsOfGaps(): Generator<Segment, void, void> {
    const width = this.#segmentWidth();
    for (const { top, bottom } of this.#gaps()) {
      let bound = top;
      while (bound > bottom) {
        // A database may refuse a negative number. As ids may be negative, what comes next is requested all the same.
        if (bound <= 0 && !this.#isNext(bound)) return;
        const end = Math.max(bound - width, bottom);
        yield { bound, width, end };
        bound = end;
      }
    }
  }

  /** Returns the ids that are neither yielded nor in a segment, from the top. */
  #gaps() {
    const gaps: { top: number; bottom: number }[] = [];
    let top = this.#yieldedTo;
    for (const { bound, end } of this.#ahead) {
      if (bound < top) gaps.push({ top, bottom: bound });
      top = Math.min(top, end);
    }
    if (top !== END_OF_LIST) gaps.push({ top, bottom: END_OF_LIST });
    return gaps;
  }

  /** Returns the number of ids in which about `FILLED` of a page of images lie, but no fewer than a page has images. */
  #segmentWidth(): number {
    const idsPerImage = this.#seenIds / this.#seenImages;
    return Math.max(this.#pageSize, Math.floor(FILLED * this.#pageSize * idsPerImage));
  }

  #start(segment: Segment): void {
    this.#ahead.push(segment);
    this.#ahead.sort((one, other) => other.bound - one.bound);
    const arrival = this.#readBelow(segment.bound).then((page) => {
      this.#receive(segment, page);
      this.#arrivals.delete(arrival);
    });
    this.#arrivals.add(arrival);
    // A failed request stays among the arrivals, so the next arrival() throws its error.
    arrival.catch(() => {});
  }

  /** @throws NotByIdError: the page cannot be that of this segment */
  #receive(segment: Segment, page: ImagePage): void {
    const ids = page.images.map(idOf);
    if (!areDescending(ids, segment.bound)) {
      const isFirst = segment.width === undefined;
      throw new NotByIdError(`the service does not ${isFirst ? 'sort' : 'filter'} by id`);
    }
    const end = isWhole(page) ? END_OF_LIST : ids.at(-1);
    // An empty page that says that there are images leads nowhere.
    if (end === undefined) throw new NotByIdError('the service does not filter by id');
    Object.assign(segment, { end, page, ids });
    if (end !== END_OF_LIST) this.#learnDensity(segment, ids);
  }

  #learnDensity({ bound, width, end }: Segment, ids: readonly number[]): void {
    const [highest = end] = ids;
    const top = Number.isFinite(bound) ? bound : highest + 1;
    this.#seenImages += ids.length;
    this.#seenIds += top - end;
    const isSparse = width !== undefined && end < bound - 2 * width;
    this.#parallel = isSparse ? 1 : Math.min(this.#connections, this.#parallel + 1);
  }
}
