// Lists the images of the service: every one that matches exactly once, or an error.

import type { Client } from '../api/client.ts';
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
import { addImage, requireRoom } from './pages-by-number.ts';
import { isWhole } from './read-page.ts';
import type { ServiceHabits } from './service-habits.ts';

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

/**
 * Yields every image that matches, up to the limit: from one page if that is sure to have them, else from all pages.
 *
 *     list ubuntu              filter=name,like,%ubuntu%&sort=id,desc   enough if all that match fit on the page
 *     list -n 5                sort=id,desc&per_page=5                  enough
 *     list --sort -created_on -n 5   sort=created_on,desc               enough if the order is proved
 *
 * All pages are read without a filter, as they are read by id and the service takes one filter only.
 */
export async function* listCatalogue(
  client: Pick<Client, 'listImages' | 'connections'>,
  habits: ServiceHabits,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const onePage = await listOnePage(habits, query, options);
  if (onePage === undefined) return yield* listAllPages(client, habits, query, options);
  yield onePage.images;
  return onePage.end;
}

/** Reads all images and selects and sorts here. */
async function* listAllPages(
  client: Pick<Client, 'listImages' | 'connections'>,
  habits: ServiceHabits,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const { limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE, streams, watch } = options;
  const first = await habits.firstPage(perPage);
  const { meta, total } = first;
  const isById = isOrderOf(query, BY_ID);
  const isFiltered = query.conditions.length > 0;
  const wanted = isById && !isFiltered ? limit : Number.POSITIVE_INFINITY;
  const isStreamed = isById && streams === true;
  const held: ReceivedImage[] = [];
  let heldBytes = 0;
  let found = 0;
  // In another order than by id, the last image that is read may be the first of the list.
  let left = isById ? limit : Number.POSITIVE_INFINITY;
  for await (const { images, bytes } of allImages(client, habits, first, { perPage, wanted })) {
    watch?.(images, total);
    const matching = isFiltered ? images.filter((image) => query.matches(image)) : images;
    const next = matching.slice(0, left);
    found += next.length;
    left -= next.length;
    if (isStreamed) yield next;
    else {
      for (const image of next) held.push(image);
      if (next.length > 0) heldBytes += bytes;
      requireRoom(heldBytes);
    }
    if (left === 0) break;
  }
  if (!isStreamed) yield query.sort(held).slice(0, limit);
  if (left > 0) return { meta, total: found };
  return { meta, total: isFiltered ? undefined : total };
}

/** Returns the list if its first page is sure to have the images that are wanted, else undefined. */
export async function listOnePage(habits: ServiceHabits, query: Query, options: ReadOptions) {
  const { limit = Number.POSITIVE_INFINITY, perPage = MAX_PER_PAGE, watch } = options;
  const sort = sortOfFirstPage(query, limit <= perPage);
  const size = query.isEverything ? Math.min(perPage, limit) : perPage;
  for (const filter of filtersToSend(query)) {
    if (habits.hasAll) break;
    if (habits.like.hasFailed(filter)) continue;
    const page = await habits.ask({ filter: filter.text, sort: printSort(sort), perPage: size });
    if (page === undefined) continue;
    const list = selectOn(page, sort, query, limit);
    // More match than fit on a page.
    if (list === undefined) return undefined;
    if (await habits.like.isComplete(filter, page, sort)) {
      watch?.(page.images, page.total, filter.text);
      return list;
    }
  }
  const page = await unfilteredPage(habits, sort, size);
  const list = page && selectOn(page, sort, query, limit);
  if (page && list) watch?.(page.images, page.total);
  return list;
}

/** Returns the page with all images if it was read, else the first one in this order. */
function unfilteredPage(habits: ServiceHabits, sort: FieldSort, perPage: number) {
  if (habits.hasAll) return habits.firstPage();
  if (sort === BY_ID) return habits.firstPage(perPage);
  return habits.ask({ sort: printSort(sort), perPage });
}

/** Returns the filters that the service may get, the longest value first: it is likely to leave the fewest images. */
function filtersToSend({ conditions }: Query): ServiceFilter[] {
  const filters = conditions.flatMap((condition) => condition.sent ?? []);
  const valueLength = ({ field, operator, text }: ServiceFilter) =>
    text.length - field.length - operator.length;
  return filters.sort((one, other) => valueLength(other) - valueLength(one));
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
function selectOn(page: ImagePage, sort: FieldSort, query: Query, limit: number) {
  const { meta, total } = page;
  const unique = new Map<unknown, ReceivedImage>();
  for (const image of page.images) addImage(unique, image);
  const matching = [...unique.values()].filter((image) => query.matches(image));
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page) && unique.size >= total) {
    return { images, end: { meta, total: matching.length } };
  }
  const hasEnough = images.length === limit && isOrderOf(query, sort) && isSortedBy(sort, page);
  if (!hasEnough || !isFarFromRest(images.at(-1), sort, page)) return undefined;
  return { images, end: { meta, total: query.conditions.length > 0 ? undefined : total } };
}

/** True if the service says that it sorted, section 2.3, and did so as imgctl does. */
function isSortedBy(sort: FieldSort, { images, meta }: ImagePage): boolean {
  if (meta.sort !== printSort(sort)) return false;
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
