// Lists the images of the service: every one that matches exactly once, or an error.

import { type ImagePage, MAX_PER_PAGE } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { kindOf } from '../query/fields.ts';
import type { ServiceFilter } from '../query/filter.ts';
import type { Query } from '../query/query.ts';
import {
  BY_ID,
  compareRanks,
  type FieldSort,
  isFieldSort,
  printSort,
  ranksOf,
} from '../query/sort.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import { allImages } from './all-images.ts';
import type { FirstPages } from './first-pages.ts';
import { addImage, requireRoom } from './held-images.ts';
import { idOf } from './ids.ts';
import { isWhole } from './read-page.ts';
import type { Service } from './service.ts';

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
  /** The `meta` of the first page. */
  readonly meta: ImagePage['meta'];
  /** Number of all images that match, if known. */
  readonly total?: number | undefined;
}

/** A list that one page has. */
interface OnePage {
  readonly images: readonly ReceivedImage[];
  readonly end: ListEnd;
}

/**
 * Yields every image that matches, up to the limit: from one page if that is sure to have them, else from all pages.
 *
 *     list ubuntu                  filter=name,like,%ubuntu%&sort=id,desc   enough if all that match fit on the page
 *     list -n 5                    sort=id,desc&per_page=5                  enough
 *     list -s created_on,desc -n 5   sort=created_on,desc                   enough if the order is proved
 *
 * All pages are read without a filter, as they are read by id and the service takes one filter only.
 */
export async function* listCatalogue(
  service: Service,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const onePage = await listOnePage(service, query, options);
  if (onePage === undefined) return yield* listAllPages(service, query, options);
  yield onePage.images;
  return onePage.end;
}

async function* listAllPages(
  service: Service,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const { limit = Number.POSITIVE_INFINITY, streams = false } = options;
  const first = await service.firstPages.ofAll(options.perPage);
  const isById = isOrderOf(query, BY_ID);
  // In another order than by id, the last image that is read may be the first of the list.
  const readLimit = isById ? limit : Number.POSITIVE_INFINITY;
  const isStreamed = isById && streams;
  const held: ReceivedImage[] = [];
  let heldBytes = 0;
  let found = 0;
  for await (const { images, bytes } of matchesByPage(service, first, query, readLimit, options)) {
    found += images.length;
    if (isStreamed) {
      yield images;
      continue;
    }
    for (const image of images) held.push(image);
    if (images.length > 0) heldBytes += bytes;
    requireRoom(heldBytes);
  }
  if (!isStreamed) yield query.sort(held).slice(0, limit);
  return found === readLimit ? endOfPart(first, query) : { meta: first.meta, total: found };
}

/** Yields what matches of each page, and the bytes of the page, until as many were found as the limit says. */
async function* matchesByPage(
  service: Service,
  first: ImagePage,
  query: Query,
  limit: number,
  { perPage = MAX_PER_PAGE, watch }: ReadOptions,
) {
  const wanted = query.isEverything ? limit : Number.POSITIVE_INFINITY;
  let found = 0;
  for await (const { images, bytes } of allImages(service, first, { perPage, wanted })) {
    watch?.(images, first.total);
    const matching = matchesOf(query, images).slice(0, limit - found);
    found += matching.length;
    yield { images: matching, bytes };
    if (found === limit) return;
  }
}

function matchesOf(query: Query, images: readonly ReceivedImage[]): readonly ReceivedImage[] {
  if (query.conditions.length === 0) return images;
  return images.filter((image) => query.matches(image));
}

/** Returns the end of a list that was not read to its end: nobody knows how many others match. */
function endOfPart({ meta, total }: ImagePage, { conditions }: Query): ListEnd {
  return { meta, total: conditions.length > 0 ? undefined : total };
}

/** Returns the list if its first page is sure to have the images that are wanted, else undefined. */
export async function listOnePage(
  service: Service,
  query: Query,
  options: ReadOptions,
): Promise<OnePage | undefined> {
  const { limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE, watch } = options;
  const sort = sortOfFirstPage(query, limit <= perPage);
  const size = query.isEverything ? Math.min(perPage, limit) : perPage;
  for (const filter of filtersToSend(query)) {
    const attempt = await tryFilter(service, query, filter, { sort, size, limit });
    if (attempt.kind === 'complete') {
      watch?.(attempt.page.images, attempt.page.total, filter.text);
      return attempt.list;
    }
    if (attempt.kind === 'too-many') return undefined;
    if (attempt.kind === 'unneeded') break;
  }
  const page = await unfilteredPage(service.firstPages, sort, size);
  const list = page && selectOn(page, sort, query, limit);
  if (page && list) watch?.(page.images, page.total);
  return list;
}

/** What comes of a list with a filter. */
type Attempt =
  | { readonly kind: 'complete'; readonly page: ImagePage; readonly list: OnePage }
  /** More match than its first page has. The other filters are likely to leave more. */
  | { readonly kind: 'too-many' }
  /** The filter loses images, or the service does not take it: the next one is tried. */
  | { readonly kind: 'lossy' | 'refused' }
  /** A page with all images has come. */
  | { readonly kind: 'unneeded' };

