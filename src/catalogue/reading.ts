// Reads the pages of the catalogue once from the first to the last, several requests at a time.

import type { Client } from '../api/client.ts';
import type { ImagePage, ImageQuery } from '../api/images.ts';
import { MAX_PAGES } from '../api/pages.ts';

/** Pages in a row without a new image, before the announced rest is not requested. */
const MAX_IDLE_PAGES = 10;

/** Limits the requests of a whole listing, so that pages that never end do. */
export interface Budget {
  /** Requests left; undefined before the first page has said how many pages there are. */
  left: number | undefined;
}

export interface ReadingOptions {
  readonly request: ImageQuery;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Images that are needed; further pages are not requested in advance. */
  readonly wanted: number | undefined;
  readonly seen: SeenKeys;
  readonly budget: Budget;
}

/**
 * One reading of the list. Pages are requested by number: navigation URLs only tell whether there is more, so
 * one that is foreign, wrong or loops leads nowhere.
 */
export class Reading {
  pagesRead = 0;
  /** Pages announced, for progress. */
  pagesKnown = 0;
  #fault: string | undefined;
  #total = 0;
  #firstPages = 0;
  #lastPage = 0;
  #idlePages = 0;
  #seenBefore = 0;
  #page: ImagePage | undefined;
  #next = 1;
  readonly #requests: Promise<ImagePage>[] = [];
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
    if (this.#page && !this.#mayContinue(this.#page)) return undefined;
    if (this.#requests.length === 0) this.#request();
    const page = await (this.#requests.shift() as Promise<ImagePage>);
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
    this.pagesKnown = Math.max(page.pages, this.pagesRead);
    const { concurrency, budget } = this.#options;
    while (
      this.#next <= this.#lastPage &&
      this.#requests.length < concurrency &&
      Number(budget.left) > 0
    ) {
      this.#request();
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
    budget.left ??= 2 * this.length + 10 - 1;
    const pagesWanted = wanted === undefined ? first.pages : Math.ceil(wanted / first.perPage);
    this.#lastPage = Math.min(first.pages, pagesWanted, MAX_PAGES);
  }

  #mayContinue(page: ImagePage): boolean {
    const hadNew = this.#options.seen.count > this.#seenBefore;
    this.#idlePages = hadNew ? 0 : this.#idlePages + 1;
    if (this.#idlePages > MAX_IDLE_PAGES) return false;
    if (this.#requests.length > 0) return true;
    // After the announced pages: continue as long as there is more and it is new.
    if (!page.hasNext || !hadNew) return false;
    const mayRequest = Number(this.#options.budget.left) > 0;
    if (mayRequest && this.pagesRead < MAX_PAGES) return true;
    this.#fault = mayRequest ? `it has more than ${MAX_PAGES} pages` : 'its pages do not end';
    return false;
  }

  #request(): void {
    const { request, budget } = this.#options;
    const page = this.#client.listImages(request, this.#next, this.#abort.signal);
    // It is thrown when the page's turn comes.
    page.catch(() => {});
    this.#requests.push(page);
    this.#next += 1;
    if (budget.left !== undefined) budget.left -= 1;
  }
}

/** Larger ids go into a Map: an array up to them would take more memory. */
const MAX_ARRAY = 2 ** 22;
const YIELDED = 0x80;
const READING = 0x7f;

/** Which images were seen in each reading, and which were yielded, in a byte per small id. */
export class SeenKeys {
  #bytes = new Uint8Array(1_024);
  readonly #others = new Map<unknown, number>();
  #reading = 0;
  #count = 0;

  /** Number of different keys in this reading. */
  get count(): number {
    return this.#count;
  }

  /** Starts a new reading, in which every key is new again; what was yielded stays yielded. */
  startReading(): void {
    this.#reading += 1;
    this.#count = 0;
  }

  /** Returns true if the key is new in this reading. */
  addIfNew(key: unknown): boolean {
    const mark = this.#get(key);
    if ((mark & READING) === this.#reading) return false;
    this.#set(key, (mark & YIELDED) | this.#reading);
    this.#count += 1;
    return true;
  }

  /** Returns true if the key was not yielded before, in any reading. */
  yieldIfNew(key: unknown): boolean {
    if (this.wasYielded(key)) return false;
    this.#set(key, this.#get(key) | YIELDED);
    return true;
  }

  wasYielded(key: unknown): boolean {
    return (this.#get(key) & YIELDED) !== 0;
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
