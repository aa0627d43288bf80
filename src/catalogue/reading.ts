// Reads the pages of the catalogue from the first to the last, several at a time, and remembers what it saw.

import type { Client } from '../api/client.ts';
import type { ImageOrUrl, ImagePage, ImageQuery } from '../api/images.ts';
import { MAX_PAGES } from '../api/pages.ts';

/** Maximum number of pages in a row without a new image. */
const MAX_IDLE_PAGES = 10;

/** Limits the requests of all readings of a listing, in case its pages never end. */
export interface RequestBudget {
  /** Requests left; infinite before the first page has said how many pages there are. */
  left: number;
}

interface ReadingOptions {
  readonly request: ImageQuery;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Images that are needed, at most; further pages are not requested in advance. */
  readonly wanted: number;
  readonly seen: SeenKeys;
  readonly budget: RequestBudget;
}

/**
 * One reading of the list. Pages are requested by number: navigation URLs only tell whether there is another
 * page, so a wrong one cannot mislead.
 */
export class Reading {
  pagesRead = 0;
  /** Pages announced and needed, for progress. */
  pagesKnown = 0;
  #fault: string | undefined;
  #total = 0;
  #firstPages = 0;
  #lastPage = 0;
  #idlePages = 0;
  #seenBefore = 0;
  #page: ImagePage | undefined;
  #nextNumber = 1;
  readonly #pending: Promise<ImagePage>[] = [];
  readonly #abort = new AbortController();
  readonly #client: Pick<Client, 'listImages'>;
  readonly #options: ReadingOptions;

  constructor(client: Pick<Client, 'listImages'>, options: ReadingOptions) {
    this.#client = client;
    this.#options = options;
    options.seen.startReading();
  }

