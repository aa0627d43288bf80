// Lists a scripted catalogue and tells which pages were requested.

import type { Client } from '../../src/api/client.ts';
import type { Image, Pages } from '../../src/api/types.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
} from '../../src/catalogue/listing.ts';
import { planQuery } from '../../src/query/plan.ts';
import { cataloguePage } from '../support/catalogue-page.ts';
import type { Handler, ScriptedRequest, ScriptedServer } from '../support/scripted-server.ts';

export const PLAN = planQuery({ filters: [], sorts: [], words: [] }, { now: 0 });

/** Two images per page, one request at a time. */
export const QUERY: CatalogueQuery = { plan: PLAN, perPage: 2, concurrency: 1 };

/** Every batch, and the ids or URLs in them. */
export async function collect(
  client: Client,
  changes: Partial<CatalogueQuery> = {},
  observer?: CatalogueObserver,
) {
  const batches: Batch[] = [];
  for await (const batch of listCatalogue(client, { ...QUERY, ...changes }, observer)) {
    batches.push(batch);
  }
  const images = batches.flatMap((batch) => batch.images);
  return { batches, ids: images.map((image) => (typeof image === 'string' ? image : image.id)) };
}

export const pageOf = ({ url }: ScriptedRequest) => Number(url.searchParams.get('page'));
export const pagesOf = (server: ScriptedServer) => server.requests.map(pageOf);
export const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Serves the images as they are after so many requests, with whatever is wrong about meta.pages. */
export function serving(
  images: (index: number) => readonly Image[],
  wrong: (page: number, request: ScriptedRequest) => Partial<Pages> = () => ({}),
): Handler {
  return (request, index) => ({
    json: cataloguePage(request.url, images(index), wrong(pageOf(request), request)),
  });
}
