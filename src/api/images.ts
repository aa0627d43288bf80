// Images of the public catalogue and the user's own, sections 4.3, 4.4 and 4.7 of service-api.md.

import type { HttpResponse } from '../http/message.ts';
import { ExactNumber, isObject, type JsonObject } from '../json.ts';
import type { Send } from './auth.ts';
import { readJson, shapeError } from './responses.ts';
import type { ImageListMeta, ReceivedImage } from './types.ts';

/** Maximum page size, section 2.4. */
export const MAX_PER_PAGE = 100;

/** Twice the maximum, as a service may ignore per_page. */
const MAX_ELEMENTS = 2 * MAX_PER_PAGE;

/** The query of GET /v2/image, section 4.3; undefined parameters are not sent. */
export interface ImageQuery {
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  /** 1 to 100. */
  readonly perPage: number;
}

/**
 * GET /v2/image: one page.
 * @throws ImgctlError bad-answer: not the envelope of sections 2.3 and 2.4
 */
export async function listImages(
  send: Send,
  query: ImageQuery,
  page: number,
  signal?: AbortSignal,
) {
  const parameters = new URLSearchParams();
  parameters.set('per_page', String(query.perPage));
  parameters.set('page', String(page));
  // Image objects instead of URLs.
  parameters.set('expand', '1');
  if (query.filter !== undefined) parameters.set('filter', query.filter);
  if (query.sort !== undefined) parameters.set('sort', query.sort);
  const path = `/v2/image?${parameters.toString().replaceAll('+', '%20')}`;
  const response = await send({ method: 'GET', path, signal });
  const { data, meta } = readEnvelope(response);
  if (!isObject(meta.pages)) throw shapeError(response, 'meta.pages is missing');
  const { page: number, total, pages, per_page: perPage, next_url: next } = meta.pages;
  if (!isCount(total) || !isCount(pages)) {
    throw shapeError(response, 'meta.pages does not say how many images there are');
  }
  if (data.length > MAX_ELEMENTS) {
    throw shapeError(response, `a page holds ${data.length} elements, more than ${MAX_ELEMENTS}`);
  }
  return {
    images: data,
    /** As sent, section 2.3. */
    meta: meta as Partial<ImageListMeta>,
    /** The page's own number, if the service says so. */
    number: isCount(number) ? number : undefined,
    /** Number of images on all pages. */
    total,
    /** Number of pages. */
    pages,
    perPage: isCount(perPage) && perPage > 0 ? perPage : query.perPage,
    hasNext: typeof next === 'string' && next !== '',
    /** Decoded size of the response. */
    bytes: response.body.length,
  };
}

/** One page of the public catalogue. */
export type ImagePage = Awaited<ReturnType<typeof listImages>>;

/**
 * GET /v2/image/<id>, wrapped in `data` or bare.
 * @throws ImgctlError not-found, bad-answer
 */
export async function getImage(send: Send, id: number): Promise<ReceivedImage> {
  const response = await send({ method: 'GET', path: `/v2/image/${id}` });
  const value = readJson(response);
  const image = isObject(value) && isObject(value.data) ? value.data : value;
  if (!isObject(image) || !('id' in image || 'name' in image)) {
    throw shapeError(response, 'the body is not an image');
  }
  requireExactId(response, image);
  return image;
}

/**
 * GET /v2/user/image/vm: all of the user's own images; this list has no pages.
 * @throws ImgctlError bad-answer; also if meta announces more images than were sent
 */
export async function listUserImages(send: Send) {
  const response = await send({ method: 'GET', path: '/v2/user/image/vm' });
  const { data, meta } = readEnvelope(response);
  // A service may page this list too, against section 2.3.
  const total = isObject(meta.pages) ? meta.pages.total : undefined;
  for (const announced of [meta.count, total]) {
    if (isCount(announced) && announced > data.length) {
      throw shapeError(response, `the body holds ${data.length} of ${announced} images`);
    }
  }
  return { images: data, meta };
}

/** Fields of the images may be missing. */
function readEnvelope(response: HttpResponse): { data: ReceivedImage[]; meta: JsonObject } {
  const value = readJson(response);
  if (!isObject(value)) throw shapeError(response, 'the body is not a list of images');
  const { data, meta } = value;
  if (!Array.isArray(data)) throw shapeError(response, 'data is not a list');
  if (!isObject(meta)) throw shapeError(response, 'meta is missing');
  for (const image of data) {
    if (!isObject(image)) throw shapeError(response, 'data does not hold images');
    requireExactId(response, image);
  }
  return { data, meta };
}

/** Ids of images are compared and sorted as numbers. */
function requireExactId(response: HttpResponse, { id }: JsonObject): void {
  if (typeof id === 'number' ? Math.abs(id) > Number.MAX_SAFE_INTEGER : id instanceof ExactNumber) {
    const named = /^-?\d+$/.test(`${id}`) ? `the image id ${id}` : 'an image id';
    throw shapeError(response, `${named} is larger than 2^53 or not exact`);
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
