// Reads all images of the service: by id, or by page number if the service cannot filter or sort by id.

import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { EVERYTHING } from '../query/query.ts';
import { ID_ORDER } from './first-pages.ts';
import { areDescending, IdList, idOf } from './ids.ts';
import { NotByIdError, pagesById } from './pages-by-id.ts';
import { incompleteList, pagesByNumber } from './pages-by-number.ts';
import { isRefusedRequest, readPage } from './read-page.ts';
import type { Service } from './service.ts';

interface List {
  readonly first: ImagePage;
  /** False if the service refuses it. */
  readonly canSort: boolean;
  /** Returns a page, the first one unless a number says otherwise. @throws ImgctlError incomplete-list: too many */
  readonly pageOf: (more: Partial<PageQuery>, number?: number) => Promise<ImagePage>;
}

/**
 * Yields all images, each once.
 * @param first the first page @param wanted number of images after which the caller stops
 * @throws ImgctlError incomplete-list
 */
export async function* allImages(
  { client, firstPages, trace }: Service,
  first: ImagePage,
  { perPage, wanted }: { readonly perPage: number; readonly wanted: number },
) {
  const abort = new AbortController();
  const { signal } = abort;
  const canSort = firstPages.sortsById;
  const query = { sort: canSort ? ID_ORDER : undefined, perPage };
  const countRequest = requestLimit(first);
  const pageOf: List['pageOf'] = async (more, number = 1) => {
    countRequest();
    return readPage(client, { ...query, ...more }, number, { signal });
  };
  const list = { first, canSort, pageOf };
  const yieldedIds = new IdList();
  try {
    for await (const { images, ids, bytes } of readById(list, client.connections, wanted)) {
      yieldedIds.add(ids);
      yield { images, bytes };
    }
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    trace(`${error.message}, so the list is read by page number`);
    const images = await readByNumber(list, error.cause);
    yield { images: EVERYTHING.sort(restOf(images, yieldedIds)), bytes: 0 };
  } finally {
    abort.abort(new Error('no longer needed'));
  }
}

/** Returns the images that were not yielded. */
function restOf(images: readonly ReceivedImage[], yieldedIds: IdList): ReceivedImage[] {
  const { lowest } = yieldedIds;
  // In the order of ids, others above the lowest are new.
  if (areDescending(images.map(idOf))) return images.filter((image) => idOf(image) < lowest);
  const isYielded = yieldedIds.toSet();
  return images.filter((image) => !isYielded.has(idOf(image)));
}

/** Allows three times the pages that the first one announces, and ten. */
function requestLimit({ pages, total, images }: ImagePage) {
  // Either number may be wrong.
  const announced = Math.max(pages, total / Math.max(images.length, 1), 1);
  let left = 3 * Math.min(Math.ceil(announced), MAX_PAGES) + 10;
  return () => {
    left -= 1;
    if (left < 0) throw incompleteList('its pages do not end');
  };
}

/** @throws NotByIdError the rest must be read by page number */
async function* readById(list: List, connections: number, wanted: number) {
  const { first, canSort } = list;
  if (!canSort || first.meta.sort !== ID_ORDER) {
    throw new NotByIdError('the service does not sort by id');
  }
  let seen = 0;
  let isChecked = false;
  const pages = pagesById(first, readerBelow(list), { connections, wanted });
  for await (const page of pages) {
    seen += page.images.length;
    const isShort = seen + page.below < first.total;
    if (isShort && !isChecked) {
      isChecked = true;
      await requireChange(list);
    }
    yield page;
  }
}

/** Returns a function that reads the first page of the images below an id. */
function readerBelow({ pageOf }: List) {
  let hasResponded = false;
  return async (bound: number) => {
    try {
      const page = await pageOf({ filter: `id,lt,${bound}` });
      hasResponded = true;
      return page;
    } catch (error) {
      if (hasResponded || !isRefusedRequest(error)) throw error;
      throw new NotByIdError('the service does not filter by id', { cause: error });
    }
  };
}

/** @param refusal why the list cannot be read by id: the error if it cannot be read by number either */
async function readByNumber({ canSort, pageOf }: List, refusal: unknown) {
  const readNumber = (number: number) => pageOf({}, number);
  const readState = async () => stateOf(await pageOf({ perPage: 1 }));
  try {
    return await pagesByNumber(readNumber, canSort ? readState : undefined);
  } catch (error) {
    if (isRefusedRequest(refusal) && isRefusedRequest(error)) throw refusal;
    throw error;
  }
}

/**
 * Called if fewer images come than were announced: the list has changed, or the service leaves some out. A service does
 * so if an image has no id, or if it compares ids as texts: 1250 then comes behind 999, and 99 is not below 500. So a filter
 * that all ids match must leave as many images as no filter:
 *
 *     highest id of the first page 999, so filter=id,lt,1000   has the total of no filter: the list has changed
 *                                                              has a lower total: the service leaves images out
 *
 * @throws NotByIdError the service leaves images out
 */
async function requireChange({ first, pageOf }: List) {
  const leftOut = `the service sent fewer than the ${first.total} images that it announced`;
  const all = await pageOf({ perPage: 1 });
  if (stateOf(all) === stateOf(first)) throw new NotByIdError(leftOut);
  const [highest] = first.images;
  const powerOfTen = 10 ** `${highest && idOf(highest)}`.length;
  const asked = { filter: `id,lt,${powerOfTen}`, perPage: 1 };
  const withIds = await pageOf(asked).catch((error: unknown) => {
    // A database may not take a number that no image has.
    if (isRefusedRequest(error)) return undefined;
    throw error;
  });
  if (withIds && withIds.total < all.total) throw new NotByIdError(leftOut);
}

/** Tells one state of the list from another, by the first image and the total. */
const stateOf = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
