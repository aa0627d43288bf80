// Where a paged answer goes on: by the query of its next_url, and never anywhere else.

import { ImgctlError } from '../errors.ts';
import type { Received } from './answers.ts';
import { isObject, parseJson } from './json.ts';

/** Far more than any list has; endless ones end here. */
const MOST_PAGES = 10_000;

/**
 * The next page: the URL that was just read with the query of meta.pages.next_url (section 2.4), wherever that
 * points, so that the token stays with the service. undefined where there is none. `visited`: the queries read.
 * @throws ImgctlError incomplete-list: the pages lead back to one already read, or do not end
 */
export function nextPage(received: Received, visited: ReadonlySet<string>): URL | undefined {
  const next = nextUrl(received);
  if (next === undefined) return undefined;
  const url = new URL(received.url);
  url.search = next.search;
  if (!visited.has(url.search) && visited.size < MOST_PAGES) return url;
  throw new ImgctlError(
    'incomplete-list',
    'the pages do not end: next_url leads back to a page already read',
    { hint: 'run the command again' },
  );
}

function nextUrl({ body, url }: Received): URL | undefined {
  const value = parseJson(body)?.value;
  const meta = isObject(value) ? value.meta : undefined;
  const pages = isObject(meta) ? meta.pages : undefined;
  const next = isObject(pages) ? pages.next_url : undefined;
  return typeof next === 'string' && URL.canParse(next, url.href) ? new URL(next, url) : undefined;
}
