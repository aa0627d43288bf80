// Lists all pages of a scripted catalogue, and what was asked of it.

import type { Client } from '../../src/api/client.ts';
import type { ImageQuery } from '../../src/api/images.ts';
import type { PageOfAll, PagingOptions } from '../../src/api/paging.ts';
import type { Image, Pages } from '../../src/api/types.ts';
import { cataloguePage } from '../support/catalogue-page.ts';
import type { Handler, ScriptedRequest, ScriptedServer } from '../support/scripted-server.ts';

export const QUERY: ImageQuery = { perPage: 2, expand: true };
export const ONE_BY_ONE: PagingOptions = { concurrency: 1 };

/** Every page handed on, and the ids (or URLs) of the last pass. */
export async function collect(client: Client, options = ONE_BY_ONE, query = QUERY) {
  const pages: PageOfAll[] = [];
  for await (const page of client.allImages(query, options)) pages.push(page);
  const last = pages.filter((page) => page.pass === pages.at(-1)?.pass);
  return {
    pages,
    ids: last.flatMap(({ elements }) =>
      elements.map((element) => (typeof element === 'string' ? element : element.id)),
    ),
  };
}

export const pageOf = ({ url }: ScriptedRequest) => Number(url.searchParams.get('page'));
export const asked = (server: ScriptedServer) => server.requests.map(pageOf);
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
