// What a query leaves of the public catalogue: the service's answer, with the rest of the query done here.

import type { Client } from './api/client.ts';
import type { JsonObject } from './api/json.ts';
import { KeySet } from './api/key-set.ts';
import { isNew, keyOf, type PageOfAll } from './api/paging.ts';
import type { QueryPlan } from './query/plan.ts';

/** Elements of a page that the service gives at most, section 2.4 of service-api.md. */
export const LARGEST_PAGE = 100;

/** An image, or its URL. */
export type Element = PageOfAll['elements'][number];

export interface CatalogueQuery {
  readonly plan: QueryPlan;
  readonly limit: number | undefined;
  /** 1 to 100. */
  readonly perPage: number;
  /** URLs will do: images come only where the rest of the query needs them. */
  readonly urls: boolean;
  /** Elements are handed on page by page where their order allows that, else all at the end. */
  readonly streams: boolean;
  /** Requests at a time. */
  readonly concurrency: number;
}

export interface CatalogueObserver {
  warn(message: string): void;
  progress(text: string): void;
}

/** Elements to show after those of the batches before, and the meta of the page read last. */
export interface Batch {
  readonly elements: readonly Element[];
  readonly meta: JsonObject;
}

/** What the service was asked for but did not do. */
interface Undone {
  readonly filter: boolean;
  readonly sort: boolean;
}

/**
 * Everything that matches, up to the limit. Nothing that was handed on is taken back or comes twice, also
 * where the list changes while it is read.
 * @throws ImgctlError whatever Client.allImages throws
 */
export async function* readAll(
  client: Client,
  query: CatalogueQuery,
  observer: CatalogueObserver,
  undone: Undone = { filter: false, sort: false },
  handedOn = new KeySet(),
): AsyncGenerator<Batch, void, void> {
  const { plan, perPage, concurrency } = query;
  const limit = query.limit === undefined ? undefined : query.limit - handedOn.size;
  const { matches, sorts } = workHere(plan, undone);
  const isLocal = matches !== undefined || sorts;
  const streams = query.streams && !sorts;
  const request = {
    filter: plan.server.filter,
    // Without any order images may move from page to page.
    sort: plan.server.sort ?? 'id,asc',
    perPage: limit === undefined || isLocal ? perPage : Math.min(perPage, limit),
    expand: isLocal || !query.urls,
  };
  let kept: Element[] = [];
  let pass = 1;
  let count = 0;
  let meta: JsonObject = {};
  // What the service leaves undone can be cut to the limit only after it is done.
  const paging = { concurrency, limit: isLocal ? undefined : limit };
  for await (const page of client.allImages(request, paging)) {
    const now = undoneBy(page.meta, plan);
    if ((now.filter && !undone.filter) || (now.sort && !undone.sort)) {
      observer.warn(warningOf(now));
      const all = { filter: now.filter || undone.filter, sort: now.sort || undone.sort };
      return yield* readAll(client, query, observer, all, handedOn);
    }
    if (page.pass > pass && !streams) {
      kept = [];
      count = 0;
    }
    pass = page.pass;
    meta = page.meta;
    const matching = matches ? page.elements.filter(matches) : page.elements;
    const fresh = matching.filter((element) =>
      streams ? isNew(handedOn, element) : !handedOn.has(keyOf(element)),
    );
    const found = limit === undefined || sorts ? fresh : fresh.slice(0, limit - count);
    count += found.length;
    observer.progress(`page ${page.pagesRead} of ${page.pagesKnown}, ${count} images`);
    if (streams) yield { elements: found, meta };
    else for (const element of found) kept.push(element);
    if (count === limit && !sorts) break;
  }
  if (streams) return;
  yield { elements: sorts ? plan.sort(kept.filter(isImage)).slice(0, limit) : kept, meta };
}

/**
 * Exactly one page of the service, for a plan that leaves nothing to be done here.
 * @throws ImgctlError whatever Client.listImages throws
 */
export async function readPage(
  client: Client,
  query: CatalogueQuery,
  number: number,
  observer: CatalogueObserver,
): Promise<Batch> {
  const { plan, limit, perPage } = query;
  const request = (expand: boolean) =>
    client.listImages({ ...plan.server, perPage, expand }, number);
  let page = await request(!query.urls);
  if (page.number !== undefined && page.number !== number) {
    observer.warn(`the service sent page ${page.number} where page ${number} was asked for`);
  }
  const undone = undoneBy(page.meta, plan);
  if (undone.filter || undone.sort) {
    observer.warn(warningOf(undone));
    if (query.urls) page = await request(true);
  }
  const { matches, sorts } = workHere(plan, undone);
  const found = matches ? page.elements.filter(matches) : page.elements;
  const sorted = sorts ? plan.sort(found.filter(isImage)) : found;
  return { elements: sorted.slice(0, limit), meta: page.meta };
}

/** What is left to be done here: a test, where not every element is wanted, and whether to sort. */
function workHere(plan: QueryPlan, undone: Undone) {
  const test = undone.filter ? plan.matchesAll : plan.matches;
  const filters = undone.filter || plan.filtersLocally;
  return {
    matches: filters ? (element: Element) => isImage(element) && test(element) : undefined,
    sorts: undone.sort || plan.sortsLocally,
  };
}

/** What was asked for, but not echoed: section 2.3 of service-api.md promises an echo of what was done. */
function undoneBy(meta: JsonObject, { server }: QueryPlan): Undone {
  return {
    filter: server.filter !== undefined && !isEcho(meta.filter, server.filter),
    sort: server.sort !== undefined && !isEcho(meta.sort, server.sort),
  };
}

/** An echo may be percent-encoded, as the navigation URLs have it. */
function isEcho(echoed: unknown, sent: string): boolean {
  return echoed === sent || echoed === encodeURIComponent(sent);
}

function warningOf({ filter, sort }: Undone): string {
  const what = filter && sort ? 'filter and the sort' : filter ? 'filter' : 'sort';
  return `the service did not confirm the ${what}, so imgctl applies it`;
}

function isImage(element: Element): element is Exclude<Element, string> {
  return typeof element !== 'string';
}
