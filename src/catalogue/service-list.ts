// Lists the images of the service: every one that matches exactly once, or an error.

import type { ImagePage } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import type { Query } from '../query/query.ts';
import { BY_ID, isSortedBy } from '../query/sort.ts';
import { allImages, type ImagesOfPage } from './all-images.ts';
import { holdImages } from './held-images.ts';
import type { ListRun } from './list-run.ts';
import { findSurePage, totalOfPart } from './sure-page.ts';

export interface ReadOptions {
  readonly limit?: number | undefined;
  /** Yields images as they come if their order allows it, else all at the end. */
  readonly streams?: boolean;
  /**
   * Receives the images that come, also those that do not match, some perhaps again.
   * @param total as announced
   * @param filter of the service, which leaves images out
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
 * Yields every image that matches, up to the limit: of one page if it has them for sure, else of as
 * many pages as are needed:
 *
 *     list -n 500           pages with 500 images that match, as the highest ids come first
 *     list -s name -n 500   all pages, as the last image may be the first by name
 *     list                  all pages
 *
 * With `streams`, images by id are yielded as they come, others at the end.
 */
export async function* listCatalogue(
  run: ListRun,
  query: Query,
  options: ReadOptions,
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const surePage = await listSurePage(run, query, options);
  if (surePage) {
    yield surePage.images;
    return surePage.end;
  }
  const { limit = Infinity, streams = false, watch } = options;
  const first = await run.firstPages.ofAll();
  // Without a limit nothing is left out, in whatever order ids come.
  const takesServiceOrder =
    isSortedBy(query.sorts, BY_ID) && (limit === Infinity || (await run.idOrder.isByNumber()));
  const stopAfter = takesServiceOrder ? limit : Infinity;
  const pages = matchingPages(run, query, first, stopAfter, watch);
  let count = 0;
  if (streams && takesServiceOrder) {
    for await (const { images } of pages) {
      count += images.length;
      yield images;
    }
  } else {
    const images = await holdImages(pages);
    count = images.length;
    yield query.sort(images).slice(0, limit);
  }
  const isPart = count === stopAfter;
  return { meta: first.meta, total: isPart ? totalOfPart(first, query, count) : count };
}

/** Returns the list if one page is sure to have it, else undefined. */
export async function listSurePage(
  run: ListRun,
  query: Query,
  { limit = Infinity, watch }: ReadOptions,
) {
  const sure = await findSurePage(run, { query, limit });
  if (sure === undefined) return undefined;
  const { page, filter, images, total } = sure;
  watch?.(page.images, page.total, filter?.text);
  return { images, end: { meta: page.meta, total } };
}

/**
 * Yields what matches of each page of all images. The pages have no other filter than that of their
 * ids, as the service takes only one.
 * @param stopAfter number of images that match after which no more are needed; Infinity for all
 */
async function* matchingPages(
  run: ListRun,
  query: Query,
  first: ImagePage,
  stopAfter: number,
  watch: ReadOptions['watch'],
): AsyncGenerator<ImagesOfPage, void, void> {
  // With conditions, nobody knows how many images must be read.
  const mostRead = query.conditions.length === 0 ? stopAfter : Infinity;
  let left = stopAfter;
  for await (const { images, bytes } of allImages(run, first, mostRead)) {
    watch?.(images, first.total);
    const matching = images.filter((image) => query.matches(image)).slice(0, left);
    left -= matching.length;
    // One image may be nearly as large as its page.
    yield { images: matching, bytes: matching.length > 0 ? bytes : 0 };
    if (left === 0) return;
  }
}