  /** Number of pages that the first one announced, at least 1. */
  get length(): number {
    return Math.max(1, this.#firstPages);
  }

  /** Why images may be missing; undefined if the list is complete. */
  get fault(): string | undefined {
    const { count } = this.#options.seen;
    if (this.#fault !== undefined || count >= this.#total) return this.#fault;
    return `the service announced ${this.#total} images but sent ${count}`;
  }

  /** Returns the next page, or undefined at the end or if the list shrank. */
  async next(): Promise<ImagePage | undefined> {
    if (this.#page && !this.#hasMore(this.#page)) return undefined;
    if (this.#pending.length === 0) this.#send();
    const page = await (this.#pending.shift() as Promise<ImagePage>);
    if (this.#page === undefined) this.#begin(page);
    if (page.total < this.#total) {
      // Images moved up, past the pages already read.
      this.#fault = 'it became shorter while it was read';
      return undefined;
    }
    this.#total = page.total;
    this.#page = page;
    this.#seenBefore = this.#options.seen.count;
    this.pagesRead += 1;
    const { concurrency, budget, wanted } = this.#options;
    this.pagesKnown = Math.max(
      Math.min(page.pages, Math.ceil(wanted / page.perPage)),
      this.pagesRead,
    );
    while (
      this.#nextNumber <= this.#lastPage &&
      this.#pending.length < concurrency &&
      budget.left > 0
    ) {
      this.#send();
    }
    return page;
  }

  /** Aborts the requests that are no longer needed. */
  close(): void {
    this.#abort.abort(new Error('no longer needed'));
  }

  #begin(first: ImagePage): void {
    const { budget, wanted } = this.#options;
    this.#firstPages = first.pages;
    // This page was already requested.
    if (budget.left === Number.POSITIVE_INFINITY) {
      budget.left = 2 * Math.min(this.length, MAX_PAGES) + 10 - 1;
    }
    this.#lastPage = Math.min(first.pages, Math.ceil(wanted / first.perPage), MAX_PAGES);
  }

  /** Tells whether another page is on its way or should be requested, and counts the pages without new images. */
  #hasMore(page: ImagePage): boolean {
    const hadNew = this.#options.seen.count > this.#seenBefore;
    this.#idlePages = hadNew ? 0 : this.#idlePages + 1;
    if (this.#idlePages > MAX_IDLE_PAGES) return false;
    if (this.#pending.length > 0) return true;
    // After the announced pages: continue as long as there is more and it is new.
    if (!page.hasNext || !hadNew) return false;
    const mayRequest = this.#options.budget.left > 0;
    if (mayRequest && this.pagesRead < MAX_PAGES) return true;
    this.#fault = mayRequest ? `it has more than ${MAX_PAGES} pages` : 'its pages do not end';
    return false;
  }

  #send(): void {
    const { request, budget } = this.#options;
    const page = this.#client.listImages(request, this.#nextNumber, this.#abort.signal);
    // It is thrown when the page's turn comes.
    page.catch(() => {});
    this.#pending.push(page);
    this.#nextNumber += 1;
    budget.left -= 1;
  }
}

/** Larger ids go into a Map: an array up to them would take more memory. */
const MAX_ARRAY = 2 ** 22;
const YIELDED_BIT = 0x80;
/** The bits for the number of the reading in which a key was last seen; readings are few. */
const READING_MASK = 0x7f;

/** Remembers in one byte per id which images were seen in the current reading, and which were yielded. */
export class SeenKeys {
  #bytes = new Uint8Array(1_024);
  readonly #others = new Map<unknown, number>();
  #reading = 0;
  #count = 0;
  #yieldedCount = 0;

  /** Number of different keys in this reading. */
  get count(): number {
    return this.#count;
  }

  /** Number of keys yielded in all readings. */
  get yieldedCount(): number {
    return this.#yieldedCount;
  }

  /** Starts a new reading, in which every key is new again; what was yielded stays yielded. */
  startReading(): void {
    this.#reading += 1;
    this.#count = 0;
  }

  /** Returns true if the key is new in this reading. */
  addIfNew(key: unknown): boolean {
    const mark = this.#get(key);
    if ((mark & READING_MASK) === this.#reading) return false;
    this.#set(key, (mark & YIELDED_BIT) | this.#reading);
    this.#count += 1;
    return true;
  }

  /** Remembers for all readings that a key was yielded. */
  markYielded(key: unknown): void {
    this.#set(key, this.#get(key) | YIELDED_BIT);
    this.#yieldedCount += 1;
  }

  wasYielded(key: unknown): boolean {
    return (this.#get(key) & YIELDED_BIT) !== 0;
  }

  #get(key: unknown): number {
    return (isSmall(key) ? this.#bytes[key] : this.#others.get(key)) ?? 0;
  }

  #set(key: unknown, mark: number): void {
    if (!isSmall(key)) {
      this.#others.set(key, mark);
      return;
    }
    if (key >= this.#bytes.length) {
      const longer = new Uint8Array(Math.max(key + 1, 2 * this.#bytes.length));
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    this.#bytes[key] = mark;
  }
}

function isSmall(key: unknown): key is number {
  return Number.isInteger(key) && (key as number) >= 0 && (key as number) < MAX_ARRAY;
}

interface Choice {
  readonly matches: ((image: ImageOrUrl) => boolean) | undefined;
  /** Marks the images as yielded. */
  readonly marks: boolean;
  readonly max: number;
}

/** Returns the images of a page that match and were neither seen in this reading nor yielded before. */
export function newImages(
  { images }: ImagePage,
  seen: SeenKeys,
  { matches, marks, max }: Choice,
): ImageOrUrl[] {
  const chosen: ImageOrUrl[] = [];
  for (const image of images) {
    const key = keyOf(image);
    if (!seen.addIfNew(key) || seen.wasYielded(key) || chosen.length >= max) continue;
    if (matches && !matches(image)) continue;
    if (marks) seen.markYielded(key);
    chosen.push(image);
  }
  return chosen;
}

/** Returns the id of an image, which its URL ends in, or the image itself if it has none. */
function keyOf(image: ImageOrUrl): unknown {
  if (typeof image !== 'string') return image.id ?? image;
  const id = /\/(\d{1,15})$/.exec(image)?.[1];
  return id === undefined ? image : Number(id);
}
