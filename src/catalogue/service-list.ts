// Lists the images of the service: every one that matches exactly once, or an error.

import type { Client } from '../api/client.ts';
import { type ImagePage, keyOf, MAX_PAGES, MAX_PER_PAGE, type PageQuery } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { hasCode } from '../errors.ts';
import { kindOf, readValue } from '../query/fields.ts';
import type { ServiceFilter } from '../query/filter.ts';
import { EVERYTHING, type Query } from '../query/query.ts';
import {
  BY_ID,
  compareRanks,
  type FieldSort,
  isFieldSort,
  printSort,
  ranksOf,
} from '../query/sort.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import { isWhole, NotByIdError, pagesById } from './pages-by-id.ts';
import { incompleteList, pagesByNumber, requireRoom } from './pages-by-number.ts';
import { isRefusal, readPage, type ServiceHabits } from './service-habits.ts';

export interface ReadOptions {
  readonly limit?: number | undefined;
  /** 1 to 100 (100). */
  readonly perPage?: number | undefined;
  /** Yields images as they come if their order allows it, else all at the end. */
  readonly streams?: boolean;
  /**
   * Receives the images that come, also those that do not match, some perhaps again.
   * @param total as announced @param filter of the service, which leaves images out
   */
  readonly watch?: (images: readonly ReceivedImage[], total: number, filter?: string) => void;
}

/** What is known at the end of a list. */
export interface ListEnd {
  /** Of the first page. */
  readonly meta: ImagePage['meta'];
  /** Number of all images that match, if known. */
  readonly total?: number | undefined;
}

/**
 * Yields every image that matches, up to the limit. The first page, with a filter that loses none, is enough if it is the
 * whole list, or its order is proved and it has as many as the limit says. Otherwise all images are read, as the service
 * takes only one filter and pages are read by id, and matched and sorted here.
 */
export async function* listImages(
  client: Pick<Client, 'listImages' | 'connections'>,
  habits: ServiceHabits,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const answer = await fewImages(habits, query, options);
  if (answer) {
    yield answer.images;
    return answer.end;
  }
  const { limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE, streams, watch } = options;
  const first = await habits.firstPage(perPage);
  const { meta, total } = first;
  const isById = isOrderOf(query, BY_ID);
  const isFiltered = query.conditions.length > 0;
  const wanted = isById && !isFiltered ? limit : Number.POSITIVE_INFINITY;
  const held: ReceivedImage[] = [];
  let heldBytes = 0;
  let found = 0;
  for await (const { images, bytes } of readAll(client, habits, first, { perPage, wanted })) {
    watch?.(images, total);
    const matching = images.filter((image) => query.matches(image));
    const some = isById ? matching.slice(0, limit - found) : matching;
    found += matching.length;
    if (isById && streams) yield some;
    else {
      for (const image of some) held.push(image);
      if (some.length > 0) heldBytes += bytes;
      requireRoom(heldBytes);
    }
    if (!isById || found < limit) continue;
    if (!streams) yield query.sort(held);
    return { meta, total: isFiltered ? undefined : total };
  }
  if (!isById || !streams) yield query.sort(held).slice(0, limit);
  return { meta, total: found };
}

/** Returns the images if the first page of the list is sure to have those that are wanted, else undefined. */
export async function fewImages(habits: ServiceHabits, query: Query, options: ReadOptions) {
  const { limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE, watch } = options;
  const sort = sortOfFirstPage(query, limit <= perPage);
  const size = query.isEverything ? Math.min(perPage, limit) : perPage;
  const answerOn = (page: ImagePage, filter?: string) => {
    const answer = selectOn(page, sort, query, limit);
    if (answer) watch?.(page.images, page.total, filter);
    return answer;
  };
  if (habits.hasAll) return answerOn(await habits.firstPage());
  for (const sent of sentFilters(query)) {
    if (habits.isDisproved(sent)) continue;
    const asked = { filter: sent.text, sort: printSort(sort), perPage: size };
    const page = await habits.ask(asked);
    if (page === undefined) continue;
    // Of more than a page, none of the pages is read with this filter.
    if (selectOn(page, sort, query, limit) === undefined) return undefined;
    if (await habits.isProved(sent, page, sort)) return answerOn(page, sent.text);
    if (habits.hasAll) return answerOn(await habits.firstPage());
  }
  const isById = sort === BY_ID;
  const page = await (isById
    ? habits.firstPage(size)
    : habits.ask({ sort: printSort(sort), perPage: size }));
  return page && answerOn(page);
}

/** Returns what the service may get, the longest first: it is likely to leave the fewest images. */
function sentFilters({ conditions }: Query): ServiceFilter[] {
  const sent = conditions.flatMap((condition) => condition.sent ?? []);
  const lengthOf = ({ field, operator, text }: ServiceFilter) =>
    text.length - field.length - operator.length;
  return sent.sort((one, other) => lengthOf(other) - lengthOf(one));
}

/** Returns the order in which the first page may be enough: by id, or the newest first if a limit fits on it. */
function sortOfFirstPage({ sorts: [key, ...others] }: Query, fitsOnPage: boolean): FieldSort {
  if (key === undefined || others.length > 0 || !isFieldSort(key)) return BY_ID;
  const isNewest = kindOf(key.field) === 'time' && key.direction === 'desc' && fitsOnPage;
  return isNewest || (key.field === 'id' && key.direction === 'asc') ? key : BY_ID;
}

