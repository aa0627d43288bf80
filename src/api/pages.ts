// Finds the next page of any paged response by the query of its next_url, and never by its address.

import { ImgctlError } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isObject, parseJson } from '../json.ts';

/** Maximum number of pages, for lists that never end. */
export const MAX_PAGES = 10_000;

/**
 * Returns the same URL with the query of meta.pages.next_url (section 2.4), wherever that points, so that the
 * token stays with the service. undefined on the last page.
 * @param visited the queries already read
 * @throws ImgctlError incomplete-list: the pages lead back to one already read, or do not end
 */
export function nextPage(response: HttpResponse, visited: ReadonlySet<string>): URL | undefined {
  const next = nextUrl(response);
  if (next === undefined) return undefined;
  const url = new URL(response.url);
  url.search = next.search;
  const repeats = visited.has(url.search);
  if (!repeats && visited.size < MAX_PAGES) return url;
  const reason = repeats ? 'next_url leads back to a page already read' : `${MAX_PAGES} were read`;
  throw new ImgctlError('incomplete-list', `the pages do not end: ${reason}`, {
    hint: 'run the command again',
  });
}

function nextUrl({ body, url }: HttpResponse): URL | undefined {
  const value = parseJson(body).value;
  const meta = isObject(value) ? value.meta : undefined;
  const pages = isObject(meta) ? meta.pages : undefined;
  const next = isObject(pages) ? pages.next_url : undefined;
  return typeof next === 'string' && URL.canParse(next, url.href) ? new URL(next, url) : undefined;
}
