// Reads all images of the service: by id, or by page number if the service cannot filter or sort by id.

import type { Client } from '../api/client.ts';
import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import { EVERYTHING } from '../query/query.ts';
import { idOf, NotByIdError, pagesById } from './pages-by-id.ts';
import { incompleteList, pagesByNumber } from './pages-by-number.ts';
import { isRefusedRequest, isWhole, readPage } from './read-page.ts';
import { ID_ORDER, type ServiceHabits } from './service-habits.ts';

interface List {
  readonly habits: ServiceHabits;
  readonly first: ImagePage;
  /** Requests a page [1], by id if the service can. @throws ImgctlError incomplete-list: too many */
  readonly request: (more: Partial<PageQuery>, number?: number) => Promise<ImagePage>;
}

/**
 * Yields all images, each once.
 * @param first the first page @param wanted number of images after which the caller stops
 * @throws ImgctlError incomplete-list
 */
export async function* allImages(
  client: Pick<Client, 'listImages' | 'connections'>,
  habits: ServiceHabits,
  first: ImagePage,
  { perPage, wanted }: { readonly perPage: number; readonly wanted: number },
) {
  const abort = new AbortController();
  const { signal } = abort;
  const byId = { sort: habits.sortsById ? ID_ORDER : undefined, perPage };
  const countRequest = requestLimit(first);
  const request: List['request'] = async (more, number = 1) => {
    countRequest();
    return readPage(client, { ...byId, ...more }, number, { signal });
  };
  const list = { habits, first, request };
  let yieldedTo = Number.POSITIVE_INFINITY;
  try {
    for await (const next of readById(list, client.connections, wanted)) {
      const last = next.images.at(-1);
      if (last !== undefined) yieldedTo = idOf(last);
      yield next;
    }
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    habits.trace(`${error.message}, so the list is read by page number`);
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
  const { habits, first } = list;
  if (!habits.sortsById || first.meta.sort !== ID_ORDER) {
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
async function readByNumber({ habits, request }: List, refusal: unknown) {
  const readNumber = (number: number) => request({}, number);
  const readTop = async () => describeTop(await request({ perPage: 1 }));
  try {
    return await pagesByNumber(readNumber, habits.sortsById ? readTop : undefined);
  } catch (error) {
    if (isRefusedRequest(refusal) && isRefusedRequest(error)) throw refusal;
    throw error;
  }
}

/**
 * Fewer images came than were announced. Either the list has changed, or the service compares ids as texts and so left some
 * out: 99 is not below 500 then, nor 1250 below 10000. This asks for the ids below a power of ten that all of them are below:
 *
 *     highest id 1250, so filter=id,lt,10000   sends 1250 or a newer image: the list has changed
 *                                              sends 1000: the service compares texts
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
  const leavesOutHighest = !page.images.some((image) => idOf(image) >= lowestOfFirst);
  // There were several pages, so the list has more than this image.
  const leavesOutOthers = isWhole(page);
  // The list is as it was, so all images should have come.
  const isUnchanged = describeTop(page) === describeTop(first);
  if (leavesOutHighest || leavesOutOthers || isUnchanged) {
    const announced = `the ${first.total} images that it announced`;
    throw new NotByIdError(`the service sent fewer than ${announced}`);
  }
}

/** Tells one state of the list from another. */
const describeTop = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
