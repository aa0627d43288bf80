// Lists the public catalogue: every matching image exactly once, or an error.

import type { Client } from '../api/client.ts';
import { type ImagePage, keyOf, MAX_PAGES, MAX_PER_PAGE } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import { kindOf } from '../query/fields.ts';
import type { Query } from '../query/query.ts';
import {
  compareRanks,
  type FieldSort,
  isFieldSort,
  printSort,
  ranksOf,
  sortImages,
} from '../query/sort.ts';
import type { Tally } from '../query/tally.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import { counted } from '../words.ts';
import { BY_ID, ServiceLists, type Trace } from './service-lists.ts';

export interface CatalogueQuery {
  readonly query: Query;
  readonly limit?: number | undefined;
  /** Only this page of the service; snapshots have none. */
  readonly page?: number | undefined;
  /** 1 to 100 (100). */
  readonly perPage?: number | undefined;
  /** Yields images page by page if their order allows it, else all at the end. */
  readonly streams?: boolean;
}

export interface CatalogueObserver {
  readonly warn?: (message: string, hint?: string) => void;
  readonly progress?: (text: string) => void;
  readonly tally?: Tally | undefined;
}

/** Images after those of the previous batches, and what is known from the page that was read last. */
export interface Batch {
  readonly images: readonly ReceivedImage[];
  readonly meta: ImagePage['meta'];
  /** Number of all images that match, if all were read or there is no filter, which the service may only echo. */
  readonly total?: number | undefined;
}

/** Maximum number of pages in a row without a new image. */
const MAX_IDLE_PAGES = 10;

/** Maximum size of the pages of a list that is held in memory, in bytes; about 500,000 images. */
const MAX_HELD_BYTES = 256 * 2 ** 20;

const LIST_FEWER = 'list fewer images with --filter';

/**
 * Yields every image that matches, up to the limit. Nothing is yielded twice.
 * The service is not believed: each image is matched, and imgctl sorts. The service sorts only by id, and only the newest
 * images of the first page by time, if that page is in order. The list may change while it is read. If it grew, the
 * further pages are read. If it shrank or images are missing, it is read once more; after that, it is complete or an
 * error. If one image was removed and another added between two pages, the total is the same, and nobody can notice it.
 * @throws ImgctlError incomplete-list, and whatever a request throws
 */
export async function* listCatalogue(
  client: Pick<Client, 'listImages' | 'connections'>,
  request: CatalogueQuery,
  observer: CatalogueObserver = {},
  lists = new ServiceLists(client),
): AsyncGenerator<Batch, void, void> {
  const { tally } = observer;
  const { query, streams, limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE } = request;
  const key = query.sorts.length === 1 ? query.sorts.find(isFieldSort) : undefined;
  const open = async (sort: FieldSort) => {
    // With a filter, more images are read than the limit, and small pages would be many.
    const size = query.isEverything ? Math.min(perPage, limit) : perPage;
    const list = await lists.open(query, { sort, perPage: size });
    tally?.startReading(list.filter);
    return list;
  };
  if (key && kindOf(key.field) === 'time' && key.direction === 'desc' && limit <= perPage) {
    const newest = newestOnPage((await open(key)).first, key, { query, limit, tally });
    if (newest) return yield newest;
  }
  const sort = key?.field === 'id' && key.direction === 'desc' ? key : BY_ID;
  const { first, readPage } = await open(sort);
  const mustHoldAll = key?.field === 'id' ? !isSortedBy(sort, first) : query.sorts.length > 0;
  const isStreamed = streams && !mustHoldAll;
  const streamed = new Set<unknown>();
  let count = 0;
  let requestsLeft: number | undefined;
  for (let isSecond = false; ; isSecond = true) {
    const pass = new ListPass(readPage, client.connections, requestsLeft);
    const held: ReceivedImage[] = [];
    let heldBytes = 0;
    let last: Omit<Batch, 'images'> = { meta: {} };
    const matching = matchingPages(
      pass,
      query,
      { ...observer, trace: lists.trace },
      {
        limit: mustHoldAll ? Number.POSITIVE_INFINITY : limit,
        count,
        isNew: (image) => !isSecond || !streamed.has(keyOf(image)),
      },
    );
    for await (const { images, bytes, ...known } of matching) {
      last = known;
      if (isStreamed) {
        for (const image of images) streamed.add(keyOf(image));
        count += images.length;
        yield { ...last, images };
      } else {
        for (const image of images) held.push(image);
        if (images.length > 0) heldBytes += bytes;
        if (heldBytes > MAX_HELD_BYTES) throw tooLarge();
      }
    }
    if (pass.fault === undefined) {
      if (!isStreamed) yield { ...last, images: query.sort(held, tally).slice(0, limit) };
      return;
    }
    ({ requestsLeft } = pass);
    if (isSecond || requestsLeft < pass.length) {
      throw new ImgctlError('incomplete-list', `the list is incomplete: ${pass.fault}`, {
        hint:
          pass.length > MAX_PAGES ? LIST_FEWER : 'the list may be changing; run the command again',
      });
    }
  }
}

