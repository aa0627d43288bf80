// Reads all images of the service: by id, or by page number if it cannot filter or sort by id.

import { type ImagePage, MAX_PAGES, type PageQuery } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { BY_ID, sortImages } from '../query/sort.ts';
import { SORT_BY_ID } from './first-pages.ts';
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

/** The requests of one way to read all images, of which the number is limited. */
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

  /** Returns page 1 of all images, or that of the number. */
  async page(pageQuery: Partial<PageQuery>, number?: number): Promise<ImagePage> {
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
      const page = await this.page({ filter: `id,lt,${bound}` });
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
    const lacksImages = seen + page.countBelow < first.total;
    if (lacksImages && !isFilterTrusted) {
      isFilterTrusted = await wereImagesDeleted(first, requests);
      const fault = `the service sent fewer than the ${first.total} images that it announced`;
      if (!isFilterTrusted) throw new NotByIdError(fault);
    }
    yield page;
  }
}

/**
 * True if the list has changed, and the filter by id still counts all images: then those that lack
 * were deleted. Else the filter leaves some out: images without an id, or ids that are compared as
 * texts, by which 99 is not below 500. To be counted, all ids are below that of `id,lt,1000`, if 999
 * is the highest.
 */
async function wereImagesDeleted(first: ImagePage, requests: Requests): Promise<boolean> {
  const second = await requests.page({ perPage: 1 });
  if (stateOf(second) === stateOf(first)) return false;
  const [highest = {}] = second.images;
  const filter = `id,lt,${lowestLongerId(idOf(highest))}`;
  const counted = await pageOrRefusal(requests.page({ filter, perPage: 1 }));
  return !(counted instanceof ImgctlError) && counted.total >= second.total;
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
  const readPage = (number: number) => requests.page({}, number);
  const readState = async () => stateOf(await requests.page({ perPage: 1 }));
  try {
    return await imagesByNumber(readPage, run.firstPages.sortsById ? readState : undefined);
  } catch (error) {
    throw isRefusedRequest(refusal) && isRefusedRequest(error) ? refusal : error;
  }
}

/** Tells one state of the list from another, by the first image and the total. */
const stateOf = ({ images: [top], total }: ImagePage) => `${top?.id} of ${total}`;
