// Reads the pages of the catalogue once from the first to the last, several requests at a time.

import type { Client } from '../api/client.ts';
import type { ImagePage, ImageQuery } from '../api/images.ts';
import { MAX_PAGES } from '../api/pages.ts';
import type { SeenKeys } from './seen-keys.ts';

/** Maximum number of pages in a row without a new image. */
const MAX_IDLE_PAGES = 10;

/** Limits the requests of all readings of a listing, in case its pages never end. */
export interface Budget {
  /** Requests left; infinite before the first page has said how many pages there are. */
  left: number;
}

export interface ReadingOptions {
  readonly request: ImageQuery;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Images that are needed, at most; further pages are not requested in advance. */
  readonly wanted: number;
  readonly seen: SeenKeys;
  readonly budget: Budget;
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