function isOrderOf({ sorts: [key, ...others] }: Query, sort: FieldSort): boolean {
  const { field, direction } = key ?? BY_ID;
  return field === sort.field && direction === sort.direction && others.length === 0;
}

/** Returns the images that the query selects if they are surely all on this page, else undefined. */
function selectOn(page: ImagePage, sort: FieldSort, query: Query, limit: number) {
  const { meta, total } = page;
  const unique = uniqueImages(page.images);
  const matching = unique.filter((image) => query.matches(image));
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page) && unique.length >= total) {
    return { images, end: { meta, total: matching.length } };
  }
  const hasEnough = images.length === limit && isOrderOf(query, sort) && isSortedBy(sort, page);
  if (!hasEnough || !isFarFromRest(images, sort, page)) return undefined;
  return { images, end: { meta, total: query.conditions.length > 0 ? undefined : total } };
}

/** Images without an id are different ones, even if they say the same. */
function uniqueImages(images: readonly ReceivedImage[]): ReceivedImage[] {
  const keyOfRow = (image: ReceivedImage) => ((image.id ?? null) === null ? image : keyOf(image));
  return [...new Map(images.map((image) => [keyOfRow(image), image])).values()];
}

/** True if the service says that it sorted, section 2.3, and did so as imgctl does. */
function isSortedBy(sort: FieldSort, { images, meta }: ImagePage): boolean {
  const ranks = ranksOf(images, sort.field);
  const sign = sort.direction === 'asc' ? 1 : -1;
  return (
    meta.sort === printSort(sort) &&
    ranks.slice(1).every((rank, at) => compareRanks(ranks[at] ?? null, rank) * sign <= 0)
  );
}

/**
 * True if no image on another page can be before the last of these. A service that compares times as texts may place an
 * image behind others that are a day older, and some send those without a time first.
 */
function isFarFromRest(images: readonly ReceivedImage[], sort: FieldSort, page: ImagePage) {
  if (sort.field === 'id') return true;
  const [last, end] = ranksOf([...images.slice(-1), ...page.images.slice(-1)], sort.field);
  const rest = Number(end ?? Number.NEGATIVE_INFINITY);
  return typeof last === 'number' && last - rest > ZONE_SPREAD;
}

/**
 * Yields all images, each once: by id, or if the service does not sort or filter by id, by page number.
 * @param first the first page @param wanted number of images after which the caller stops
 * @throws ImgctlError incomplete-list
 */
async function* readAll(
  client: Pick<Client, 'listImages' | 'connections'>,
  habits: ServiceHabits,
  first: ImagePage,
  { perPage, wanted }: { readonly perPage: number; readonly wanted: number },
) {
  const abort = new AbortController();
  const byId = { sort: habits.sortsById ? printSort(BY_ID) : undefined, perPage };
  // Either number may be wrong.
  const pages = Math.max(first.pages, first.total / Math.max(first.images.length, 1), 1);
  let left = 3 * Math.min(Math.ceil(pages), MAX_PAGES) + 10;
  const request = async (asked: PageQuery, number = 1) => {
    left -= 1;
    if (left < 0) throw incompleteList('its pages do not end');
    return readPage(client, asked, number, { signal: abort.signal });
  };
  let isAnswered = false;
  const readBelow = async (bound: number) => {
    try {
      const page = await request({ ...byId, filter: `id,lt,${bound}` });
      isAnswered = true;
      return page;
    } catch (error) {
      if (isAnswered || !isRefusal(error)) throw error;
      throw new NotByIdError('the service does not filter by id', { cause: error });
    }
  };
  const topOf = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
  const readTop = async () => topOf(await request({ ...byId, perPage: 1 }));
  let count = 0;
  let low = Number.POSITIVE_INFINITY;
  try {
    if (!habits.sortsById || first.meta.sort !== byId.sort) {
      throw new NotByIdError('the service does not sort by id');
    }
    const { connections } = client;
    for await (const read of pagesById(first, readBelow, { connections, wanted })) {
      count += read.images.length;
      low = Math.min(low, ...read.images.slice(-1).map(({ id }) => Number(id)));
      yield read;
    }
    const hasAll = isWhole(first) || count >= first.total;
    if (isWhole(first) || (await readTop()) !== topOf(first) || hasAll) return;
    throw new NotByIdError(`the service announced ${first.total} images but sent ${count}`);
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    habits.trace(`${error.message}, so the list is read by page number`);
    const images = await pagesByNumber(
      (number) => request(byId, number),
      habits.sortsById ? readTop : undefined,
    ).catch((later: unknown) => {
      throw error.cause && !hasCode(later, 'incomplete-list') ? error.cause : later;
    });
    // What comes first has been yielded.
    const rest = images.filter((image) => !(Number(readValue(image, 'id')) >= low));
    yield { images: EVERYTHING.sort(rest), bytes: 0 };
  } finally {
    abort.abort(new Error('no longer needed'));
  }
}
