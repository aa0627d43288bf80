// Finds the page that is sure to have a list, so that the other pages need not be read.

import { type ImagePage, keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { type Field, kindOf } from '../query/fields.ts';
import type { Query } from '../query/query.ts';
import type { ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, isFieldSort, printSort, ranksOf } from '../query/sort.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import { areDescending, idOf } from './ids.ts';
import { isWhole } from './page.ts';
import type { Service } from './service.ts';

/** The list that a page must have. */
interface Wanted {
  readonly query: Query;
  /** Infinity without a limit. */
  readonly limit: number;
  readonly perPage: number;
}

interface SureList {
  readonly page: ImagePage;
  /** The filter of the page, if it has one. */
  readonly filter: ServiceFilter | undefined;
  /** What is wanted of the page. */
  readonly images: readonly ReceivedImage[];
  /** How many images match in all, if known. */
  readonly total: number | undefined;
}

/**
 * Returns a page that is sure to have the list, and the list; undefined if no page is. A page is
 * enough if it has all images that match, or as many as the limit says and no other page has an
 * image that comes before them:
 *
 *     list ubuntu                    filter=name,like,%ubuntu%&sort=id,desc   enough if it has all
 *     list -n 5                      sort=id,desc                             or the highest ids
 *     list -s id -n 5                sort=id,asc                              or the lowest
 *     list -s created_on,desc -n 5   sort=created_on,desc                     or the newest
 */
export async function findSurePage(
  service: Service,
  wanted: Wanted,
): Promise<SureList | undefined> {
  const { firstPages, like } = service;
  const { query, perPage } = wanted;
  const sort = sortOfPage(wanted);
  const asked = { sort: printSort(sort), perPage };
  // If the page of all images was read already, and has all of them, no filter is needed.
  const filters = firstPages.hasAll ? [] : filtersToSend(query);
  for (const filter of filters) {
    if (like.hasFailed(filter)) continue;
    const page = await firstPages.ask({ ...asked, filter: filter.text });
    // The service refuses this filter.
    if (page === undefined) continue;
    const list = await listOn(page, sort, wanted, service);
    // More images match than a page has. The other filters are likely to leave even more.
    if (list === undefined) return undefined;
    // A proof costs a request, so only a page that would be enough is proved.
    const verdict = await like.prove(filter, page, { sort, perPage });
    if (verdict === 'lossless') return { page, filter, ...list };
    if (verdict === 'unneeded') break;
  }
  const isOfAll = sort === BY_ID || firstPages.hasAll;
  const page = await (isOfAll ? firstPages.ofAll(perPage) : firstPages.ask(asked));
  const list = page && (await listOn(page, sort, wanted, service));
  return list && { page, filter: undefined, ...list };
}

/** Returns the order of the page: by id, or the newest or lowest first if the limit fits on it. */
function sortOfPage({ query: { sorts }, limit, perPage }: Wanted): FieldSort {
  const [key, ...others] = sorts;
  if (key === undefined || others.length > 0 || limit > perPage || !isFieldSort(key)) return BY_ID;
  const isNewest = kindOf(key.field) === 'time' && key.direction === 'desc';
  const isLowest = key.field === 'id' && key.direction === 'asc';
  return isNewest || isLowest ? key : BY_ID;
}

/**
 * Returns the filters that a page may have, the longest value first, as it is likely to leave the
 * fewest images. `id<1000` is not sent: a service that compares ids as texts finds 3 of 999 images.
 */
function filtersToSend({ conditions }: Query): ServiceFilter[] {
  const filters = conditions.flatMap((condition) => condition.sent ?? []);
  const valueLength = ({ field, operator, text }: ServiceFilter) =>
    text.length - field.length - operator.length;
  return filters
    .filter(({ operator }) => !/^[lg][te]$/.test(operator))
    .sort((one, other) => valueLength(other) - valueLength(one));
}

/** Returns the list if the page is sure to have it. */
async function listOn(
  page: ImagePage,
  sort: FieldSort,
  { query, limit, perPage }: Wanted,
  { firstPages }: Service,
) {
  if (!areDifferent(page.images)) return undefined;
  const matching = matchesOf(query, page.images);
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page)) return { images, total: matching.length };
  // Other pages have more images, which come behind these if the service sorted as asked.
  const saysSorted = isOrderOf(query, sort) && page.meta.sort === printSort(sort);
  if (!saysSorted || images.length < limit) return undefined;
  const hasFirst =
    sort.field === 'id'
      ? isInOrder(page, sort) && (await firstPages.sortsIdsAsNumbers(perPage))
      : hasNewest(page, images, sort.field);
  return hasFirst ? { images, total: totalOfPart(page, query) } : undefined;
}

/** True if the ids are whole numbers in the order of the sort. */
function isInOrder({ images }: ImagePage, { direction }: FieldSort): boolean {
  const ids = images.map(idOf);
  return areDescending(direction === 'desc' ? ids : ids.reverse());
}

function areDifferent(images: readonly ReceivedImage[]): boolean {
  return new Set(images.map(keyOf)).size === images.length;
}

/**
 * True if the page has the newest image first, and its last one is so much older than the wanted
 * ones that no other page has an image as new as those. A service that compares times as texts may
 * send an image after others that are a day older, and some send images without a time first.
 */
function hasNewest(page: ImagePage, wanted: readonly ReceivedImage[], field: Field): boolean {
  const timesOf = (images: readonly ReceivedImage[]) =>
    ranksOf(images, field).map((rank) => (typeof rank === 'number' ? rank : -Infinity));
  const times = timesOf(page.images);
  const isSorted = times.every((time, at) => time <= (times[at - 1] ?? Infinity));
  return isSorted && Math.min(...timesOf(wanted)) - Math.min(...times) > ZONE_SPREAD;
}

/** True if the query sorts by this alone. A query without a sort is by id. */
export function isOrderOf({ sorts }: Query, sort: FieldSort): boolean {
  const [{ field, direction } = BY_ID] = sorts;
  return sorts.length <= 1 && field === sort.field && direction === sort.direction;
}

export function matchesOf(query: Query, images: readonly ReceivedImage[]) {
  if (query.conditions.length === 0) return images;
  return images.filter((image) => query.matches(image));
}

/**
 * Returns how many match in all, for a list that was not read to its end: unknown with conditions.
 */
export function totalOfPart({ total }: ImagePage, { conditions }: Query): number | undefined {
  return conditions.length > 0 ? undefined : total;
}