function tooLarge(): ImgctlError {
  const message = `the list is larger than ${MAX_HELD_BYTES / 2 ** 20} MiB`;
  return new ImgctlError('bad-answer', message, {
    hint: `${LIST_FEWER}, or use: imgctl images list -o ndjson`,
  });
}

/** @param count of the images that were yielded in an earlier pass @param isNew false for those */
async function* matchingPages(
  pass: ListPass,
  query: Query,
  { progress, tally, trace }: CatalogueObserver & { trace: Trace | undefined },
  {
    limit,
    count,
    isNew,
  }: { limit: number; count: number; isNew: (image: ReceivedImage) => boolean },
): AsyncGenerator<Batch & Pick<ImagePage, 'bytes'>, void, void> {
  let found = count;
  let leftOut = 0;
  // More are not requested in advance.
  const wanted = () => (leftOut > 0 ? Number.POSITIVE_INFINITY : limit);
  for await (const page of pass.pages(wanted)) {
    const unseen = page.images.filter(isNew);
    const matching = unseen.filter((image) => query.matches(image, tally));
    const images = matching.slice(0, limit - found);
    const matched = found + matching.length;
    leftOut += unseen.length - matching.length;
    found += images.length;
    progress?.(`page ${pass.pagesRead} of ${pass.pagesKnown}, ${counted(found, 'image')}`);
    const isCounted = query.conditions.length === 0 && matched <= page.total;
    const total = pass.isAllRead ? matched : isCounted ? page.total : undefined;
    yield { images, meta: page.meta, bytes: page.bytes, total };
    if (found === limit) break;
  }
  if (leftOut > 0) trace?.(`${leftOut} of the images that the service sent do not match`);
}

/** True if the service says that it sorted, section 2.3, and did so as imgctl does. */
function isSortedBy(key: FieldSort, { images, meta }: ImagePage): boolean {
  const ranks = ranksOf(images, key.field);
  const sign = key.direction === 'asc' ? 1 : -1;
  const isInOrder = ranks
    .slice(1)
    .every((rank, at) => compareRanks(ranks[at] ?? null, rank) * sign <= 0);
  return meta.sort === printSort(key) && isInOrder;
}

/**
 * Returns the newest images if the first page surely has them; else undefined. A service that compares times as texts may
 * place an image behind others that are a day older, so that is what must lie between the last one and the rest.
 */
function newestOnPage(
  page: ImagePage,
  key: FieldSort,
  { query, limit, tally }: { query: Query; limit: number; tally: Tally | undefined },
): Batch | undefined {
  const seen = new Set<unknown>();
  const unique = page.images.filter((image) => addIfNew(seen, keyInPass(image)));
  const matching = unique.filter((image) => query.matches(image, tally));
  const images = query.sort(sortImages(matching, [BY_ID]), tally).slice(0, limit);
  const { meta, total } = page;
  if (!page.hasNext && page.pages <= 1 && unique.length >= total) {
    return { images, meta, total: matching.length };
  }
  if (images.length < limit || !isSortedBy(key, page)) return undefined;
  const [last, end] = ranksOf([...images.slice(-1), ...page.images.slice(-1)], key.field);
  // Some services send those without a time first.
  const isSure =
    last !== null && Number(last) - Number(end ?? Number.NEGATIVE_INFINITY) > ZONE_SPREAD;
  const isFiltered = query.conditions.length > 0;
  return isSure ? { images, meta, total: isFiltered ? undefined : total } : undefined;
}

class ListPass {
  /** Requests left for all passes, in case pages never end. */
  requestsLeft: number;
  pagesRead = 0;
  /** Pages announced and needed, for progress. */
  pagesKnown = 0;
  /** Number of pages that the first one announced, at least 1. */
  length = 1;
  /** True if nothing is missing after the page that was yielded last. */
  isAllRead = false;
  /** Why images may be missing; undefined if the list is complete. */
  fault: string | undefined;
  readonly #readPage: (number: number, signal: AbortSignal) => Promise<ImagePage>;
  readonly #connections: number;

