// Lists the public catalogue: every matching image exactly once, or an error.

import type { Client } from '../api/client.ts';
import { type ImagePage, type ImageQuery, MAX_PER_PAGE } from '../api/images.ts';
import { MAX_PAGES } from '../api/responses.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import type { QueryPlan } from '../query/plan.ts';

export interface CatalogueQuery {
  readonly plan: QueryPlan;
  readonly limit?: number | undefined;
  /** 1 to 100 (100). */
  readonly perPage?: number | undefined;
  /** Yields images page by page if their order allows it, else all at the end. */
  readonly streams?: boolean;
  /** Requests at a time. */
  readonly concurrency: number;
}

export interface CatalogueObserver {
  readonly warn?: (message: string) => void;
  readonly progress?: (text: string) => void;
}

/** Images after those of the previous batches, and the meta of the page that was read last. */
export interface Batch {
  readonly images: readonly ReceivedImage[];
  readonly meta: ImagePage['meta'];
}

/** What the service was asked for but did not confirm. */
interface Unconfirmed {
  readonly filter: boolean;
  readonly sort: boolean;
}

/** Maximum number of times that a changing list is read. */
const MAX_READINGS = 3;

/** Maximum number of pages in a row without a new image. */
const MAX_IDLE_PAGES = 10;

/** Maximum size of the pages of a list that is held in memory, in bytes; about 500,000 images. */
const MAX_HELD_BYTES = 256 * 2 ** 20;

const LIST_FEWER = 'list fewer images with --filter';

/**
 * Yields every image that matches, up to the limit. Nothing is yielded twice.
 *
 * The list may change while it is read. If it grew, the further pages are read. If it shrank or images are
 * missing, it is read again. After at most twice the announced pages plus 10 requests it is complete or an error.
 * One image removed and another added between two pages leave the total unchanged: this cannot be noticed.
 * If the service does not confirm the filter or sort, the list is read again and both are applied locally.
 * @throws ImgctlError incomplete-list, and whatever a request throws
 */
export async function* listCatalogue(
  client: Pick<Client, 'listImages'>,
  query: CatalogueQuery,
  { warn, progress }: CatalogueObserver = {},
): AsyncGenerator<Batch, void, void> {
  const { plan, concurrency, perPage = MAX_PER_PAGE, limit = Number.POSITIVE_INFINITY } = query;
  /** What earlier readings streamed; empty in most runs. */
  const streamed = new Set<unknown>();
  let yieldedBefore = 0;
  let unconfirmed: Unconfirmed = { filter: false, sort: false };
  let budget = Number.POSITIVE_INFINITY;
  for (let readings = 1; ; readings += 1) {
    const { matches, sorts } = localWork(plan, unconfirmed);
    const streams = query.streams === true && !sorts;
    const left = limit - yieldedBefore;
    // A sort needs all images. With local work the service cannot know which of them count towards the limit.
    const needed = sorts ? Number.POSITIVE_INFINITY : left;
    const wanted = matches ? Number.POSITIVE_INFINITY : needed;
    const request = {
      filter: plan.server.filter,
      // Without an order images may move from page to page.
      sort: plan.server.sort ?? 'id,asc',
      perPage: Math.min(perPage, wanted),
    };
    const reading = new Reading(budget);
    const found: ReceivedImage[] = [];
    let count = 0;
    let heldBytes = 0;
    let meta: ImagePage['meta'] = {};
    let isConfirmed = true;
    for await (const page of reading.pages(client, request, wanted, concurrency)) {
      const missing = unconfirmedBy(page.meta, plan);
      const filter = unconfirmed.filter || missing.filter;
      const sort = unconfirmed.sort || missing.sort;
      isConfirmed = filter === unconfirmed.filter && sort === unconfirmed.sort;
      if (!isConfirmed) {
        warn?.(unconfirmedWarning(missing));
        unconfirmed = { filter, sort };
        break;
      }
      meta = page.meta;
      const images: ReceivedImage[] = [];
      for (const image of page.images) {
        const key = image.id ?? image;
        const isRepeated = reading.seen.has(key) || streamed.has(key);
        reading.seen.add(key);
        if (isRepeated || count === needed || (matches && !matches(image))) continue;
        images.push(image);
        count += 1;
      }
      const total = yieldedBefore + count;
      const noun = total === 1 ? 'image' : 'images';
      progress?.(`page ${reading.pagesRead} of ${reading.pagesKnown}, ${total} ${noun}`);
      if (streams) {
        yield { images, meta };
      } else {
        for (const image of images) found.push(image);
        if (images.length > 0) heldBytes += page.bytes;
        if (heldBytes > MAX_HELD_BYTES) {
          const message = `the list is larger than ${MAX_HELD_BYTES / 2 ** 20} MiB`;
          throw new ImgctlError('bad-answer', message, { hint: `${LIST_FEWER}, or use -o ndjson` });
        }
      }
      if (count === needed) break;
    }
    if (isConfirmed && (reading.fault === undefined || count === needed)) {
      if (!streams) yield { images: sorts ? plan.sort(found).slice(0, left) : found, meta };
      return;
    }
    if (streams) {
      for (const key of reading.seen) streamed.add(key);
      yieldedBefore += count;
    }
    budget = isConfirmed ? reading.budget : Number.POSITIVE_INFINITY;
    if (!isConfirmed) {
      readings = 0;
    } else if (readings === MAX_READINGS || budget < reading.length) {
      throw new ImgctlError('incomplete-list', `the list is incomplete: ${reading.fault}`, {
        hint:
          reading.length > MAX_PAGES
            ? LIST_FEWER
            : 'the list may be changing; run the command again',
      });
    }
  }
}

