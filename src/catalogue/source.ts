// Where images come from: the service, or a snapshot of its catalogue.

import type { Client } from '../api/client.ts';
import { keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { hasCode } from '../errors.ts';
import { planQuery } from '../query/plan.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
  readCataloguePage,
} from './listing.ts';

export interface ListQuery extends Omit<CatalogueQuery, 'concurrency'> {
  /** Not for a snapshot. */
  readonly page?: number | undefined;
}

export interface Catalogue {
  readonly baseUrl: string;
  /** Yields every image that matches, or those of one page. */
  list(query: ListQuery, observer: CatalogueObserver): AsyncIterable<Batch>;
  /** Returns undefined if there is no such image. */
  getImage(id: number | string): Promise<ReceivedImage | undefined>;
}

/** @param concurrency requests at a time */
export function serviceCatalogue(client: Client, baseUrl: string, concurrency: number): Catalogue {
  return {
    baseUrl,
    async *list({ page, ...query }, observer) {
      if (page === undefined) yield* listCatalogue(client, { ...query, concurrency }, observer);
      else yield readCataloguePage(client, query, page, observer);
    },
    getImage: (id) =>
      client.getImage(id).catch((error: unknown) => {
        if (!hasCode(error, 'not-found')) throw error;
        // Section 4.4 leaves this resource open, so a service may not know it.
        return findListed(client, id, concurrency);
      }),
  };
}

async function findListed(client: Client, id: number | string, concurrency: number) {
  const filters = typeof id === 'number' ? [`id,eq,${id}`] : [];
  const plan = planQuery({ filters }, { now: 0 });
  for await (const { images } of listCatalogue(client, { plan, concurrency, streams: true })) {
    const found = images.find((image) => keyOf(image) === keyOf({ id }));
    if (found) return found;
  }
  return undefined;
}

/** @param images those of a snapshot */
export function savedCatalogue(images: readonly ReceivedImage[], baseUrl: string): Catalogue {
  return {
    baseUrl,
    async *list({ plan, limit }) {
      const sorted = plan.sort(images.filter(plan.matches));
      yield { images: sorted.slice(0, limit), meta: {} };
    },
    getImage: async (id) => images.find((image) => keyOf(image) === keyOf({ id })),
  };
}