  constructor(
    readPage: (number: number, signal: AbortSignal) => Promise<ImagePage>,
    connections: number,
    requestsLeft = Number.POSITIVE_INFINITY,
  ) {
    this.#readPage = readPage;
    this.#connections = connections;
    this.requestsLeft = requestsLeft;
  }

  /** Requests pages by number: navigation URLs only tell whether there is another, so a wrong one cannot mislead. */
  async *pages(wanted: () => number): AsyncGenerator<ImagePage, void, void> {
    const seen = new Set<unknown>();
    const pending: Promise<ImagePage>[] = [];
    const abort = new AbortController();
    let nextNumber = 1;
    let total = 0;
    let idlePages = 0;
    const send = () => {
      const page = this.#readPage(nextNumber, abort.signal);
      // It is thrown when the page's turn comes.
      page.catch(() => {});
      pending.push(page);
      nextNumber += 1;
      this.requestsLeft -= 1;
    };
    const sendInAdvance = (perPage: number) => {
      const last = Math.min(this.length, Math.ceil(wanted() / perPage), MAX_PAGES);
      while (nextNumber <= last && pending.length < this.#connections && this.requestsLeft > 0)
        send();
    };
    try {
      send();
      for (let next = pending.shift(); next; next = pending.shift()) {
        const page = await next.catch((error: unknown) => {
          if (this.pagesRead > 0 && hasCode(error, 'not-found')) return undefined;
          throw error;
        });
        if (page === undefined) {
          // Some services have no page after the end, and images may have moved up.
          if (seen.size < total) this.fault = 'it became shorter while it was read';
          return;
        }
        if (this.pagesRead === 0) {
          this.length = Math.max(1, page.pages);
          // This page was already requested.
          const most = 2 * Math.min(this.length, MAX_PAGES) + 10 - 1;
          this.requestsLeft = Math.min(this.requestsLeft, most);
        }
        if (page.total < total) {
          // Images moved up, past the pages already read.
          this.fault = 'it became shorter while it was read';
          return;
        }
        total = page.total;
        this.pagesRead += 1;
        const announced = Math.min(page.pages, Math.ceil(wanted() / page.perPage));
        this.pagesKnown = Math.max(announced, this.pagesRead);
        sendInAdvance(page.perPage);
        const seenBefore = seen.size;
        const images = page.images.filter((image) => addIfNew(seen, keyInPass(image)));
        this.isAllRead = !page.hasNext && this.pagesRead >= page.pages && seen.size >= total;
        yield { ...page, images };
        sendInAdvance(page.perPage);
        const hadNew = seen.size > seenBefore;
        idlePages = hadNew ? 0 : idlePages + 1;
        if (idlePages > MAX_IDLE_PAGES) break;
        // After the announced pages: continue as long as there is more and it is new.
        if (pending.length > 0 || !page.hasNext || !hadNew) continue;
        if (this.requestsLeft <= 0 || this.pagesRead >= MAX_PAGES) {
          const isEndless = this.requestsLeft <= 0;
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

/** Images without an id are different ones, even if they say the same. */
function keyInPass(image: ReceivedImage): unknown {
  return (image.id ?? null) === null ? image : keyOf(image);
}

function addIfNew(seen: Set<unknown>, key: unknown): boolean {
  const { size } = seen;
  return seen.add(key).size > size;
}

/**
 * Returns exactly one page of the service, in its order, without the images that do not match.
 * @throws ImgctlError whatever Client.listImages throws
 */
export async function readCataloguePage(
  client: Pick<Client, 'listImages'>,
  request: CatalogueQuery,
  number: number,
  { warn, tally }: CatalogueObserver = {},
): Promise<Batch> {
  const { query, limit, perPage = MAX_PER_PAGE } = request;
  const [condition] = query.conditions;
  const [sort] = query.sorts.filter(isFieldSort).map(printSort);
  const { filter, pattern } = condition?.sent ?? {};
  if (pattern !== undefined) {
    warn?.(
      'the service may be case-sensitive, so images may be missing',
      'omit --page to read all images',
    );
  }
  const page = await client
    .listImages({ filter, sort, perPage }, number)
    .catch((error: unknown) => {
      if (number === 1 || !hasCode(error, 'not-found')) throw error;
      const hint = 'list the first page with: --page 1';
      throw error.with({ message: `page ${number} does not exist`, hint });
    });
  if (page.number !== undefined && page.number !== number) {
    warn?.(`the service sent page ${page.number} instead of page ${number}`);
  }
  const images = page.images.filter((image) => query.matches(image, tally));
  const total = condition ? undefined : page.total;
  return { images: images.slice(0, limit), meta: page.meta, total };
}
