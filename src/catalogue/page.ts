// Requests one page of images, and says what its response means.

import type { Client } from '../api/client.ts';
import type { ImagePage, PageQuery } from '../api/images.ts';
import { ImgctlError, tryOr } from '../errors.ts';

/** The page is that of a request with another filter, as a broken cache may send it. */
class OtherFilterError extends ImgctlError {}

/**
 * Requests a page, and one without a filter again if the service sends the page of another request.
 * @throws ImgctlError bad-answer, and what Client.listImages throws
 */
export async function requestPage(
  client: Pick<Client, 'listImages'>,
  query: PageQuery,
  number = 1,
  options?: Parameters<Client['listImages']>[2],
): Promise<ImagePage> {
  for (let count = 1; ; count += 1) {
    const page = await client.listImages(query, number, options);
    const { filter: echo } = page.meta;
    if (typeof echo !== 'string' || isSameFilter(echo, query.filter ?? '')) return page;
    if (query.filter === undefined && count === 1) continue;
    const message = `the service sent the page of another request, with the filter ${echo}`;
    const facts = 'try again; a cache or proxy may be mixing up responses';
    throw new OtherFilterError('bad-answer', message, { facts });
  }
}

function isSameFilter(echo: string, sent: string): boolean {
  const plain = (text: string) => text.replace(/[\s+]/g, '').toLowerCase();
  const decoded = tryOr(() => decodeURIComponent(echo), echo);
  return [echo, decoded].some((text) => plain(text) === plain(sent));
}

/** True if a simpler request may succeed: not if the login, the rate or a timeout is the cause. */
export function isRefusedRequest(error: unknown): error is ImgctlError {
  if (error instanceof OtherFilterError) return true;
  const { status = 0 } = error instanceof ImgctlError ? error : {};
  return status >= 400 && ![401, 407, 408, 429].includes(status);
}

/** Returns the page, or undefined if the service refuses the request. */
export function unlessRefused(page: Promise<ImagePage>): Promise<ImagePage | undefined> {
  return page.catch((error: unknown) => {
    if (isRefusedRequest(error)) return undefined;
    throw error;
  });
}

/** True if the service says that its list has no more images than this page. */
export function isWhole({ images, total, pages, hasNext }: ImagePage): boolean {
  return images.length >= total && pages <= 1 && !hasNext;
}
