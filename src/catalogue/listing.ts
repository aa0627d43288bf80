// Lists the public catalogue: every matching image exactly once, or an error.

import type { Client } from '../api/client.ts';
import { type ImageOrUrl, type ImagePage, MAX_PER_PAGE } from '../api/images.ts';
import { MAX_PAGES } from '../api/pages.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import type { QueryPlan } from '../query/plan.ts';
import { newImages, Reading, type RequestBudget, SeenKeys } from './reading.ts';

export interface CatalogueQuery {
  readonly plan: QueryPlan;
  readonly limit?: number | undefined;
  /** 1 to 100 (100). */
  readonly perPage?: number | undefined;
  /** URLs are enough: images are fetched only if the rest of the query needs them. */
  readonly urls?: boolean;
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
  readonly images: readonly ImageOrUrl[];
  readonly meta: ImagePage['meta'];
}

/** What the service was asked for but did not confirm. */
interface Unconfirmed {
  readonly filter: boolean;
  readonly sort: boolean;
}

/** How often a list that keeps changing is read. */
const MAX_READINGS = 3;

/** Maximum size of the pages of a list that is held in memory, in bytes; about 500,000 images. */
const MAX_HELD_BYTES = 256 * 2 ** 20;

const LIST_FEWER = 'list fewer images with --filter';

/** What one reading of the list passes to the next. */
interface Progress {
  readonly seen: SeenKeys;
  readonly budget: RequestBudget;
  readonly unconfirmed: Unconfirmed;
}

type Outcome =
  | { readonly kind: 'complete' }
  | { readonly kind: 'unconfirmed'; readonly unconfirmed: Unconfirmed }
  | { readonly kind: 'incomplete'; readonly fault: string; readonly pages: number };

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
  observer: CatalogueObserver = {},
): AsyncGenerator<Batch, void, void> {
  const seen = new SeenKeys();
  let unconfirmed: Unconfirmed = { filter: false, sort: false };
  let budget: RequestBudget = { left: Number.POSITIVE_INFINITY };
  let readings = 0;
  while (true) {
    const outcome = yield* readOnce(client, query, { seen, budget, unconfirmed }, observer);
    readings += 1;
    if (outcome.kind === 'complete') return;
    if (outcome.kind === 'unconfirmed') {
      unconfirmed = outcome.unconfirmed;
      budget = { left: Number.POSITIVE_INFINITY };
      readings = 0;
    } else if (readings === MAX_READINGS || budget.left < outcome.pages) {
      throw new ImgctlError('incomplete-list', `the list is incomplete: ${outcome.fault}`, {
        hint:
          outcome.pages > MAX_PAGES
            ? LIST_FEWER
            : 'the list may be changing; run the command again',
      });
    }
  }
}

