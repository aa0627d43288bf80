// Where images come from: the service, a snapshot of its catalogue, or the user's own images.
//
//   serviceCatalogue
//     listCatalogue        a list of the service, in one of two ways (service-list.ts):
//       findSurePage         from one page, if it has the list for sure (sure-page.ts)
//         FirstPages           requests it, and remembers what the service refuses (first-pages.ts)
//         LikeProofs           proves that its filter loses no images (like-proofs.ts)
//         IdOrder              tells whether its highest ids are first (id-order.ts)
//       matchingPages        from all pages, of which it yields what matches
//         allImages            each image once, or an error if one may be missing (all-images.ts)
//           pagesById            by id, several requests at a time (pages-by-id.ts)
//           imagesByNumber       or by page number, if the service cannot (pages-by-number.ts)
//   heldCatalogue        a snapshot, or the user's own images
//
// Each request is sent by requestPage (page.ts). Commands also use numberedPage, for --page N.

import type { Client } from '../api/client.ts';
import { type ImagePage, keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { equals } from '../query/filter.ts';
import { Query } from '../query/query.ts';
import { addImage } from './held-images.ts';
import { type ListRun, type ListRunOptions, startListRun } from './list-run.ts';
import { isOutage, isRefusedRequest } from './page.ts';
import { type ListEnd, listCatalogue, listSurePage, type ReadOptions } from './service-list.ts';

export interface Catalogue {
  readonly baseUrl: string;
  /**
   * Yields every image that matches, once, up to the limit, as the query sorts, or the highest id
   * first. Streamed by id without a limit, they come as the service sorts ids, perhaps as texts.
   * @throws ImgctlError incomplete-list: images may be missing
   */
  images(
    query: Query,
    options?: ReadOptions,
  ): AsyncGenerator<readonly ReceivedImage[], ListEnd, void>;
  /** Returns the images that match if one page is sure to have them, else undefined. */
  imagesOfSurePage(
    query: Query,
    options?: ReadOptions,
  ): Promise<readonly ReceivedImage[] | undefined>;
  /** Returns undefined if no image has the id. */
  getImage(id: number | string): Promise<ReceivedImage | undefined>;
}

/** The public catalogue. */
export function serviceCatalogue(
  client: Client,
  baseUrl: string,
  options: ListRunOptions = {},
): Catalogue {
  const run = startListRun(client, options);
  return {
    baseUrl,
    images: (query, limits = {}) => listCatalogue(run, query, limits),
    imagesOfSurePage: async (query, limits = {}) =>
      (await listSurePage(run, query, limits))?.images,
    getImage: (id) => getOrFind(client, run, id),
  };
}

/**
 * Searches the list if the service refuses the image: it may not have this resource, section 4.4,
 * or refuse an id too large for a database.
 */
async function getOrFind(client: Client, run: ListRun, id: number | string) {
  try {
    return await client.getImage(id);
  } catch (refusal) {
    if (!isRefusedRequest(refusal) || isOutage(refusal)) throw refusal;
  }
  const query = new Query({ filters: [equals('id', id)] });
  for await (const [image] of listCatalogue(run, query, { streams: true })) {
    if (image) return image;
  }
  return undefined;
}

/** The user's own images, which are one page. Of several with one id, the last counts. */
export function ownCatalogue(
  client: Pick<Client, 'listUserImages'>,
  baseUrl: string,
  warn: (message: string) => void,
): Catalogue {
  const read = async () => {
    const { images, meta } = await client.listUserImages();
    const held = new Map<unknown, ReceivedImage>();
    let repeated: ReceivedImage | undefined;
    for (const image of images) if (addImage(held, image)) repeated ??= image;
    if (repeated)
      warn(`the service lists images twice, such as ${repeated.id}; the last one counts`);
    return { images: [...held.values()], meta };
  };
  let list: ReturnType<typeof read> | undefined;
  return heldCatalogue(() => {
    list ??= read();
    return list;
  }, baseUrl);
}

/** A catalogue that is held in memory. */
export function heldCatalogue(
  read: () => Promise<Pick<ImagePage, 'images' | 'meta'>>,
  baseUrl: string,
): Catalogue {
  const select = async (query: Query, { limit, watch }: ReadOptions = {}) => {
    const { images, meta } = await read();
    watch?.(images, images.length);
    const matching = images.filter((image) => query.matches(image));
    const end = { meta, total: matching.length };
    return { images: query.sort(matching).slice(0, limit), end };
  };
  return {
    baseUrl,
    async *images(query, options) {
      const { images, end } = await select(query, options);
      yield images;
      return end;
    },
    imagesOfSurePage: async (query, options) => (await select(query, options)).images,
    getImage: async (id) => (await read()).images.find((image) => keyOf(image) === keyOf({ id })),
  };
}
