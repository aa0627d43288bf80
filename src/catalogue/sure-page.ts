// Finds the page that is sure to have a list, so that the other pages need not be read.

import { type ImagePage, keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, kindOf } from '../query/fields.ts';
import type { Query } from '../query/query.ts';
import type { ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, isFieldSort, printSort, ranksOf } from '../query/sort.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import type { FirstPages } from './first-pages.ts';
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
  readonly filter?: ServiceFilter;
  /** The part of the page that is the list. */
  readonly images: readonly ReceivedImage[];
  /** How many images match in all, if known. */
  readonly total: number | undefined;
}

/**
 * Returns a page that is sure to have the list; undefined if all pages must be read. A page is
 * enough if it has all images that match, or as many as the limit says and no other page has an
 * image that comes before them:
 *
 *     list ubuntu                    filter=name,like,%ubuntu%&sort=id,desc   enough if it has all
 *     list -n 5                      sort=id,desc                             or the highest ids
 *     list -s id -n 5                sort=id,asc                              or the lowest
 *     list -s created_on,desc -n 5   sort=created_on,desc                     or the newest
 *
 * What follows the page with a filter:
 *
 *     the service refuses it       the page with the next filter, at last without one
 *     it is not enough             all pages, as another filter is likely to leave more images
 *     its filter is unneeded       the page without a filter, which has all images
 *     its filter may lose images   the page with the next filter, at last without one
 *     otherwise                    nothing: it has the list
 */
export async function findSurePage(
  { firstPages, like }: Service,
  wanted: Wanted,
): Promise<SureList | undefined> {
  const { query, perPage } = wanted;
  const sort = sortOfPage(wanted);
  let refusal: ImgctlError | undefined;
  // If the page of all images was read already, and has all of them, no filter is needed.
  for (const filter of firstPages.hasAll ? [] : filtersToSend(query)) {
    if (like.hasFailed(filter)) continue;
    const pageQuery = { filter: filter.text, sort: printSort(sort), perPage };
    const page = await firstPages.request(pageQuery, refusal);
    if (page instanceof ImgctlError) {
      refusal ??= page;
      continue;
    }
    const sure = await sureImages(page, sort, wanted, firstPages);
    if (sure === undefined) return undefined;
    // A proof costs a request, so only a page that would be enough is proved.
    const verdict = await like.prove(filter, page, { sort, perPage });
    if (verdict === 'unneeded') break;
    if (verdict === 'lossless') return { page, filter, ...sure };
  }
  const page = await pageWithoutFilter(firstPages, sort, perPage, refusal);
  const sure = await sureImages(page, sort, wanted, firstPages);
  return sure && { page, ...sure };
}

/** Returns the page of all images in this order, or in another if the service refuses this one. */
async function pageWithoutFilter(
  firstPages: FirstPages,
  sort: FieldSort,
  perPage: number,
  refusal: ImgctlError | undefined,
): Promise<ImagePage> {
  if (sort === BY_ID || firstPages.hasAll) return firstPages.ofAll(perPage, refusal);
  const page = await firstPages.request({ sort: printSort(sort), perPage }, refusal);
  return page instanceof ImgctlError ? firstPages.ofAll(perPage, refusal ?? page) : page;
}

/** Returns the order of the page: by id, or the newest or lowest first if the limit fits on it. */
function sortOfPage({ query: { sorts }, limit, perPage }: Wanted): FieldSort {
  const [key, ...others] = sorts;
  if (key === undefined || others.length > 0 || !isFieldSort(key)) return BY_ID;
  if (limit > perPage) return BY_ID;
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
    text.length - `${field},${operator},`.length;
  return filters
    .filter(({ operator }) => !/^[lg][te]$/.test(operator))
    .sort((one, other) => valueLength(other) - valueLength(one));
}

/** Returns the list if the page has it for sure. @param sort the order that was requested */
async function sureImages(
  page: ImagePage,
  sort: FieldSort,
  { query, limit, perPage }: Wanted,
  firstPages: FirstPages,
) {
  const isRepeating = new Set(page.images.map(keyOf)).size < page.images.length;
  if (isRepeating) return undefined;
  const matching = page.images.filter((image) => query.matches(image));
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page)) return { images, total: matching.length };
  if (images.length < limit) return undefined;
  // Other pages have more images, which come behind these if the service sorted as asked.
  const saysSorted = isSortedBy(query, sort) && page.meta.sort === printSort(sort);
  if (!saysSorted) return undefined;
  const comeFirst =
    sort.field === 'id'
      ? isInOrder(page, sort) && (await firstPages.sortsIdsAsNumbers(perPage))
      : hasNewest(page, images, sort.field);
  return comeFirst ? { images, total: totalOfPart(page, query) } : undefined;
}

/** True if the ids are whole numbers in the order of the sort. */
function isInOrder({ images }: ImagePage, { direction }: FieldSort): boolean {
  const ids = images.map(idOf);
  return areDescending(direction === 'desc' ? ids : ids.reverse());
}

/**
 * True if the page begins with the newest image, and its last one is so much older than the newest
 * ones that no other page has an image as new as those. A service that compares times as texts may
 * send an image after others that are a day older, and some send images without a time first.
 */
function hasNewest(page: ImagePage, newest: readonly ReceivedImage[], field: Field): boolean {
  const timesOf = (images: readonly ReceivedImage[]) =>
    ranksOf(images, field).map((rank) => (typeof rank === 'number' ? rank : -Infinity));
  const times = timesOf(page.images);
  const isSorted = times.every((time, at) => time <= (times[at - 1] ?? Infinity));
  return isSorted && Math.min(...timesOf(newest)) - Math.min(...times) > ZONE_SPREAD;
}

/** True if the query sorts by this alone. A query without a sort is by id. */
export function isSortedBy({ sorts }: Query, sort: FieldSort): boolean {
  const [key = BY_ID, ...others] = sorts;
  return others.length === 0 && key.field === sort.field && key.direction === sort.direction;
}

/**
 * Returns how many match in all, for a list that was not read to its end: unknown with conditions.
 */
export function totalOfPart({ total }: ImagePage, { conditions }: Query): number | undefined {
  return conditions.length > 0 ? undefined : total;
}