/** One reading of the list, from its first page on. */
class Reading {
  pagesRead = 0;
  /** The keys of the images so far; the caller adds those of each page. */
  readonly seen = new Set<unknown>();
  /** Pages announced and needed, for progress. */
  pagesKnown = 0;
  /** Number of pages that the first one announced, at least 1. */
  length = 1;
  /** Why images may be missing; undefined if the list is complete. */
  fault: string | undefined;

  /** Requests left for all readings, in case pages never end; infinite before the first page. */
  budget: number;

  constructor(budget: number) {
    this.budget = budget;
  }

  /**
   * Yields the pages. They are requested by number: navigation URLs only tell whether there is another page, so a
   * wrong one cannot mislead.
   * @param wanted maximum number of images that are needed; further pages are not requested in advance
   * @param concurrency requests at a time
   */
  async *pages(
    client: Pick<Client, 'listImages'>,
    request: ImageQuery,
    wanted: number,
    concurrency: number,
  ): AsyncGenerator<ImagePage, void, void> {
    const { seen } = this;
    const pending: Promise<ImagePage>[] = [];
    const abort = new AbortController();
    let nextNumber = 1;
    let lastNumber = 1;
    let total = 0;
    let idlePages = 0;
    const send = () => {
      const page = client.listImages(request, nextNumber, abort.signal);
      // It is thrown when the page's turn comes.
      page.catch(() => {});
      pending.push(page);
      nextNumber += 1;
      this.budget -= 1;
    };
    try {
      send();
      for (let next = pending.shift(); next; next = pending.shift()) {
        const page = await next;
        if (this.pagesRead === 0) {
          this.length = Math.max(1, page.pages);
          // This page was already requested.
          if (this.budget === Number.POSITIVE_INFINITY) {
            this.budget = 2 * Math.min(this.length, MAX_PAGES) + 10 - 1;
          }
          lastNumber = Math.min(page.pages, Math.ceil(wanted / page.perPage), MAX_PAGES);
        }
        if (page.total < total) {
          // Images moved up, past the pages already read.
          this.fault = 'it became shorter while it was read';
          return;
        }
        total = page.total;
        this.pagesRead += 1;
        const announced = Math.min(page.pages, Math.ceil(wanted / page.perPage));
        this.pagesKnown = Math.max(announced, this.pagesRead);
        while (nextNumber <= lastNumber && pending.length < concurrency && this.budget > 0) send();
        const seenBefore = seen.size;
        yield page;
        const hadNew = seen.size > seenBefore;
        idlePages = hadNew ? 0 : idlePages + 1;
        if (idlePages > MAX_IDLE_PAGES) break;
        // After the announced pages: continue as long as there is more and it is new.
        if (pending.length > 0 || !page.hasNext || !hadNew) continue;
        if (this.budget <= 0 || this.pagesRead >= MAX_PAGES) {
          const isEndless = this.budget <= 0;
          this.fault = isEndless ? 'its pages do not end' : `it has more than ${MAX_PAGES} pages`;
          return;
        }
        send();
      }
      if (seen.size < total) {
        this.fault = `the service announced ${total} images but sent ${seen.size}`;
      }
    } finally {
      abort.abort(new Error('no longer needed'));
    }
  }
}

/**
 * Returns exactly one page of the service, for a plan without local work.
 * @throws ImgctlError whatever Client.listImages throws
 */
export async function readCataloguePage(
  client: Pick<Client, 'listImages'>,
  { plan, limit, perPage = MAX_PER_PAGE }: Omit<CatalogueQuery, 'concurrency'>,
  number: number,
  { warn }: CatalogueObserver = {},
): Promise<Batch> {
  const page = await client.listImages({ ...plan.server, perPage }, number);
  if (page.number !== undefined && page.number !== number) {
    warn?.(`the service sent page ${page.number} instead of page ${number}`);
  }
  const unconfirmed = unconfirmedBy(page.meta, plan);
  if (unconfirmed.filter || unconfirmed.sort) warn?.(unconfirmedWarning(unconfirmed));
  const { matches, sorts } = localWork(plan, unconfirmed);
  const matching = matches ? page.images.filter(matches) : page.images;
  return { images: (sorts ? plan.sort(matching) : matching).slice(0, limit), meta: page.meta };
}

/** Returns what the service does not do: a filter if one is needed, and whether to sort. */
function localWork(plan: QueryPlan, unconfirmed: Unconfirmed) {
  const filters = unconfirmed.filter || plan.filtersLocally;
  return {
    matches: filters ? (unconfirmed.filter ? plan.matchesAll : plan.matches) : undefined,
    sorts: unconfirmed.sort || plan.sortsLocally,
  };
}

/** Section 2.3 of service-api.md promises an echo of the filter and sort that were applied. */
function unconfirmedBy(meta: ImagePage['meta'], { server }: QueryPlan): Unconfirmed {
  return {
    filter: server.filter !== undefined && !isEcho(meta.filter, server.filter),
    sort: server.sort !== undefined && !isEcho(meta.sort, server.sort),
  };
}

/** An echo may be percent-encoded, as in the navigation URLs. */
function isEcho(echoed: unknown, sent: string): boolean {
  return echoed === sent || echoed === encodeURIComponent(sent.toWellFormed());
}

function unconfirmedWarning({ filter, sort }: Unconfirmed): string {
  const what = filter && sort ? 'filter and the sort' : filter ? 'filter' : 'sort';
  return `the service did not confirm the ${what}, so imgctl applies it`;
}
