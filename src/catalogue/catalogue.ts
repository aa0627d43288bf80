// Where images come from: the service, a snapshot of its catalogue, or the user's own images.

import type { Client } from '../api/client.ts';
import { keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import { equals } from '../query/filter.ts';
import { Query } from '../query/query.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
  readCataloguePage,
} from './listing.ts';
import { ServiceLists, type Trace } from './service-lists.ts';

export interface Catalogue {
  readonly baseUrl: string;
  /** Yields every image that matches, or those of one page. */
  list(query: CatalogueQuery, observer: CatalogueObserver): AsyncIterable<Batch>;
  isCheaperByQuery(queries: readonly Query[]): Promise<boolean>;
  getImage(id: number | string): Promise<ReceivedImage | undefined>;
}

export function serviceCatalogue(client: Client, baseUrl: string, trace?: Trace): Catalogue {
  const lists = new ServiceLists(client, trace);
  return {
    baseUrl,
    async *list({ page, ...query }, observer) {
      if (page === undefined) yield* listCatalogue(client, query, observer, lists);
      else yield readCataloguePage(client, query, page, observer);
    },
    isCheaperByQuery: (queries) => lists.isCheaperByQuery(queries),
    getImage: (id) =>
      client.getImage(id).catch((error: unknown) => {
        // Section 4.4 leaves this resource open, so a service may not know it; nor an id that its database cannot hold.
        const { status = 0 } = error instanceof ImgctlError ? error : {};
        if (![400, 404, 410, 422, 500].includes(status)) throw error;
        return findListed(client, lists, id).catch((later: unknown) => {
          throw later instanceof ImgctlError && !hasCode(error, 'not-found') ? error : later;
        });
      }),
  };
}

async function findListed(client: Client, lists: ServiceLists, id: number | string) {
  const query = new Query({ filters: typeof id === 'number' ? [equals('id', id)] : [] });
  for await (const { images } of listCatalogue(client, { query, streams: true }, {}, lists)) {
    const found = images.find((image) => keyOf(image) === keyOf({ id }));
    if (found) return found;
  }
  return undefined;
}

/** The user's own images: the service lists them at once, unfiltered. Of several with one id, the last counts. */
export function ownCatalogue(client: Client, baseUrl: string): Catalogue {
  let read: Promise<Batch> | undefined;
  return heldCatalogue(({ warn }) => {
    read ??= client.listUserImages().then(({ images, meta }) => {
      const byId = new Map(images.map((image) => [keyOf(image), image]));
      const earlier = images.filter((image) => byId.get(keyOf(image)) !== image);
      const [first, ...others] = new Set(earlier.map(keyOf));
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      if (first !== undefined) {
        warn?.(`the service lists image ${first}${more} twice; the last one counts`);
      }
      return { images: [...byId.values()], meta };
    });
    return read;
  }, baseUrl);
}

export function heldCatalogue(
  read: (observer: CatalogueObserver) => Promise<Batch>,
  baseUrl: string,
): Catalogue {
  return {
    baseUrl,
    async *list({ query, limit }, observer) {
      const { tally } = observer;
      const { images, meta } = await read(observer);
      const matching = images.filter((image) => query.matches(image, tally));
      yield { images: query.sort(matching, tally).slice(0, limit), meta, total: matching.length };
    },
    isCheaperByQuery: async () => false,
    getImage: async (id) => (await read({})).images.find((image) => keyOf(image) === keyOf({ id })),
  };
}