/** Reads the list from its first page on, and yields the images that were not yielded before. */
async function* readOnce(
  client: Pick<Client, 'listImages'>,
  query: CatalogueQuery,
  { seen, budget, unconfirmed }: Progress,
  { warn, progress }: CatalogueObserver,
): AsyncGenerator<Batch, Outcome, void> {
  const { plan, concurrency } = query;
  const { matches, sorts } = localWork(plan, unconfirmed);
  const isLocal = matches !== undefined || sorts;
  const streams = query.streams === true && !sorts;
  const yieldedBefore = seen.yieldedCount;
  const limit = (query.limit ?? Number.POSITIVE_INFINITY) - yieldedBefore;
  // A sort needs all images. With local work the service cannot know which of them count towards the limit.
  const needed = sorts ? Number.POSITIVE_INFINITY : limit;
  const wanted = isLocal ? Number.POSITIVE_INFINITY : limit;
  const request = requestOf(query, wanted, isLocal);
  const reading = new Reading(client, { request, wanted, concurrency, seen, budget });
  const found: ImageOrUrl[] = [];
  let count = 0;
  let heldBytes = 0;
  let meta: ImagePage['meta'] = {};
  try {
    for (let page = await reading.next(); page; page = await reading.next()) {
      const missing = unconfirmedBy(page.meta, plan);
      const filter = unconfirmed.filter || missing.filter;
      const sort = unconfirmed.sort || missing.sort;
      if (filter !== unconfirmed.filter || sort !== unconfirmed.sort) {
        warn?.(unconfirmedWarning(missing));
        return { kind: 'unconfirmed', unconfirmed: { filter, sort } };
      }
      meta = page.meta;
      const images = newImages(page, seen, { matches, marks: streams, max: needed - count });
      count += images.length;
      const total = yieldedBefore + count;
      const noun = total === 1 ? 'image' : 'images';
      progress?.(`page ${reading.pagesRead} of ${reading.pagesKnown}, ${total} ${noun}`);
      if (streams) {
        yield { images, meta };
      } else {
        found.push(...images);
        if (images.length > 0) heldBytes += page.bytes;
        if (heldBytes > MAX_HELD_BYTES) throw tooLong();
      }
      if (count === needed) break;
    }
  } finally {
    reading.close();
  }
  const { fault, length: pages } = reading;
  if (fault !== undefined && count < needed) return { kind: 'incomplete', fault, pages };
  if (!streams) {
    const images = sorts ? plan.sort(found.filter(isImage)).slice(0, limit) : found;
    yield { images, meta };
  }
  return { kind: 'complete' };
}

/**
 * Returns exactly one page of the service, for a plan without local work.
 * @throws ImgctlError whatever Client.listImages throws
 */
export async function readCataloguePage(
  client: Pick<Client, 'listImages'>,
  query: Omit<CatalogueQuery, 'concurrency'>,
  number: number,
  { warn }: CatalogueObserver = {},
): Promise<Batch> {
  const { plan, limit, perPage = MAX_PER_PAGE, urls = false } = query;
  const request = (expand: boolean) =>
    client.listImages({ ...plan.server, perPage, expand }, number);
  let page = await request(!urls);
  if (page.number !== undefined && page.number !== number) {
    warn?.(`the service sent page ${page.number} instead of page ${number}`);
  }
  const unconfirmed = unconfirmedBy(page.meta, plan);
  if (unconfirmed.filter || unconfirmed.sort) {
    warn?.(unconfirmedWarning(unconfirmed));
    if (urls) page = await request(true);
  }
  const { matches, sorts } = localWork(plan, unconfirmed);
  const matching = matches ? page.images.filter(matches) : page.images;
  const sorted = sorts ? plan.sort(matching.filter(isImage)) : matching;
  return { images: sorted.slice(0, limit), meta: page.meta };
}

function requestOf(query: CatalogueQuery, wanted: number, isLocal: boolean) {
  const { plan, perPage = MAX_PER_PAGE, urls = false } = query;
  return {
    filter: plan.server.filter,
    // Without an order images may move from page to page.
    sort: plan.server.sort ?? 'id,asc',
    perPage: Math.min(perPage, wanted),
    expand: isLocal || !urls,
  };
}

/** Returns what the service does not do: a filter if one is needed, and whether to sort. */
function localWork(plan: QueryPlan, unconfirmed: Unconfirmed) {
  const test = unconfirmed.filter ? plan.matchesAll : plan.matches;
  const filters = unconfirmed.filter || plan.filtersLocally;
  return {
    matches: filters ? (image: ImageOrUrl) => isImage(image) && test(image) : undefined,
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

function tooLong(): ImgctlError {
  const message = `the list is larger than ${MAX_HELD_BYTES / 2 ** 20} MiB`;
  return new ImgctlError('bad-answer', message, {
    hint: `${LIST_FEWER}, or use -o ndjson`,
  });
}

function unconfirmedWarning({ filter, sort }: Unconfirmed): string {
  const what = filter && sort ? 'filter and the sort' : filter ? 'filter' : 'sort';
  return `the service did not confirm the ${what}, so imgctl applies it`;
}

export function isImage(image: ImageOrUrl): image is ReceivedImage {
  return typeof image !== 'string';
}
