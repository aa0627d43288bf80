// Reads all images of the service: by id, or by page number if it cannot filter or sort by id.

import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { BY_ID, SORT_BY_ID, sortImages } from '../query/sort.ts';
import { areDescending, idOf, lowestLongerId } from './ids.ts';
import type { ListRun } from './list-run.ts';
import { isRefusedRequest, pageOrRefusal, requestPage } from './page.ts';
import { NotByIdError, pagesById } from './pages-by-id.ts';
import { imagesByNumber, incompleteList, MAX_READINGS } from './pages-by-number.ts';

/** The images of a page that were not on a page before it. */
export type ImagesOfPage = Pick<ImagePage, 'images' | 'bytes'>;

/**
 * Yields all images, each once, a page at a time.
 * @param first the first page
 * @param mostRead number of images that the caller needs at most
 * @throws ImgctlError incomplete-list
 */
export async function* allImages(
  run: ListRun,
  first: ImagePage,
  mostRead: number,
): AsyncGenerator<ImagesOfPage, void, void> {
  const requests = new Requests(run, first);
  const yieldedIds = new Set<number>();
  try {
    for await (const page of checkedPagesById(first, requests, mostRead)) {
      for (const image of page.images) yieldedIds.add(idOf(image));
      yield page;
    }
  } catch (error) {
    if (!(error instanceof NotByIdError)) throw error;
    requests.abort();
    run.trace(`${error.message}, so the list is read by page number`);
    const images = await readByNumber(run, first, error.cause);
    // Their size was limited already.
    yield { images: sortImages(restOf(images, yieldedIds), [BY_ID]), bytes: 0 };
  } finally {
    requests.abort();
  }
}

/** Sends the requests of one way to read all images, up to a limit. */
class Requests {
  readonly connections: number;
  readonly #run: ListRun;
  readonly #abort = new AbortController();
  #left: number;
  #filtersById = false;

  /** Allows all readings of the announced pages, or of MAX_PAGES, and ten looks at their state. */
  constructor(run: ListRun, { pages, total, images }: ImagePage) {
    this.connections = run.client.connections;
    this.#run = run;
    // Either number may be wrong.
    const announced = Math.max(pages, total / Math.max(images.length, 1), 1);
    this.#left = MAX_READINGS * Math.min(Math.ceil(announced), MAX_PAGES) + 10;
  }

  /** Requests page 1, or that of the number, by id if the service sorts. */
  async request(pageQuery: Partial<PageQuery>, number?: number): Promise<ImagePage> {
    this.#left -= 1;
    if (this.#left < 0) throw incompleteList('its pages do not end');
    const { client, firstPages, perPage } = this.#run;
    const sort = firstPages.sortsById ? SORT_BY_ID : undefined;
    const { signal } = this.#abort;
    return requestPage(client, { sort, perPage, ...pageQuery }, number, { signal });
  }

  /** Returns the first page of the images below an id. */
  async requestBelow(bound: number): Promise<ImagePage> {
    try {
      const page = await this.request({ filter: `id,lt,${bound}` });
      this.#filtersById = true;
      return page;
    } catch (error) {
      // Once it has responded, the service does filter by id.
      if (this.#filtersById || !isRefusedRequest(error)) throw error;
      throw new NotByIdError('the service does not filter by id', { cause: error });
    }
  }

  abort(): void {
    this.#abort.abort(new Error('no longer needed'));
  }
}

/** Yields all images by id. @throws NotByIdError: some may be missing */
async function* checkedPagesById(first: ImagePage, requests: Requests, mostRead: number) {
  let seen = 0;
  let isFilterTrusted = false;
  for await (const page of pagesById(first, requests, mostRead)) {
    seen += page.images.length;
    // Either images were deleted, or the filter by id leaves them out.
    const lacksImages = seen + page.countBelow < first.total;
    if (lacksImages && !isFilterTrusted) {
      const second = await requests.request({ perPage: 1 });
      const hasChanged = stateOf(second) !== stateOf(first);
      isFilterTrusted = hasChanged && (await countsAllById(second, requests));
      const fault = `the service sent fewer than the ${first.total} images that it announced`;
      if (!isFilterTrusted) throw new NotByIdError(fault);
    }
    yield page;
  }
}

/**
 * True if `id,lt,1000`, where 999 is the highest id, counts all images. It does not count those
 * without an id, nor 999 if ids are compared as texts.
 */
async function countsAllById({ images, total }: ImagePage, requests: Requests): Promise<boolean> {
  const [highest = {}] = images;
  const filter = `id,lt,${lowestLongerId(idOf(highest))}`;
  const counted = await pageOrRefusal(requests.request({ filter, perPage: 1 }));
  return !(counted instanceof ImgctlError) && counted.total >= total;
}

/**
 * Returns the images that were not yielded. If images come in the order of ids, a new one above the
 * highest that was yielded is left out.
 */
function restOf(images: readonly ReceivedImage[], yieldedIds: ReadonlySet<number>) {
  const rest = images.filter((image) => !yieldedIds.has(idOf(image)));
  if (!areDescending(images.map(idOf))) return rest;
  const [highest = Infinity] = yieldedIds;
  return rest.filter((image) => idOf(image) < highest);
}

/** @param refusal why ids are refused: thrown if the list cannot be read by number either */
async function readByNumber(run: ListRun, first: ImagePage, refusal: unknown) {
  const requests = new Requests(run, first);
  const readPage = (number: number) => requests.request({}, number);
  const readState = async () => stateOf(await requests.request({ perPage: 1 }));
  try {
    return await imagesByNumber(readPage, run.firstPages.sortsById ? readState : undefined);
  } catch (error) {
    throw isRefusedRequest(refusal) && isRefusedRequest(error) ? refusal : error;
  }
}

/** Tells one state of the list from another, by the first image and the total. */
const stateOf = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
