// Finds out whether one page has a whole list, and requests that page.

import type { ImagePage } from '../api/images.ts';
import { keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { type Field, kindOf } from '../query/fields.ts';
import type { Query } from '../query/query.ts';
import type { ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, isFieldSort, printSort, ranksOf } from '../query/sort.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import { areDescending, idOf } from './ids.ts';
import { isWhole } from './page.ts';
import type { Service } from './service.ts';

/** A list that one page is to have. */
export interface Wanted {
  readonly query: Query;
  /** Infinity without a limit. */
  readonly limit: number;
  readonly perPage: number;
}

/** A page that is sure to have the list. */
interface SurePage {
  readonly page: ImagePage;
  /** The filter of the page, if it has one. */
  readonly filter: ServiceFilter | undefined;
  /** What is wanted of the page. */
  readonly images: readonly ReceivedImage[];
  /** Number of all images that match, if known. */
  readonly total: number | undefined;
}

/**
 * Returns a page if it is sure to have the list, else undefined. A page is enough if it is the whole list of the service, or
 * if it has as many as the limit says and the order of the service is proved:
 *
 *     list ubuntu                    filter=name,like,%ubuntu%&sort=id,desc   if all that match are on the page
 *     list -n 5                      sort=id,desc                             if they are the highest ids
 *     list -s created_on,desc -n 5   sort=created_on,desc                     if they are the newest
 */
export async function findSurePage(
  service: Service,
  wanted: Wanted,
): Promise<SurePage | undefined> {
  const { firstPages, like } = service;
  const { query, perPage } = wanted;
  const sort = sortOfPage(wanted);
  const asked = { sort: printSort(sort), perPage };
  for (const filter of filtersToSend(query)) {
    // A proof may have read them.
    if (firstPages.hasAll) break;
    if (like.hasFailed(filter)) continue;
    const page = await firstPages.ask({ ...asked, filter: filter.text });
    if (page === undefined) continue;
    const found = await selectOn(page, sort, wanted, service);
    // More images match than one page has, and the other filters are likely to leave even more.
    if (found === undefined) return undefined;
    // A proof costs a request, so only a page that would be enough is proved.
    if (await like.isLossless(filter, page, { sort, perPage })) return { page, filter, ...found };
  }
  const isOfAll = sort === BY_ID || firstPages.hasAll;
  const page = await (isOfAll ? firstPages.ofAll(perPage) : firstPages.ask(asked));
  const found = page && (await selectOn(page, sort, wanted, service));
  return found && { page, filter: undefined, ...found };
}

/** Returns the order in which the page is requested: by id, or the newest first if the limit fits on the page. */
function sortOfPage({ query: { sorts }, limit, perPage }: Wanted): FieldSort {
  const [key, ...others] = sorts;
  if (key === undefined || others.length > 0 || limit > perPage || !isFieldSort(key)) return BY_ID;
  const isNewest = kindOf(key.field) === 'time' && key.direction === 'desc';
  return isNewest ? key : BY_ID;
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

/** Returns what is wanted of a page, and how many match in all if known; undefined if the page may not have all of it. */
async function selectOn(
  page: ImagePage,
  sort: FieldSort,
  { query, limit, perPage }: Wanted,
  { firstPages }: Service,
) {
  const matching = matchesOf(query, page.images);
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page) && areDifferent(page.images)) return { images, total: matching.length };
  if (images.length < limit || !isOrderOf(query, sort) || page.meta.sort !== printSort(sort)) {
    return undefined;
  }
  const isSure =
    sort === BY_ID
      ? areDescending(page.images.map(idOf)) && (await firstPages.hasHighestIds(page, perPage))
      : hasNewest(page, images, sort.field);
  return isSure ? { images, total: totalOfPart(page, query) } : undefined;
}

/** Returns the total of a list that was not read to its end: with conditions, nobody knows how many match. */
export function totalOfPart({ total }: ImagePage, { conditions }: Query): number | undefined {
  return conditions.length > 0 ? undefined : total;
}

export function matchesOf(
  query: Query,
  images: readonly ReceivedImage[],
): readonly ReceivedImage[] {
  if (query.conditions.length === 0) return images;
  return images.filter((image) => query.matches(image));
}

/** True if the query sorts by this alone. One that does not sort is read by id. */
export function isOrderOf({ sorts }: Query, sort: FieldSort): boolean {
  const [{ field, direction } = BY_ID] = sorts;
  return sorts.length <= 1 && field === sort.field && direction === sort.direction;
}

function areDifferent(images: readonly ReceivedImage[]): boolean {
  return new Set(images.map(keyOf)).size === images.length;
}

/**
 * True if the page is sorted by time, the newest first, and no image on another page can be as new as the wanted ones. A
 * service that compares times as texts may place an image behind others that are a day older, and some send those without a
 * time first.
 */
function hasNewest(page: ImagePage, wanted: readonly ReceivedImage[], field: Field): boolean {
  const timesOf = (images: readonly ReceivedImage[]) =>
    ranksOf(images, field).map((rank) => (typeof rank === 'number' ? rank : -Infinity));
  const times = timesOf(page.images);
  const isSorted = times.every((time, at) => time <= (times[at - 1] ?? Infinity));
  return isSorted && Math.min(...timesOf(wanted)) - Math.min(...times) > ZONE_SPREAD;
}
