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
import { isEcho, isWhole } from './page.ts';
import type { Service } from './service.ts';

/** The list that a page must have. */
interface Wanted {
  readonly query: Query;
  /** Infinity without a limit. */
  readonly limit: number;
}

interface SurePage {
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
 * A filter that is refused, or may lose images, is followed by the next one, and at last by none.
 */
export async function findSurePage(
  { firstPages, like, perPage }: Service,
  wanted: Wanted,
): Promise<SurePage | undefined> {
  const sort = sortOfPage(wanted, perPage);
  const filters: (ServiceFilter | undefined)[] = filtersToSend(wanted.query);
  // Without a filter, a page in another order than by id may be enough too.
  if (sort !== BY_ID) filters.push(undefined);
  let refusal: ImgctlError | undefined;
  for (const filter of filters) {
    // An earlier list, or a proof, has read the page of all images.
    if (firstPages.hasAll) break;
    if (filter && like.knownVerdict(filter) === 'may-lose') continue;
    const pageQuery = { filter: filter?.text, sort: printSort(sort) };
    const page = await firstPages.request(pageQuery, refusal);
    if (page instanceof ImgctlError) {
      refusal ??= page;
      continue;
    }
    const list = await listOn(page, sort, wanted, firstPages);
    // Another filter is likely to leave more images.
    if (list === undefined || filter === undefined) return list;
    // A proof costs a request, so only a page that would be enough is proved.
    const verdict = await like.verdictOn(filter, page, sort);
    if (verdict === 'complete') return { ...list, filter };
    if (verdict === 'all-is-here') break;
  }
  return listOn(await firstPages.ofAll(refusal), sort, wanted, firstPages);
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
  const filters = conditions.flatMap((condition) => condition.sent ?? []);
  const valueLength = ({ field, operator, text }: ServiceFilter) =>
    text.length - `${field},${operator},`.length;
  return filters
    .filter(({ isLossless }) => isLossless)
    .sort((one, other) => valueLength(other) - valueLength(one));
}

/** Returns the list if the page has it for sure. @param sort the order that was requested */
async function listOn(
  page: ImagePage,
  sort: FieldSort,
  { query, limit }: Wanted,
  firstPages: FirstPages,
): Promise<SurePage | undefined> {
  const isRepeating = new Set(page.images.map(keyOf)).size < page.images.length;
  if (isRepeating) return undefined;
  const matching = page.images.filter((image) => query.matches(image));
  const images = query.sort(matching).slice(0, limit);
  if (isWhole(page)) return { page, images, total: matching.length };
  if (images.length < limit) return undefined;
  // Other pages have more images, which come behind these if the service sorted as asked.
  const saysSorted = isSortedBy(query, sort) && isEcho(printSort(sort), page.meta.sort);
  if (!saysSorted) return undefined;
  const comeFirst =
    sort.field === 'id'
      ? isInOrder(page, sort) && (await firstPages.sortsIdsAsNumbers())
      : hasNewest(page, images, sort.field);
  return comeFirst ? { page, images, total: totalOfPart(page, query) } : undefined;
}

/** True if the ids are whole numbers in the order of the sort. */
function isInOrder({ images }: ImagePage, { direction }: FieldSort): boolean {
  const ids = images.map(idOf);
  return areDescending(direction === 'desc' ? ids : ids.reverse());
}

/**
 * True if all times of the page are readable, the newest first, and its last one is so much older
 * than the newest images that no other page has one as new as those. A service that compares times
 * as texts may send an image after others that are a day older.
 */
function hasNewest(page: ImagePage, newest: readonly ReceivedImage[], field: Field): boolean {
  const timesOf = (images: readonly ReceivedImage[]) =>
    ranksOf(images, field).map((rank) => (typeof rank === 'number' ? rank : Number.NaN));
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
