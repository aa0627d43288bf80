// Reads all images of the service: by id, or by page number if the service cannot filter or sort by id.

import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import { EVERYTHING } from '../query/query.ts';
import { ID_ORDER } from './first-pages.ts';
import { idOf } from './ids.ts';
import { NotByIdError, pagesById } from './pages-by-id.ts';
import { incompleteList, pagesByNumber } from './pages-by-number.ts';
import { isRefusedRequest, readPage } from './read-page.ts';
import type { Service } from './service.ts';

interface List {
  readonly first: ImagePage;
  /** False if the service refuses it. */
  readonly canSort: boolean;
  /** Requests a page, the first one unless a number says otherwise. @throws ImgctlError incomplete-list: too many */
  readonly request: (more: Partial<PageQuery>, number?: number) => Promise<ImagePage>;
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
  const request: List['request'] = async (more, number = 1) => {
    countRequest();
    return readPage(client, { ...query, ...more }, number, { signal });
  };
  const list = { first, canSort, request };
  let yieldedTo = Number.POSITIVE_INFINITY;
  try {
    for await (const next of readById(list, client.connections, wanted)) {
      const last = next.images.at(-1);
      if (last !== undefined) yieldedTo = idOf(last);
      yield next;
    }
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    trace(`${error.message}, so the list is read by page number`);
    const images = await readByNumber(list, error.cause);
    const rest = images.filter((image) => !(idOf(image) >= yieldedTo));
    // Sorted as those yielded: the highest id first, then images without one.
    yield { images: EVERYTHING.sort(rest), bytes: 0 };
  } finally {
    abort.abort(new Error('no longer needed'));
  }
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
  for await (const { images, below, bytes } of pages) {
    seen += images.length;
    const isShort = seen + below < first.total;
    if (isShort && !isChecked) {
      isChecked = true;
      await requireIdOrder(list);
    }
    yield { images, bytes };
  }
}

/** Returns a function that reads the first page of the images below an id. */
function readerBelow({ request }: List) {
  let hasResponded = false;
  return async (bound: number) => {
    try {
      const page = await request({ filter: `id,lt,${bound}` });
      hasResponded = true;
      return page;
    } catch (error) {
      if (hasResponded || !isRefusedRequest(error)) throw error;
      throw new NotByIdError('the service does not filter by id', { cause: error });
    }
  };
}

/** @param refusal why the list cannot be read by id: the error if it cannot be read by number either */
async function readByNumber({ canSort, request }: List, refusal: unknown) {
  const readNumber = (number: number) => request({}, number);
  const readState = async () => stateOf(await request({ perPage: 1 }));
  try {
    return await pagesByNumber(readNumber, canSort ? readState : undefined);
  } catch (error) {
    if (isRefusedRequest(refusal) && isRefusedRequest(error)) throw refusal;
    throw error;
  }
}

/**
 * Fewer images came than were announced. Either the list has changed, or the service compares ids as texts and so left some
 * out: 99 is not below 500 then. This asks for the ids below a power of ten. As numbers that is all ids. As texts only 1,
 * 10, 100 and so on are below it:
 *
 *     highest id 1250, so filter=id,lt,10000   sends 1250 or a newer image: the list has changed
 *                                              sends 1000 or 100: the service compares texts
 *
 * @throws NotByIdError the service leaves images out
 */
async function requireIdOrder({ first, request }: List) {
  const ids = first.images.map(idOf);
  const [highest = Number.NaN] = ids;
  const lowestOfFirst = ids.at(-1) ?? highest;
  const powerOfTen = 10 ** `${highest}`.length;
  const asked = { filter: `id,lt,${powerOfTen}`, perPage: 1 };
  const page = await request(asked).catch((error: unknown) => {
    // A database may not take a number that no image has.
    if (isRefusedRequest(error)) return undefined;
    throw error;
  });
  if (page === undefined) return;
  const isTop = (id: number) => id >= lowestOfFirst && id !== powerOfTen / 10;
  const comparesTexts = !page.images.map(idOf).some(isTop);
  // If the list is as it was, all images should have come.
  const isUnchanged = stateOf(page) === stateOf(first);
  if (comparesTexts || isUnchanged) {
    const announced = `the ${first.total} images that it announced`;
    throw new NotByIdError(`the service sent fewer than ${announced}`);
  }
}

/** Tells one state of the list from another, by the first image and the total. */
const stateOf = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