async function tryFilter(
  { firstPages, like }: Service,
  query: Query,
  filter: ServiceFilter,
  {
    sort,
    size,
    limit,
  }: { readonly sort: FieldSort; readonly size: number; readonly limit: number },
): Promise<Attempt> {
  if (firstPages.hasAll) return { kind: 'unneeded' };
  if (like.isLossy(filter)) return { kind: 'lossy' };
  const asked = { filter: filter.text, sort: printSort(sort), perPage: size };
  const page = await firstPages.ask(asked);
  if (page === undefined) return { kind: 'refused' };
  // A proof costs a request, so only a page that would be enough is proved.
  const list = selectOn(page, sort, query, limit);
  if (list === undefined) return { kind: 'too-many' };
  const proof = await like.prove(filter, page, sort);
  return proof === 'lossless' ? { kind: 'complete', page, list } : { kind: proof };
}

/** Returns the page with all images if it was read, else the first one in this order. */
function unfilteredPage(firstPages: FirstPages, sort: FieldSort, perPage: number) {
  if (firstPages.hasAll) return firstPages.ofAll();
  if (sort === BY_ID) return firstPages.ofAll(perPage);
  return firstPages.ask({ sort: printSort(sort), perPage });
}

/**
 * Returns the filters that a list may have, the longest value first: it is likely to leave the fewest images. Not those of an
 * order: a service that compares ids as texts finds 3 of 999 below 1000.
 */
function filtersToSend({ conditions }: Query): ServiceFilter[] {
  const filters = conditions.flatMap((condition) => condition.sent ?? []);
  const valueLength = ({ field, operator, text }: ServiceFilter) =>
    text.length - field.length - operator.length;
  return filters
    .filter(({ operator }) => !/^[lg][te]$/.test(operator))
    .sort((one, other) => valueLength(other) - valueLength(one));
}

/** Returns the order in which the first page may be enough: by id, or the newest first if a limit fits on it. */
function sortOfFirstPage({ sorts }: Query, fitsOnPage: boolean): FieldSort {
  const [key] = sorts;
  if (key === undefined || sorts.length > 1 || !isFieldSort(key)) return BY_ID;
  const { field, direction } = key;
  const isNewest = kindOf(field) === 'time' && direction === 'desc' && fitsOnPage;
  const isLowestId = field === 'id' && direction === 'asc';
  return isNewest || isLowestId ? key : BY_ID;
}

/** True if the query sorts by this alone. One that does not sort is read by id. */
function isOrderOf({ sorts }: Query, sort: FieldSort): boolean {
  const [{ field, direction } = BY_ID] = sorts;
  return sorts.length <= 1 && field === sort.field && direction === sort.direction;
}

/** Returns what the query selects if all of it is surely on this page, else undefined. */
function selectOn(
  page: ImagePage,
  sort: FieldSort,
  query: Query,
  limit: number,
): OnePage | undefined {
  const unique = new Map<unknown, ReceivedImage>();
  for (const image of page.images) addImage(unique, image);
  const matching = matchesOf(query, [...unique.values()]);
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page) && unique.size >= page.total) {
    return { images, end: { meta: page.meta, total: matching.length } };
  }
  const isInOrder = isOrderOf(query, sort) && isSortedBy(sort, page);
  const isEnough = images.length === limit && isInOrder && isFarFromRest(images.at(-1), sort, page);
  return isEnough ? { images, end: endOfPart(page, query) } : undefined;
}

/** True if the service says that it sorted, section 2.3, and did so as imgctl does. */
function isSortedBy(sort: FieldSort, { images, meta, total }: ImagePage): boolean {
  if (meta.sort !== printSort(sort)) return false;
  const [first] = images;
  // 1100 images cannot all have lower ids than 999, which comes first where ids are sorted as texts.
  if (first && sort === BY_ID && idOf(first) < total - 1) return false;
  const ranks = ranksOf(images, sort.field);
  const sign = sort.direction === 'asc' ? 1 : -1;
  const orders = ranks.slice(1).map((rank, index) => compareRanks(ranks[index] ?? null, rank));
  return orders.every((order) => order * sign <= 0);
}

/**
 * True if no image on another page can be before this one. A service that compares times as texts may place an image
 * behind others that are a day older, and some send those without a time first.
 */
function isFarFromRest(last: ReceivedImage | undefined, { field }: FieldSort, page: ImagePage) {
  if (field === 'id') return true;
  const timeOf = (image: ReceivedImage = {}) => ranksOf([image], field)[0] ?? null;
  const time = timeOf(last);
  const endOfPage = timeOf(page.images.at(-1)) ?? Number.NEGATIVE_INFINITY;
  return typeof time === 'number' && time - Number(endOfPage) > ZONE_SPREAD;
}
