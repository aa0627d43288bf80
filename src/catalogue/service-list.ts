// Lists the images of the service: every one that matches exactly once, or an error.

import { type ImagePage, MAX_PER_PAGE } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import type { Query } from '../query/query.ts';
import { BY_ID } from '../query/sort.ts';
import { allImages } from './all-images.ts';
import { requireRoom } from './held-images.ts';
import type { Service } from './service.ts';
import { findSurePage, isOrderOf, matchesOf, totalOfPart } from './sure-page.ts';

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

/** Yields every image that matches, up to the limit: from a page if it surely has them, or all. */
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

/** Returns the list if one page is sure to have it, else undefined. */
export async function listOnePage(
  service: Service,
  query: Query,
  { limit = Infinity, perPage = MAX_PER_PAGE, watch }: ReadOptions,
) {
  const found = await findSurePage(service, { query, limit, perPage });
  if (found === undefined) return undefined;
  const { page, filter, images, total } = found;
  watch?.(page.images, page.total, filter?.text);
  return { images, end: { meta: page.meta, total } };
}

/** Reads pages without a filter: they are read by id, and the service takes one filter only. */
async function* listAllPages(
  service: Service,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const { limit = Infinity, perPage = MAX_PER_PAGE, streams } = options;
  const { firstPages } = service;
  const first = await firstPages.ofAll(perPage);
  const isInOrder =
    isOrderOf(query, BY_ID) &&
    (limit === Infinity || (await firstPages.sortsIdsAsNumbers(perPage)));
  const isStreamed = isInOrder && streams;
  // In another order, the last image that is read may be the first of the list.
  const most = isInOrder ? limit : Infinity;
  const held: ReceivedImage[] = [];
  let heldBytes = 0;
  let found = 0;
  for await (const { images, bytes } of matchingPages(service, query, first, options, most)) {
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
  const total = found === most ? totalOfPart(first, query) : found;
  return { meta: first.meta, total };
}

/** Yields what matches of each page, and ends when it has yielded so many images. */
async function* matchingPages(
  service: Service,
  query: Query,
  first: ImagePage,
  { perPage = MAX_PER_PAGE, watch }: ReadOptions,
  most: number,
) {
  // With conditions, nobody knows how many images must be read.
  const wanted = query.conditions.length === 0 ? most : Infinity;
  let left = most;
  for await (const { images, bytes } of allImages(service, first, { perPage, wanted })) {
    watch?.(images, first.total);
    const matching = matchesOf(query, images).slice(0, left);
    left -= matching.length;
    yield { images: matching, bytes };
    if (left === 0) return;
  }
}
