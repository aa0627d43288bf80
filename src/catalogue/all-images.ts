// Reads all images of the service: by id, or by page number if it cannot filter or sort by id.

import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { EVERYTHING } from '../query/query.ts';
import { ID_ORDER } from './first-pages.ts';
import { areDescending, idOf, lowestLongerId } from './ids.ts';
import { isRefusedRequest, pageOrRefusal, requestPage } from './page.ts';
import { NotByIdError, pagesById } from './pages-by-id.ts';
import { incompleteList, pagesByNumber } from './pages-by-number.ts';
import type { Service } from './service.ts';

/** Returns page 1 of all images, or that of the number. @param changes of its query */
type ReadPage = (changes: Partial<PageQuery>, number?: number) => Promise<ImagePage>;

/**
 * Yields all images, each once.
 * @param first the first page @param stopAfter number of images that the caller needs at most
 * @throws ImgctlError incomplete-list
 */
export async function* allImages(
  { client, firstPages, trace }: Service,
  first: ImagePage,
  perPage: number,
  stopAfter: number,
): AsyncGenerator<Pick<ImagePage, 'images' | 'bytes'>, void, void> {
  const abort = new AbortController();
  const { sortsById } = firstPages;
  const pageQuery = { sort: sortsById ? ID_ORDER : undefined, perPage };
  let countRequest = requestLimit(first);
  const readPage: ReadPage = async (changes, number) => {
    countRequest();
    return requestPage(client, { ...pageQuery, ...changes }, number, { signal: abort.signal });
  };
  // Outside of the heap, which V8 would enlarge for so many numbers.
  const yieldedIds: Float64Array[] = [];
  let seen = 0;
  let mayHaveLost = true;
  try {
    const { connections } = client;
    const pages = pagesById(first, readerBelow(readPage), { connections, stopAfter });
    for await (const page of pages) {
      seen += page.ids.length;
      if (mayHaveLost && seen + page.below < first.total) {
        await proveNoneLost(first, readPage);
        mayHaveLost = false;
      }
      yieldedIds.push(Float64Array.from(page.ids));
      yield page;
    }
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    trace(`${error.message}, so the list is read by page number`);
    // Each of the two ways has its own limit.
    countRequest = requestLimit(first);
    const images = await readByNumber(readPage, sortsById, error.cause);
    const ids = yieldedIds.flatMap((idsOfPage) => [...idsOfPage]);
    // Their size was limited already.
    yield { images: EVERYTHING.sort(restOf(images, ids)), bytes: 0 };
  } finally {
    abort.abort(new Error('no longer needed'));
  }
}

/**
 * Returns the images that were not yielded. If images are in the order of ids, one above the highest
 * that was is new, and left out, as it would come out of order.
 */
function restOf(images: readonly ReceivedImage[], yieldedIds: readonly number[]) {
  const yielded = new Set(yieldedIds);
  const rest = images.filter((image) => !yielded.has(idOf(image)));
  if (!areDescending(images.map(idOf))) return rest;
  const [highest = Infinity] = yieldedIds;
  return rest.filter((image) => idOf(image) < highest);
}

/** Allows three times the pages that the first one announces, but at most MAX_PAGES, and ten. */
function requestLimit({ pages, total, images }: ImagePage) {
  // Either number may be wrong.
  const announced = Math.max(pages, total / Math.max(images.length, 1), 1);
  let left = 3 * Math.min(Math.ceil(announced), MAX_PAGES) + 10;
  return () => {
    left -= 1;
    if (left < 0) throw incompleteList('its pages do not end');
  };
}

/** Returns a function that reads the first page of the images below an id. */
function readerBelow(readPage: ReadPage) {
  let hasResponded = false;
  return async (bound: number) => {
    try {
      const page = await readPage({ filter: `id,lt,${bound}` });
      hasResponded = true;
      return page;
    } catch (error) {
      // Once it has responded, the service does filter by id.
      if (hasResponded || !isRefusedRequest(error)) throw error;
      throw new NotByIdError('the service does not filter by id', { cause: error });
    }
  };
}

/**
 * Fewer images are left than announced: either the list has changed, or the filter loses some, as an
 * image has no id, or as the service compares ids as texts: 1250 is then after 999, and 99 not below
 * 500. So a filter that all ids match must find as many images as no filter. If the highest id is
 * 999:
 *
 *     without a filter          filter=id,lt,1000
 *     nothing has changed                          the service leaves images out
 *     1250 images               1250 images        the list has changed
 *     1250 images               1000 images        the service leaves images out
 *     1250 images               refused            it may leave images out
 *
 * @throws NotByIdError the service may leave images out
 */
async function proveNoneLost(first: ImagePage, readPage: ReadPage): Promise<void> {
  const leftOut = `the service sent fewer than the ${first.total} images that it announced`;
  const second = await readPage({ perPage: 1 });
  if (stateOf(second) === stateOf(first)) throw new NotByIdError(leftOut);
  const [highest = {}] = first.images;
  const filter = `id,lt,${lowestLongerId(idOf(highest))}`;
  const withIds = await pageOrRefusal(readPage({ filter, perPage: 1 }));
  const isProved = !(withIds instanceof ImgctlError) && withIds.total >= second.total;
  if (!isProved) throw new NotByIdError(leftOut);
}

/** @param refusal why ids are refused: thrown if the list cannot be read by number either */
async function readByNumber(readPage: ReadPage, sortsById: boolean, refusal: unknown) {
  const readState = async () => stateOf(await readPage({ perPage: 1 }));
  try {
    return await pagesByNumber((number) => readPage({}, number), sortsById ? readState : undefined);
  } catch (error) {
    throw isRefusedRequest(refusal) && isRefusedRequest(error) ? refusal : error;
  }
}

/** Tells one state of the list from another, by the first image and the total. */
const stateOf = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
