// Finds the page that is sure to have a list, so that the other pages need not be read.

import { type ImagePage, keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, kindOf } from '../query/fields.ts';
import type { Query } from '../query/query.ts';
import type { ServiceFilter } from '../query/service-filter.ts';
import {
  BY_ID,
  type FieldSort,
  isFieldSort,
  isSortedBy,
  printSort,
  ranksOf,
} from '../query/sort.ts';
import { ZONE_SPREAD } from '../query/timestamp.ts';
import type { IdOrder } from './id-order.ts';
import { areDescending, idOf } from './ids.ts';
import type { ListRun } from './list-run.ts';
import { isEcho, isWhole } from './page.ts';

/** The list that a page must have. */
interface Wanted {
  readonly query: Query;
  /** Infinity without a limit. */
  readonly limit: number;
}

interface SurePage {
  readonly page: ImagePage;
  /** The filter that was sent. */
  readonly filter?: ServiceFilter;
  /** The list. */
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
 */
export async function findSurePage(run: ListRun, wanted: Wanted): Promise<SurePage | undefined> {
  const sort = sortOfPage(wanted, run.perPage);
  for (const filter of filtersToSend(wanted.query)) {
    const page = await pageWithFilter(filter, sort, run);
    const list = page && (await listOn(page, sort, wanted, run));
    if (list) return { ...list, filter };
  }
  const page = await pageWithoutFilter(sort, run);
  return listOn(page, sort, wanted, run);
}

/**
 * Returns undefined if the service refuses the filter, or may lose images by it, or if the first
 * page of all images has all of them.
 */
async function pageWithFilter(
  filter: ServiceFilter,
  sort: FieldSort,
  { firstPages, likeProofs }: ListRun,
): Promise<ImagePage | undefined> {
  if (firstPages.hasAll || likeProofs.hasFailed(filter)) return undefined;
  const page = await firstPages.request({ filter: filter.text, sort: printSort(sort) });
  if (page instanceof ImgctlError) return undefined;
  // Services agree on what all operators but `like` find.
  if (filter.part === undefined) return page;
  // The proof takes values of this page, and is not needed if it has all images.
  if (isWhole(await firstPages.ofAll())) return undefined;
  return (await likeProofs.prove(filter.field, filter.part, page)) ? page : undefined;
}

/** Returns the first page of all images, in this order or, if it is refused, by id. */
async function pageWithoutFilter(sort: FieldSort, { firstPages }: ListRun): Promise<ImagePage> {
  // A page that has all images is enough in any order.
  if (isSortedBy([sort], BY_ID) || firstPages.hasAll) return firstPages.ofAll();
  const page = await firstPages.request({ sort: printSort(sort) });
  return page instanceof ImgctlError ? firstPages.ofAll() : page;
}

/** Returns the order of the page: by id, or the newest or lowest first if the limit fits on it. */
function sortOfPage({ query: { sorts }, limit }: Wanted, perPage: number): FieldSort {
  const [key, ...others] = sorts;
  if (key === undefined || others.length > 0 || !isFieldSort(key)) return BY_ID;
  if (limit > perPage) return BY_ID;
  const isNewest = kindOf(key.field) === 'time' && key.direction === 'desc';
  const isLowest = key.field === 'id' && key.direction === 'asc';
  return isNewest || isLowest ? key : BY_ID;
}

/** Returns the filters, the longest value first, as it is likely to leave the fewest images. */
function filtersToSend({ conditions }: Query): ServiceFilter[] {
  return conditions
    .flatMap((condition) => condition.sent ?? [])
    .filter(({ isLossless }) => isLossless)
    .sort((one, other) => other.valueLength - one.valueLength);
}

/** Returns the list if the page has it for sure. @param sort the order that was requested */
async function listOn(
  page: ImagePage,
  sort: FieldSort,
  { query, limit }: Wanted,
  { idOrder }: ListRun,
): Promise<SurePage | undefined> {
  const isRepeating = new Set(page.images.map(keyOf)).size < page.images.length;
  if (isRepeating) return undefined;
  const matching = page.images.filter((image) => query.matches(image));
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page)) return { page, images, total: matching.length };
  if (images.length < limit || !isSortedBy(query.sorts, sort)) return undefined;
  const isSure = await comeFirst(images, page, sort, idOrder);
  return isSure ? { page, images, total: totalOfPart(page, query, limit) } : undefined;
}

/** True if no other page has an image that comes before these. */
async function comeFirst(
  images: readonly ReceivedImage[],
  page: ImagePage,
  sort: FieldSort,
  idOrder: IdOrder,
): Promise<boolean> {
  // The service may ignore the sort, or have refused it.
  if (!isEcho(printSort(sort), page.meta.sort)) return false;
  if (sort.field !== 'id') return hasNewest(page, images, sort.field);
  return isInOrder(page, sort) && idOrder.isByNumber();
}

/** True if the ids are whole numbers in the order of the sort. */
function isInOrder({ images }: ImagePage, { direction }: FieldSort): boolean {
  const ids = images.map(idOf);
  return areDescending(direction === 'desc' ? ids : ids.reverse());
}

/**
 * True if no other page has an image as new as these. A service that compares times as texts, with
 * their zones, may send an image after others that are up to ZONE_SPREAD older:
 *
 *     the newest five     20 May and later
 *     the last image      18 May: other pages have none after 19 May, so the five are sure
 *                         20 May: other pages may have one of 21 May
 *
 * Times that are unreadable, or not sorted, prove nothing.
 */
function hasNewest(page: ImagePage, newest: readonly ReceivedImage[], field: Field): boolean {
  const timesOf = (images: readonly ReceivedImage[]) =>
    ranksOf(images, field).map((rank) => (typeof rank === 'number' ? rank : Number.NaN));
  const times = timesOf(page.images);
  const isSorted = times.every((time, at) => time <= (times[at - 1] ?? Infinity));
  return isSorted && Math.min(...timesOf(newest)) - Math.min(...times) > ZONE_SPREAD;
}

/**
 * Returns how many match in all, for a list of which only so many were read: unknown with
 * conditions, or if the service announced fewer.
 */
export function totalOfPart(
  { total }: ImagePage,
  { conditions }: Query,
  count: number,
): number | undefined {
  return conditions.length > 0 || total < count ? undefined : total;
}
