// All pages of the catalogue, several at a time, in order, and never a quiet short list.

import { ImgctlError } from '../errors.ts';
import type { Http } from './http.ts';
import { type ImagePage, type ImageQuery, listImages } from './images.ts';
import type { JsonObject } from './json.ts';
import { KeySet } from './key-set.ts';

export interface PagingOptions {
  /** Requests at a time. */
  readonly concurrency: number;
  /** Stop once this many elements were handed on; the rest is not fetched. */
  readonly limit?: number | undefined;
}

/** A page of elements not seen before in this pass. */
export interface PageOfAll {
  readonly elements: readonly (JsonObject | string)[];
  readonly meta: JsonObject;
  /** Pages read so far and pages known of, for progress. */
  readonly pagesRead: number;
  readonly pagesKnown: number;
  /**
   * 1, and one more each time the list changed so much while being read that it is read anew:
   * what came with an earlier pass is superseded.
   */
  readonly pass: number;
}

/** Readings of a list that keeps changing, before it is an error. */
const MAX_PASSES = 3;
/** Announced pages in a row that bring nothing new, before the rest is not asked for. */
const MAX_IDLE_PAGES = 10;

/**
 * Every page of GET /v2/image for a query, by page number: navigation URLs are only asked whether there
 * is more, so one that is foreign, wrong or loops leads nowhere. Elements are told apart by id (or URL).
 *
 * The list may change while it is read. Where it only grew, the further pages are read; where it shrank
 * or elements are missing, it is read anew, and within twice the pages first announced plus 10 it is
 * either complete or an error.
 * @throws ImgctlError incomplete-list, and whatever a page's request throws
 */
export async function* allImages(
  http: Http,
  query: ImageQuery,
  options: PagingOptions,
): AsyncGenerator<PageOfAll, void, void> {
  let first = await listImages(http, query, 1);
  const budget = { left: 2 * Math.max(1, first.pages) + 10 - 1 };
  for (let pass = 1; ; pass += 1) {
    const seen = new KeySet();
    const progress: Progress = { seen, total: first.total, fault: undefined };
    let handedOn = 0;
    let pagesRead = 0;
    for await (const page of pagesOfPass(http, query, first, options, progress, budget)) {
      pagesRead += 1;
      const fresh = page.elements.filter((element) => isNew(seen, element));
      const elements =
        options.limit === undefined ? fresh : fresh.slice(0, options.limit - handedOn);
      handedOn += elements.length;
      yield {
        elements,
        meta: page.meta,
        pagesRead,
        pagesKnown: Math.max(page.pages, pagesRead),
        pass,
      };
      if (handedOn === options.limit) return;
    }
    const fault = faultOf(progress);
    if (fault === undefined) return;
    if (pass === MAX_PASSES || budget.left < Math.max(1, first.pages)) throw incomplete(fault);
    budget.left -= 1;
    first = await listImages(http, query, 1);
  }
}

interface Progress {
  readonly seen: KeySet;
  /** Elements that the newest page announced. */
  total: number;
  /** Why elements may be missing, whatever their number. */
  fault: string | undefined;
}

/** The pages of one reading, from its first on; it ends early where it has to be done anew. */
async function* pagesOfPass(
  http: Http,
  query: ImageQuery,
  first: ImagePage,
  options: PagingOptions,
  progress: Progress,
  budget: { left: number },
): AsyncGenerator<ImagePage, void, void> {
  const wanted = options.limit ?? Number.POSITIVE_INFINITY;
  const lastPage = Math.min(first.pages, Math.ceil(wanted / first.perPage));
  const giveUp = new AbortController();
  const scoped: Http = {
    ...http,
    send: (request) => http.send({ ...request, signal: giveUp.signal }),
  };
  const underWay: Promise<ImagePage>[] = [];
  let next = 2;
  const request = () => {
    const page = listImages(scoped, query, next);
    page.catch(() => {}); // an error is thrown where the page's turn comes
    underWay.push(page);
    next += 1;
    budget.left -= 1;
  };
  let idlePages = 0;
  try {
    let page = first;
    for (;;) {
      if (page.total < progress.total) {
        // Elements moved up, past what was already read.
        progress.fault = 'it got shorter while it was read';
        return;
      }
      progress.total = page.total;
      while (next <= lastPage && underWay.length < options.concurrency && budget.left > 0)
        request();
      const before = progress.seen.size;
      yield page;
      idlePages = progress.seen.size > before ? 0 : idlePages + 1;
      if (idlePages > MAX_IDLE_PAGES) return;
      if (underWay.length === 0) {
        // Beyond the pages first announced: on as long as there is more and it is new.
        if (!page.hasNext || idlePages > 0) return;
        if (budget.left <= 0) {
          progress.fault = 'its pages do not end';
          return;
        }
        request();
      }
      page = await (underWay.shift() as Promise<ImagePage>);
    }
  } finally {
    giveUp.abort(new Error('no longer needed'));
  }
}

/** What an element is told apart by: its id, or its URL where it is one. */
export function keyOf(element: JsonObject | string): unknown {
  return typeof element === 'string' ? element : (element.id ?? element);
}

/** Whether an element is seen for the first time. */
export function isNew(seen: KeySet, element: JsonObject | string): boolean {
  const key = keyOf(element);
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}

function faultOf({ seen, total, fault }: Progress): string | undefined {
  if (fault !== undefined || seen.size >= total) return fault;
  return `the service announces ${total} images but sent ${seen.size} different ones`;
}

function incomplete(why: string): ImgctlError {
  return new ImgctlError('incomplete-list', `the list is incomplete: ${why}`, {
    hint: 'it may be changing while it is read; run the command again',
  });
}
