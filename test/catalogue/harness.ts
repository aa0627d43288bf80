// Lists a scripted catalogue for the running test and returns the outcome with the requested pages.

import type { Image, Pages } from '../../src/api/types.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
} from '../../src/catalogue/listing.ts';
import { ImgctlError } from '../../src/errors.ts';
import { planQuery, type QueryInput } from '../../src/query/plan.ts';
import { cataloguePage } from '../support/catalogue-page.ts';
import { connect, type ScriptedClientOptions } from '../support/client.ts';
import type { Handler, ScriptedRequest, ScriptedServer } from '../support/scripted-server.ts';

export const planOf = (query: Partial<QueryInput>) =>
  planQuery({ filters: [], sorts: [], words: [], ...query }, { now: 0 });

/** Two images per page, one request at a time. */
export const QUERY: CatalogueQuery = { plan: planOf({}), perPage: 2, concurrency: 1 };

interface Options {
  readonly client?: ScriptedClientOptions;
  readonly observer?: CatalogueObserver;
}

/** Returns the ids of all images that were yielded, even if the listing then failed. */
export async function list(
  handler: Handler,
  query: Partial<CatalogueQuery> = {},
  { client: options, observer }: Options = {},
) {
  const connection = await connect(handler, options);
  const { client, server } = connection;
  const batches: Batch[] = [];
  let error: ImgctlError | undefined;
  try {
    for await (const batch of listCatalogue(client, { ...QUERY, ...query }, observer)) {
      batches.push(batch);
    }
  } catch (thrown) {
    if (!(thrown instanceof ImgctlError)) throw thrown;
    error = thrown;
  }
  const ids = batches.flatMap(({ images }) => images.map(({ id }) => id));
  return { ...connection, batches, ids, error, pages: pagesOf(server) };
}

export const pageOf = ({ url }: ScriptedRequest) => Number(url.searchParams.get('page'));
export const pagesOf = (server: ScriptedServer) => server.requests.map(pageOf);
export const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Serves the images of the request's index, with changed fields of meta.pages. */
export function serving(
  images: (index: number) => readonly Image[],
  changes: (page: number, request: ScriptedRequest) => Partial<Pages> = () => ({}),
): Handler {
  return (request, index) => ({
    json: cataloguePage(request.url, images(index), changes(pageOf(request), request)),
  });
}
