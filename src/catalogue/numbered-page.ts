// Returns exactly one page of the service, by its number.

import type { Client } from '../api/client.ts';
import { MAX_PER_PAGE } from '../api/images.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Query } from '../query/query.ts';
import { isFieldSort, printSort } from '../query/sort.ts';
import { requestPage } from './page.ts';
import type { ReadOptions } from './service-list.ts';

/**
 * Returns the images of a page that match, in the order of the service, and the number that the
 * service gives the page.
 * @param query only one that `isForService`: the service gets its first filter and sort
 * @throws ImgctlError not-found; whatever Client.listImages throws
 */
export async function numberedPage(
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
  const page = await requestPage(client, asked, wanted).catch((error: unknown) => {
    throw wanted > 1 && hasCode(error, 'not-found') ? noPage(wanted, '', 1) : error;
  });
  const { meta, number = wanted, total } = page;
  const last = Math.max(page.pages, 1);
  if (page.images.length === 0 && wanted > last) {
    throw noPage(wanted, `; the last page is ${last}`, last);
  }
  const images = page.images.filter((image) => query.matches(image)).slice(0, limit);
  return { images, number, end: { meta, total: condition ? undefined : total } };
}

/** @param other a page that exists */
function noPage(wanted: number, more: string, other: number): ImgctlError {
  const message = `page ${wanted} does not exist${more}`;
  return new ImgctlError('not-found', message, { facts: { kind: 'other-page', page: other } });
}
