// Reads a list by id, some pages at a time. A page number means something else as soon as the list changes, an id does
// not: each image that stays in the list is seen exactly once, whatever comes or goes meanwhile.

import type { ImagePage } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { readValue } from '../query/fields.ts';

/** Why a list cannot be read by id. */
export class NotByIdError extends Error {}

/**
 * Yields the images of a list as they come, the highest id first, and how many the service says are below.
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
  let missing = wanted;
  for (;;) {
    for (const taken of segments.take()) {
      missing -= taken.images.length;
      // The next pages are on their way while the caller uses these.
      if (missing > 0) segments.request(missing);
      yield taken;
    }
    if (segments.isAtEnd) return;
    segments.request(missing);
    await segments.arrival();
  }
}

/** True if the service says that its list has no more images than this page. */
export function isWhole({ images, total, pages, hasNext }: ImagePage): boolean {
  return images.length >= total && pages <= 1 && !hasNext;
}

export function idOf(image: ReceivedImage): number {
  return Number(readValue(image, 'id') ?? Number.NaN);
}

/** True for whole numbers below the bound, the highest first, each once. */
export function areDescending(ids: readonly number[], bound = Number.POSITIVE_INFINITY): boolean {
  return ids.every((id, at) => Number.isSafeInteger(id) && id < (ids[at - 1] ?? bound));
}

/** The part of a page that a segment is cut to hold, so that few segments need a second request. */
const FILLED = 0.9;

/** The images below `bound`. */
interface Segment {
  readonly bound: number;
  /** Number of ids that it was cut to have; undefined for the first page. */
  readonly width?: number;
  /** Its last id: an estimate until its page has come; -Infinity at the end of the list. */
  end: number;
  page?: ImagePage;
  ids?: readonly number[];
}

/** Cuts the ids that are left into segments of about a page, by the density of those seen so far, and reads some at a time. */
class Segments {
  readonly #readBelow: (bound: number) => Promise<ImagePage>;
  readonly #connections: number;
  readonly #size: number;
  /** Everything from here up was taken. */
  #low = Number.POSITIVE_INFINITY;
  /** Number of images below. */
  #left: number;
  /** The segments that are not taken yet, the highest ids first. */
  #ahead: Segment[] = [];
  readonly #arrivals = new Set<Promise<void>>();
  /** Number of requests at a time. Where ids lie in clusters, all would return the same page. */
  #parallel: number;
  /** Number of ids seen, and the width of the ranges that they were in. */
  #seen = 0;
  #range = 0;

  constructor(
    first: ImagePage,
    readBelow: (bound: number) => Promise<ImagePage>,
    connections: number,
  ) {
    this.#readBelow = readBelow;
    this.#connections = connections;
    this.#parallel = connections;
    this.#size = Math.max(1, first.images.length);
    this.#left = first.total;
    const all: Segment = { bound: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
    this.#ahead.push(all);
    this.#fill(all, first);
  }

  get isAtEnd(): boolean {
    return this.#low === Number.NEGATIVE_INFINITY;
  }

  /** Resolves when a page has come. @throws NotByIdError; what readBelow throws */
  arrival(): Promise<void> {
    return Promise.race(this.#arrivals);
  }

  /** Yields the images that now follow those that were taken, without a gap. */
  *take() {
    for (;;) {
      const low = this.#low;
      const next = this.#ahead.find(({ page, bound, end }) => page && bound >= low && end < low);
      if (next?.page === undefined) return;
      const { page, ids = [], end } = next;
      this.#low = end;
      this.#left = page.total - ids.length;
      this.#ahead = this.#ahead.filter((segment) => segment.end < end);
      const known = ids.filter((id) => id >= low).length;
      yield { images: page.images.slice(known), below: this.#left, bytes: page.bytes };
    }
  }

  /** Requests the next segments, at most as many as it takes for `needed` images. */
  request(needed: number): void {
    const pages = Math.ceil(Math.min(this.#left, needed) / this.#size);
    const maxAhead = Math.min(2 * this.#connections, pages);
    for (const segment of this.#segmentsOfGaps()) {
      const isFull = this.#arrivals.size >= this.#parallel || this.#ahead.length >= maxAhead;
      if (isFull && !this.#isUrgent(segment.bound)) return;
      this.#start(segment);
    }
  }

  /** True for the segment that follows the images taken: nothing goes on without it. */
  #isUrgent(bound: number): boolean {
    return bound === this.#low;
  }

  /** Yields the segments that the gaps are cut into, from the top. */
  *#segmentsOfGaps(): Generator<Segment, void, void> {
    const width = this.#width();
    for (const { top, bottom } of this.#gaps()) {
      let bound = top;
      while (bound > bottom) {
        // A database may not take a number that no image has; but some ids may be negative.
        if (bound <= 0 && !this.#isUrgent(bound)) return;
        const end = Math.max(bound - width, bottom);
        yield { bound, width, end };
        bound = end;
      }
    }
  }

  /** Returns what is below the images taken and in no segment, from the top. */
  #gaps() {
    const gaps: { top: number; bottom: number }[] = [];
    let top = this.#low;
    for (const { bound, end } of [...this.#ahead, REST]) {
      if (top > bound) gaps.push({ top, bottom: bound });
      top = Math.min(top, end);
    }
    return gaps;
  }

  /** Returns how many ids a segment has. */
  #width(): number {
    const idsPerImage = this.#range / this.#seen;
    // As many ids as a page has images fit into one in any case.
    return Math.max(this.#size, Math.floor(FILLED * this.#size * idsPerImage));
  }

  #start(segment: Segment): void {
    this.#ahead.push(segment);
    this.#ahead.sort((one, other) => other.bound - one.bound);
    const arrival = this.#readBelow(segment.bound).then((page) => {
      this.#fill(segment, page);
      this.#arrivals.delete(arrival);
    });
    this.#arrivals.add(arrival);
    // A failed one stays, and is thrown when it is awaited.
    arrival.catch(() => {});
  }

  #fill(segment: Segment, page: ImagePage): void {
    const ids = page.images.map(idOf);
    if (!areDescending(ids, segment.bound)) {
      const isFirst = segment.width === undefined;
      throw new NotByIdError(`the service does not ${isFirst ? 'sort' : 'filter'} by id`);
    }
    const end = isWhole(page) ? Number.NEGATIVE_INFINITY : ids.at(-1);
    // An empty page that says that there are images leads nowhere.
    if (end === undefined) throw new NotByIdError('the service does not filter by id');
    Object.assign(segment, { end, page, ids });
    if (end !== Number.NEGATIVE_INFINITY) this.#learnDensity(segment, ids);
  }

  #learnDensity({ bound, width, end }: Segment, ids: readonly number[]): void {
    const [highest = end] = ids;
    const top = Number.isFinite(bound) ? bound : highest + 1;
    this.#seen += ids.length;
    this.#range += top - end;
    const isSparse = width !== undefined && end < bound - 2 * width;
    this.#parallel = isSparse ? 1 : Math.min(this.#connections, this.#parallel + 1);
  }
}

const REST = { bound: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
