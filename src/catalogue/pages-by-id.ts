// Reads a list by id, some pages at a time. A page number means something else as soon as the list changes, an id does
// not: each image that stays in the list is seen exactly once, whatever comes or goes meanwhile.

import type { ImagePage } from '../api/images.ts';
import { readValue } from '../query/fields.ts';

/** What one page says: which images there are below a bound, down to `end`. */
interface Stretch {
  readonly bound: number;
  /** The lowest id of the page; -Infinity if the service has no images below. */
  readonly end: number;
  readonly ids: readonly number[];
  readonly page: ImagePage;
}

/**
 * Yields the images of a list, the highest id first. Returns their number, the id down to which these are all, and why
 * the rest cannot be read by id, if so.
 * @param first the first page @param readPage returns the first page of those below an id; undefined if that is refused
 * @param wanted number of images after which the caller stops
 */
export async function* pagesById(
  first: ImagePage,
  readPage: (bound: number) => Promise<ImagePage | undefined>,
  { connections, wanted }: { readonly connections: number; readonly wanted: number },
) {
  const start = stretchOf(first, Number.POSITIVE_INFINITY);
  if (start === undefined) {
    return { count: 0, low: Number.POSITIVE_INFINITY, fault: 'the service does not sort by id' };
  }
  const list = new Segments(start, connections);
  const request = (needed: number) => {
    const pages = list.next(needed).map(async (bound) => {
      const page = await readPage(bound);
      return page && stretchOf(page, bound);
    });
    const stretches = Promise.all(pages);
    // It is thrown when it is awaited.
    stretches.catch(() => {});
    return stretches;
  };
  let images: Pick<ImagePage, 'images' | 'bytes'> = first;
  let { length: count } = first.images;
  while (!list.isAtEnd) {
    // The next pages are on their way while the caller uses these.
    const requested = count < wanted ? request(wanted - count) : undefined;
    yield images;
    const stretches = await (requested ?? request(1));
    if (!stretches.every((stretch) => stretch !== undefined)) {
      return { count, low: list.low, fault: 'the service does not filter by id' };
    }
    images = list.take(stretches);
    count += images.images.length;
  }
  yield images;
  return { count, low: list.low, fault: undefined };
}

/** Undefined if the page is not sorted by id: whole numbers below the bound, each lower than the one before. */
function stretchOf(page: ImagePage, bound: number): Stretch | undefined {
  const ids = page.images.map((image) => Number(readValue(image, 'id') ?? Number.NaN));
  const isSorted = ids.every((id, at) => Number.isSafeInteger(id) && id < (ids[at - 1] ?? bound));
  // An empty page that says that there are images leads nowhere.
  const end = isWhole(page) ? Number.NEGATIVE_INFINITY : ids.at(-1);
  return isSorted && end !== undefined ? { bound, end, ids, page } : undefined;
}

/** True if the service says that its list has no more images than this page. */
export function isWhole({ images, total, pages, hasNext }: ImagePage): boolean {
  return images.length >= total && pages <= 1 && !hasNext;
}

/** So much of a page is expected in a segment, so that few segments have more images than a page. */
const FILLED = 0.9;

/**
 * Cuts the ids that are left into segments of about a page, by the density of those seen so far. Where ids lie in
 * clusters, there is one segment at a time: pages for others would be the same.
 */
class Segments {
  /** Everything from here up was taken. */
  low: number;
  readonly #size: number;
  readonly #connections: number;
  #parallel: number;
  /** Number of images below `low`. */
  #left: number;
  /** Number of ids seen, and their range. */
  #seen: number;
  #range: number;
  /** Of the last segments: by their beginnings, the ids below which a page shows that few are there. */
  #limits = new Map<number, number>();
  /** Below `low`, behind a gap; the highest first. */
  #ahead: readonly Stretch[] = [];

  constructor({ ids, end, page }: Stretch, connections: number) {
    this.low = end;
    this.#size = Math.max(1, ids.length);
    this.#connections = connections;
    this.#parallel = connections;
    this.#left = page.total - ids.length;
    this.#seen = this.#size;
    this.#range = (ids[0] ?? 0) - (ids.at(-1) ?? 0) + 1;
  }

  get isAtEnd(): boolean {
    return this.low === Number.NEGATIVE_INFINITY;
  }

  /** Returns where the next segments begin, at most as many as it takes for `needed` images. */
  next(needed: number): number[] {
    const expected = Math.floor((FILLED * this.#size * this.#range) / this.#seen);
    // As many ids as a page has images fit into one in any case.
    const width = Math.max(this.#size, expected);
    const pages = Math.ceil(Math.min(this.#left, needed) / this.#size);
    const most = Math.max(1, Math.min(this.#parallel, pages));
    this.#limits = new Map();
    let bound = this.low;
    for (const stretch of [...this.#ahead, REST]) {
      // A database may not take a number that no image has; but some ids may be negative.
      while (bound > stretch.bound && (bound > 0 || bound === this.low)) {
        if (this.#limits.size === most) return [...this.#limits.keys()];
        const goal = Math.max(bound - width, stretch.bound);
        this.#limits.set(bound, goal - width);
        bound = goal;
      }
      bound = Math.min(bound, stretch.end);
    }
    return [...this.#limits.keys()];
  }

  /** Returns the images that now follow those that were taken, without a gap. */
  take(stretches: readonly Stretch[]): Pick<ImagePage, 'images' | 'bytes'> {
    this.#learn(stretches);
    this.#ahead = [...this.#ahead, ...stretches].sort((one, other) => other.bound - one.bound);
    const images: ImagePage['images'][number][] = [];
    let bytes = 0;
    for (const { bound, end, ids, page } of this.#ahead) {
      if (bound < this.low) break;
      if (end < this.low) {
        const rest = ids.findIndex((id) => id < this.low);
        if (rest >= 0) for (const image of page.images.slice(rest)) images.push(image);
        bytes += page.bytes;
        this.#left = page.total - ids.length;
        this.low = end;
      }
    }
    this.#ahead = this.#ahead.filter(({ bound }) => bound < this.low);
    return { images, bytes };
  }

  #learn(stretches: readonly Stretch[]): void {
    let sparse = 0;
    for (const { bound, end, ids } of stretches) {
      if (!Number.isFinite(end)) continue;
      this.#seen += ids.length;
      this.#range += bound - end;
      if (end < (this.#limits.get(bound) ?? end)) sparse += 1;
    }
    this.#parallel = 3 * sparse >= Math.max(1, stretches.length) ? 1 : this.#connections;
  }
}

const REST = { bound: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY };
