// Returns exactly one page of the service, by its number.

import type { Client } from '../api/client.ts';
import { MAX_PER_PAGE } from '../api/images.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Query } from '../query/query.ts';
import { isFieldSort, printSort } from '../query/sort.ts';
import { requestPage } from './page.ts';
import type { ReadOptions } from './service-list.ts';

interface NumberedPageOptions extends Pick<ReadOptions, 'limit'> {
  readonly perPage?: number | undefined;
  readonly page: number;
}

/**
 * Returns the images of a page that match, in the order of the service, and the number that the
 * service gives the page.
 * @param query only one that `isForService`: the service gets its first filter and sort
 * @throws ImgctlError not-found; whatever Client.listImages throws
 */
export async function numberedPage(
  client: Pick<Client, 'listImages'>,
  query: Query,
  { page: asked, perPage = MAX_PER_PAGE, limit }: NumberedPageOptions,
) {
  const [condition] = query.conditions;
  const [sort] = query.sorts.filter(isFieldSort).map(printSort);
  const pageQuery = { filter: condition?.sent?.text, sort, perPage };
  const noPage = `page ${asked} does not exist`;
  const page = await requestPage(client, pageQuery, asked).catch((error: unknown) => {
    throw asked > 1 && hasCode(error, 'not-found') ? notFound(noPage, 1) : error;
  });
  const { meta, number = asked, total } = page;
  const last = Math.max(page.pages, 1);
  if (page.images.length === 0 && asked > last) {
    throw notFound(`${noPage}; the last page is ${last}`, last);
  }
  const images = page.images.filter((image) => query.matches(image)).slice(0, limit);
  return { images, number, end: { meta, total: condition ? undefined : total } };
}

/** @param page one that exists */
function notFound(message: string, page: number): ImgctlError {
  return new ImgctlError('not-found', message, { facts: { kind: 'other-page', page } });
}
