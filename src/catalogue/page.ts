// Requests one page of images, and says what its response means.

import type { Client } from '../api/client.ts';
import { type ImagePage, type PageQuery, RefusedRequestError } from '../api/images.ts';
import { ImgctlError, tryOr } from '../errors.ts';

/** The page is that of a request with another filter, as a broken cache may send it. */
class OtherFilterError extends ImgctlError {}

/**
 * Requests a page. If the service sends that of another request, one without a filter is requested
 * again, as the caller has no simpler request left.
 * @throws ImgctlError bad-answer, and what Client.listImages throws
 */
export async function requestPage(
  client: Pick<Client, 'listImages'>,
  pageQuery: PageQuery,
  number = 1,
  options?: Parameters<Client['listImages']>[2],
): Promise<ImagePage> {
  const request = () => client.listImages(pageQuery, number, options);
  let page = await request();
  if (!hasFilterOf(pageQuery, page) && pageQuery.filter === undefined) page = await request();
  if (hasFilterOf(pageQuery, page)) return page;
  const message = `the service sent the page of another request, with the filter ${page.meta.filter}`;
  const facts = 'try again; a cache or proxy may be mixing up responses';
  throw new OtherFilterError('bad-answer', message, { facts });
}

/** True unless the page says that it has another filter. */
function hasFilterOf({ filter: sent = '' }: PageQuery, { meta: { filter: echo } }: ImagePage) {
  return typeof echo !== 'string' || isEcho(sent, echo);
}

/** True if the service repeats a text that it received, perhaps encoded or with other blanks. */
export function isEcho(sent: string, echo: unknown): boolean {
  if (typeof echo !== 'string') return false;
  const plain = (text: string) => text.replace(/[\s+]/g, '').toLowerCase();
  const decoded = tryOr(() => decodeURIComponent(echo), echo);
  return [echo, decoded].some((text) => plain(text) === plain(sent));
}

/**
 * True if a simpler request may succeed: not if the proxy or a timeout is the cause. 401 and 429
 * are errors of another class.
 */
export function isRefusedRequest(error: unknown): error is ImgctlError {
  if (error instanceof OtherFilterError) return true;
  const { status = 0 } = error instanceof RefusedRequestError ? error : {};
  return status >= 400 && ![407, 408].includes(status);
}

/** Returns the page, or the error if the service refuses the request. */
export function pageOrRefusal(page: Promise<ImagePage>): Promise<ImagePage | ImgctlError> {
  return page.catch((error: unknown) => {
    if (isRefusedRequest(error)) return error;
    throw error;
  });
}

/** True for a refusal that may soon be over: 502 and above. Some send 500 for a filter. */
export function isOutage(refusal: unknown): boolean {
  return refusal instanceof ImgctlError && refusal.status !== undefined && refusal.status > 501;
}

/** True if the service says that its list has no more images than this page. */
export function isWhole({ images, total, pages, hasNext }: ImagePage): boolean {
  return images.length === total && pages <= 1 && !hasNext;
}
