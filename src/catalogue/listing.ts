// Lists the public catalogue: every matching image exactly once, or an error.

import type { Client } from '../api/client.ts';
import { type ImagePage, keyOf, MAX_PER_PAGE, type PageQuery } from '../api/images.ts';
import { MAX_PAGES } from '../api/responses.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import type { Query } from '../query/query.ts';
import type { Tally } from '../query/tally.ts';
import { counted } from '../words.ts';

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
  /** Receives what only --debug shows. */
  readonly trace?: (text: string) => void;
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
 *
 * The service is not believed: each image is matched, and a sort that the first page does not echo is done here. An
 * echoed sort is believed. The list may change while it is read. If it grew, the further pages are read. If it shrank
 * or images are missing, it is read once more; after that, it is complete or an error.
 * One image removed and another added between two pages leave the total unchanged: this cannot be noticed.
 * @throws ImgctlError incomplete-list, and whatever a request throws
 */
export async function* listCatalogue(
  client: Pick<Client, 'listImages' | 'connections'>,
  request: CatalogueQuery,
  { progress, trace, tally }: CatalogueObserver = {},
): AsyncGenerator<Batch, void, void> {
  const { query, streams, limit = Number.POSITIVE_INFINITY } = request;
  /** What was streamed. */
  const yielded = new Set<unknown>();
  const { filter, readPage } = await openPages(client, request);
  tally?.startReading(filter);
  let sorts: boolean | undefined;
  let requestsLeft: number | undefined;
  for (let isLast = false; ; isLast = true) {
    const pass = new ListPass(readPage, client.connections, requestsLeft);
    const held: ReceivedImage[] = [];
    let heldBytes = 0;
    let leftOut = 0;
    let isFull = false;
    let last: Omit<Batch, 'images'> = { meta: {} };
    // More are not requested in advance.
    const wanted = () => (sorts || leftOut > 0 ? Number.POSITIVE_INFINITY : limit);
    for await (const page of pass.pages(wanted)) {
      // Section 2.3 promises an echo of the sort that was applied.
      const { sorts: keys, serviceSort } = query;
      sorts ??= keys.length > 0 && (serviceSort === undefined || page.meta.sort !== serviceSort);
      // A sort needs all images.
      const before = yielded.size + held.length;
      const needed = (sorts ? Number.POSITIVE_INFINITY : limit) - before;
      const others = isLast
        ? page.images.filter((image) => !yielded.has(keyOf(image)))
        : page.images;
      const matching = others.filter((image) => query.matches(image, tally));
      const images = matching.slice(0, needed);
      leftOut += others.length - matching.length;
      isFull = images.length === needed;
      const count = counted(before + images.length, 'image');
      progress?.(`page ${pass.pagesRead} of ${pass.pagesKnown}, ${count}`);
      const matched = before + matching.length;
      const isCounted = query.conditions.length === 0 && matched <= page.total;
      const total = pass.isAllRead ? matched : isCounted ? page.total : undefined;
      last = { meta: page.meta, total };
      if (streams && !sorts) {
        for (const image of images) yielded.add(keyOf(image));
        yield { ...last, images };
      } else {
        for (const image of images) held.push(image);
        if (images.length > 0) heldBytes += page.bytes;
        if (heldBytes > MAX_HELD_BYTES) {
          const message = `the list is larger than ${MAX_HELD_BYTES / 2 ** 20} MiB`;
          throw new ImgctlError('bad-answer', message, {
            hint: `${LIST_FEWER}, or use: imgctl images list -o ndjson`,
          });
        }
      }
      if (isFull) break;
    }
    if (leftOut > 0) trace?.(`${leftOut} of the images that the service sent do not match`);
    if (isFull || pass.fault === undefined) {
      if (sorts) yield { ...last, images: query.sort(held, tally).slice(0, limit) };
      else if (!streams) yield { ...last, images: held };
      return;
    }
    ({ requestsLeft } = pass);
    if (isLast || requestsLeft < pass.length) {
      throw new ImgctlError('incomplete-list', `the list is incomplete: ${pass.fault}`, {
        hint:
          pass.length > MAX_PAGES ? LIST_FEWER : 'the list may be changing; run the command again',
      });
    }
  }
}

/**
 * Chooses the filter that saves pages. `like` minds case at some services, so a filter with letters is sent only if a
 * row shows that this service ignores it; else the next one is tried, or all images are read.
 */
async function openPages(
  client: Pick<Client, 'listImages'>,
  { query, limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE }: CatalogueQuery,
) {
  let request: PageQuery = {
    // Without an order images may move from page to page.
    sort: query.serviceSort ?? 'id,asc',
    // If more images are needed than the limit says, small pages would be many.
    perPage: query.isEverything ? Math.min(perPage, limit) : perPage,
  };
  /** Page 1, if it was read to choose the filter. */
  let first: ImagePage | undefined;
  for (const { sent } of query.conditions) {
    if (sent === undefined) continue;
    const { filter, proves } = sent;
    const filtered = { ...request, filter };
    const page = proves && (await client.listImages(filtered, 1));
    if (proves && !page?.images.some(proves)) continue;
    [request, first] = [filtered, page];
    break;
  }
  return {
    filter: request.filter,
    async readPage(number: number, signal: AbortSignal): Promise<ImagePage> {
      const known = number === 1 ? first : undefined;
      first = undefined;
      return known ?? client.listImages(request, number, signal);
    },
  };
}

/** One pass over the list, from its first page on. */
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

  /**
   * Yields the pages, without the images of earlier ones. They are requested by number: navigation URLs only tell
   * whether there is another page, so a wrong one cannot mislead.
   * @param wanted returns the number of images that are needed
   */
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
        const page = await next;
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
  const { filter } = await openPages(client, request);
  const [condition] = query.conditions;
  if (condition && filter === undefined) {
    warn?.('the service may mind case, so images may be missing', 'omit --page to read all images');
  }
  const sent = { filter: condition?.sent?.filter, sort: query.serviceSort, perPage };
  const page = await client.listImages(sent, number);
  if (page.number !== undefined && page.number !== number) {
    warn?.(`the service sent page ${page.number} instead of page ${number}`);
  }
  const images = page.images.filter((image) => query.matches(image, tally));
  const total = condition ? undefined : page.total;
  return { images: images.slice(0, limit), meta: page.meta, total };
}
