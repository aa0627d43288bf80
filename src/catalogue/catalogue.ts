// Where images come from: the service, a snapshot of its catalogue, or the user's own images.

import type { Client } from '../api/client.ts';
import { type ImagePage, keyOf, MAX_PER_PAGE } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import { equals } from '../query/filter.ts';
import { Query } from '../query/query.ts';
import { isFieldSort, printSort } from '../query/sort.ts';
import { isRefusedRequest, readPage } from './read-page.ts';
import { ServiceHabits } from './service-habits.ts';
import { type ListEnd, listCatalogue, listOnePage, type ReadOptions } from './service-list.ts';

export interface Catalogue {
  readonly baseUrl: string;
  /**
   * Yields every image that matches, each once, up to the limit: as the query sorts them, else the highest id first.
   * @throws ImgctlError incomplete-list: images may be missing
   */
  images(
    query: Query,
    options?: ReadOptions,
  ): AsyncGenerator<readonly ReceivedImage[], ListEnd, void>;
  /** Returns the images that match if one page is sure to have them, else undefined. */
  imagesOfOnePage(
    query: Query,
    options?: ReadOptions,
  ): Promise<readonly ReceivedImage[] | undefined>;
  getImage(id: number | string): Promise<ReceivedImage | undefined>;
}

/** The public catalogue. @param trace receives what only --debug shows */
export function serviceCatalogue(
  client: Client,
  baseUrl: string,
  trace?: (text: string) => void,
): Catalogue {
  const habits = new ServiceHabits(client, trace);
  const catalogue: Catalogue = {
    baseUrl,
    images: (query, options = {}) => listCatalogue(client, habits, query, options),
    imagesOfOnePage: async (query, options = {}) =>
      (await listOnePage(habits, query, options))?.images,
    getImage: (id) => getOrFind(client, catalogue, id),
  };
  return catalogue;
}

/** Section 4.4 leaves this resource open, so a service may not know it; nor an id that its database cannot hold. */
async function getOrFind(client: Client, catalogue: Catalogue, id: number | string) {
  try {
    return await client.getImage(id);
  } catch (refusal) {
    if (!isRefusedRequest(refusal)) throw refusal;
    return findListed(catalogue, id).catch((error: unknown) => {
      const isWorse = isRefusedRequest(error) && !hasCode(refusal, 'not-found');
      throw isWorse ? refusal : error;
    });
  }
}

/**
 * Returns exactly one page of the service, in its order, without images that do not match, and its own number.
 * @param query only one that `isForService`: the service gets its first filter and sort
 * @throws ImgctlError not-found; whatever Client.listImages throws
 */
export async function servicePage(
  client: Pick<Client, 'listImages'>,
  query: Query,
  {
    page: wanted,
    perPage = MAX_PER_PAGE,
    limit,
  }: Pick<ReadOptions, 'perPage' | 'limit'> & { readonly page: number },
) {
  const [condition] = query.conditions;
  const [sort] = query.sorts.filter(isFieldSort).map(printSort);
  const asked = { filter: condition?.sent?.text, sort, perPage };
  const page = await readPage(client, asked, wanted).catch((error: unknown) => {
    throw wanted > 1 && hasCode(error, 'not-found') ? noPage(wanted) : error;
  });
  const { meta, number = wanted, total } = page;
  const last = Math.max(page.pages, 1);
  if (page.images.length === 0 && wanted > last) throw noPage(wanted, last);
  const images = page.images.filter((image) => query.matches(image)).slice(0, limit);
  return { images, number, end: { meta, total: condition ? undefined : total } };
}

function noPage(wanted: number, last?: number): ImgctlError {
  const which = last === undefined ? '' : `; the last page is ${last}`;
  const message = `page ${wanted} does not exist${which}`;
  return new ImgctlError('not-found', message, { facts: { kind: 'last-page', page: last ?? 1 } });
}

async function findListed(catalogue: Catalogue, id: number | string) {
  const query = new Query({ filters: typeof id === 'number' ? [equals('id', id)] : [] });
  for await (const images of catalogue.images(query, { streams: true })) {
    const found = images.find((image) => keyOf(image) === keyOf({ id }));
    if (found) return found;
  }
  return undefined;
}

/** The user's own images: the service lists them at once, unfiltered. Of several with one id, the last counts. */
export function ownCatalogue(
  client: Pick<Client, 'listUserImages'>,
  baseUrl: string,
  warn: (message: string) => void,
): Catalogue {
  let read: ReturnType<Client['listUserImages']> | undefined;
  return heldCatalogue(() => {
    read ??= client.listUserImages().then(({ images, meta }) => {
      const byId = new Map(images.map((image) => [keyOf(image), image]));
      const isReplaced = (image: ReceivedImage) => byId.get(keyOf(image)) !== image;
      const [first, ...others] = new Set(images.filter(isReplaced).map(keyOf));
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      if (first !== undefined) {
        warn(`the service lists image ${first}${more} twice; the last one counts`);
      }
      return { images: [...byId.values()], meta };
    });
    return read;
  }, baseUrl);
}

/** A catalogue that is read at once. */
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
    imagesOfOnePage: async (query, options) => (await select(query, options)).images,
    getImage: async (id) => (await read()).images.find((image) => keyOf(image) === keyOf({ id })),
  };
}
