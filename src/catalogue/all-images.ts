// Reads all images of the service: by id, or by page number if the service cannot filter or sort by id.

import type { Client } from '../api/client.ts';
import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import { readValue } from '../query/fields.ts';
import { EVERYTHING } from '../query/query.ts';
import { BY_ID, printSort } from '../query/sort.ts';
import { isWhole, NotByIdError, pagesById } from './pages-by-id.ts';
import { incompleteList, pagesByNumber } from './pages-by-number.ts';
import { isRefusal, readPage, type ServiceHabits } from './service-habits.ts';

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
  const byId = { sort: habits.sortsById ? printSort(BY_ID) : undefined, perPage };
  // Either number may be wrong.
  const pages = Math.max(first.pages, first.total / Math.max(first.images.length, 1), 1);
  let left = 3 * Math.min(Math.ceil(pages), MAX_PAGES) + 10;
  const request = async (asked: PageQuery, number = 1) => {
    left -= 1;
    if (left < 0) throw incompleteList('its pages do not end');
    return readPage(client, asked, number, { signal: abort.signal });
  };
  let isAnswered = false;
  const readBelow = async (bound: number) => {
    try {
      const page = await request({ ...byId, filter: `id,lt,${bound}` });
      isAnswered = true;
      return page;
    } catch (error) {
      if (isAnswered || !isRefusal(error)) throw error;
      throw new NotByIdError('the service does not filter by id', { cause: error });
    }
  };
  let count = 0;
  let low = Number.POSITIVE_INFINITY;
  let isChecked = false;
  try {
    if (!habits.sortsById || first.meta.sort !== byId.sort) {
      throw new NotByIdError('the service does not sort by id');
    }
    const { connections } = client;
    for await (const { images, below, bytes } of pagesById(first, readBelow, {
      connections,
      wanted,
    })) {
      count += images.length;
      if (count + below < first.total && !isChecked) {
        isChecked = true;
        await requireIdOrder(first, (filter) => request({ ...byId, filter, perPage: 1 }));
      }
      low = Math.min(low, ...images.slice(-1).map(idOf));
      yield { images, bytes };
    }
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    habits.trace(`${error.message}, so the list is read by page number`);
    const readTop = async () => describeTop(await request({ ...byId, perPage: 1 }));
    const images = await pagesByNumber(
      (number) => request(byId, number),
      habits.sortsById ? readTop : undefined,
    ).catch((later: unknown) => {
      throw isRefusal(later) ? (error.cause ?? later) : later;
    });
    // What comes first has been yielded.
    const rest = images.filter((image) => !(idOf(image) >= low));
    yield { images: EVERYTHING.sort(rest), bytes: 0 };
  } finally {
    abort.abort(new Error('no longer needed'));
  }
}

/**
 * Called once fewer images came than were announced. Either the list has changed, or the service leaves some out: if it
 * compares ids as texts, 99 is not below 500. Asked for the ids below 10000, such a service leaves out 1250 too.
 * @throws NotByIdError the service leaves some out
 */
async function requireIdOrder(first: ImagePage, readTop: (filter: string) => Promise<ImagePage>) {
  const [top = Number.NaN, ...others] = first.images.map(idOf);
  const page = await readTop(`id,lt,${10 ** `${top}`.length}`).catch((error: unknown) => {
    // A database may not take a number that no image has.
    if (isRefusal(error)) return undefined;
    throw error;
  });
  if (page === undefined) return;
  const isLost = !page.images.some((image) => idOf(image) >= (others.at(-1) ?? top));
  if (isLost || isWhole(page) || describeTop(page) === describeTop(first)) {
    throw new NotByIdError(
      `the service sent fewer than the ${first.total} images that it announced`,
    );
  }
}

const describeTop = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;

const idOf = (image: ImagePage['images'][number]) => Number(readValue(image, 'id') ?? Number.NaN);
