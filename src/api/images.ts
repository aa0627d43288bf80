// Images of the public catalogue and the user's own, sections 4.3, 4.4 and 4.7 of service.md.

import { ImgctlError } from '../errors.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { isCount, isObject, type JsonObject, stringify } from '../json.ts';
import { counted } from '../words.ts';
import type { Send, ServiceRequest } from './auth.ts';
import { parseId, readJson, requireSameId, shapeError, statusError } from './responses.ts';
import type { ImageListMeta, ReceivedImage } from './types.ts';

/** Maximum number of pages, for lists that never end. */
export const MAX_PAGES = 10_000;

/** Maximum page size, section 2.4. */
export const MAX_PER_PAGE = 100;

/** The query of GET /v2/image, section 4.3; undefined parameters are not sent. */
export interface PageQuery {
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  /** 1 to 100. */
  readonly perPage: number;
}

export interface ImagePage {
  readonly images: readonly ReceivedImage[];
  /** As sent, section 2.3. */
  readonly meta: Partial<ImageListMeta>;
  /** The page's own number, if the service says so. */
  readonly number: number | undefined;
  readonly total: number;
  readonly pages: number;
  readonly hasNext: boolean;
  readonly bytes: number;
}

/** The service refuses a request for images. A login that fails before it is another error. */
export class RefusedRequestError extends ImgctlError {}

/**
 * GET /v2/image: one page.
 * @throws RefusedRequestError; ImgctlError bad-answer: not the envelope of sections 2.3 and 2.4
 */
export async function listImages(
  send: Send,
  query: PageQuery,
  page: number,
  options: Pick<ServiceRequest, 'signal' | 'retries'> = {},
): Promise<ImagePage> {
  // Image objects instead of URLs.
  const parameters = new URLSearchParams(`per_page=${query.perPage}&page=${page}&expand=1`);
  if (query.filter !== undefined) parameters.set('filter', query.filter);
  if (query.sort !== undefined) parameters.set('sort', query.sort);
  const path = `/v2/image?${parameters.toString().replaceAll('+', '%20')}`;
  const response = await send({ method: 'GET', path, ...options });
  requireSuccess(response);
  const { images, meta } = readImageList(response);
  if (!isObject(meta.pages)) throw shapeError(response, 'meta.pages is missing');
  const { page: number, total, pages, next_url: next } = meta.pages;
  if (!isCount(total) || !isCount(pages)) {
    throw shapeError(response, 'meta.pages does not say how many images there are');
  }
  return {
    images,
    meta: meta as Partial<ImageListMeta>,
    number: isCount(number) ? number : undefined,
    total,
    pages,
    hasNext: hasText(next),
    bytes: response.body.length,
  };
}

function requireSuccess(response: HttpResponse): void {
  if (isSuccess(response)) return;
  const error = statusError(response);
  throw new RefusedRequestError(error.code, error.message, error);
}

/**
 * GET /v2/image/<id>, wrapped in `data` or bare.
 * @throws RefusedRequestError; ImgctlError bad-answer: also if the body is another image
 */
export async function getImage(send: Send, id: number | string): Promise<ReceivedImage> {
  const response = await send({ method: 'GET', path: `/v2/image/${encodeURIComponent(id)}` });
  requireSuccess(response);
  const value = readJson(response);
  const image = isObject(value) && isObject(value.data) ? value.data : value;
  if (!isObject(image) || (image.id ?? image.name ?? null) === null) {
    throw shapeError(response, 'the body is not an image');
  }
  requireExactId(response, image);
  requireSameId('image', id, image.id);
  return image;
}

export interface ImageList {
  readonly images: readonly ReceivedImage[];
  /** As sent, section 2.3. */
  readonly meta: JsonObject;
}

/** GET /v2/user/image/vm: all of the user's own images; this list has no pages. */
export async function listUserImages(send: Send): Promise<ImageList> {
  const response = await send({ method: 'GET', path: '/v2/user/image/vm' });
  const list = readImageList(response);
  const { images, meta } = list;
  const { count } = meta;
  // A service may page this list too, against section 2.3.
  const { total = count, pages, next_url: next } = isObject(meta.pages) ? meta.pages : {};
  if (!isCount(count) || !isCount(total)) {
    throw shapeError(response, 'the body has no number of images');
  }
  const otherNumber = [count, total].find((number) => number !== images.length);
  if (otherNumber !== undefined) {
    throw shapeError(
      response,
      `the body holds ${counted(images.length, 'image')} instead of ${otherNumber}`,
    );
  }
  if ((isCount(pages) && pages > 1) || hasText(next)) {
    throw shapeError(response, 'the body is only the first page of the images');
  }
  return list;
}

/** Fields of the images may be missing. */
function readImageList(response: HttpResponse): ImageList {
  const value = readJson(response);
  if (!isObject(value)) throw shapeError(response, 'the body is not a list of images');
  const { data, meta } = value;
  if (!Array.isArray(data)) throw shapeError(response, 'data is not a list');
  if (!isObject(meta)) throw shapeError(response, 'meta is missing');
  for (const image of data) {
    if (!isObject(image)) throw shapeError(response, 'data does not hold images');
    requireExactId(response, image);
  }
  return { images: data, meta };
}

function requireExactId(response: HttpResponse, image: JsonObject): void {
  const flaw = idFlaw(image);
  if (flaw !== undefined) throw shapeError(response, flaw);
}

/** Returns the id of an image, a number if it is the text of one; its JSON if it has none. */
export function keyOf(image: JsonObject): unknown {
  const { id } = image;
  return typeof id === 'string' ? parseId(id) : (id ?? stringify(image));
}

/** Returns the id if it is a number, or the text of one; only then an image can be requested. */
export function numericId(image: JsonObject): number | undefined {
  const id = keyOf(image);
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

export function idFlaw({ id }: JsonObject): string | undefined {
  const isNumber = typeof id === 'number' || (typeof id === 'string' && /^-?\d+$/.test(id));
  if (!isNumber || Math.abs(Number(id)) <= Number.MAX_SAFE_INTEGER) return undefined;
  return `the image id ${id} is not between -2^53 and 2^53`;
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
