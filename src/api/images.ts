// Images of the public catalogue and the user's own, sections 4.3, 4.4 and 4.7 of service-api.md.

import { type Received, readJson, shapeError } from './answers.ts';
import type { Http } from './http.ts';
import { isObject, type JsonObject } from './json.ts';

/** The query of GET /v2/image, section 4.3; what is undefined is not sent. */
export interface ImageQuery {
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  /** 1 to 100. */
  readonly perPage: number;
  /** Image objects instead of URLs. */
  readonly expand: boolean;
}

/** One page of the public catalogue; elements are images or, not expanded, their URLs. */
export interface ImagePage {
  readonly elements: readonly (JsonObject | string)[];
  /** meta as it was sent, section 2.3. */
  readonly meta: JsonObject;
  /** Which page it is, where the service says so. */
  readonly number: number | undefined;
  /** Number of results on all pages. */
  readonly total: number;
  /** Number of pages. */
  readonly pages: number;
  readonly perPage: number;
  readonly hasNext: boolean;
}

/**
 * GET /v2/image: one page.
 * @throws ImgctlError bad-answer where the envelope is not that of sections 2.3 and 2.4
 */
export async function listImages(http: Http, query: ImageQuery, page: number): Promise<ImagePage> {
  const parameters = new URLSearchParams();
  parameters.set('per_page', String(query.perPage));
  parameters.set('page', String(page));
  if (query.expand) parameters.set('expand', '1');
  if (query.filter !== undefined) parameters.set('filter', query.filter);
  if (query.sort !== undefined) parameters.set('sort', query.sort);
  const encoded = parameters.toString().replaceAll('+', '%20');
  const received = await http.send({ method: 'GET', path: `/v2/image?${encoded}` });
  const { data, meta } = envelope(received);
  const { pages } = meta;
  if (!isObject(pages)) throw shapeError(received, 'without meta.pages');
  const { page: number, total, pages: count, per_page: perPage, next_url: next } = pages;
  if (!isCount(total) || !isCount(count)) {
    throw shapeError(received, 'meta.pages does not say how many images there are');
  }
  for (const element of data) {
    if (query.expand ? !isObject(element) : typeof element !== 'string') {
      throw shapeError(received, `data does not hold ${query.expand ? 'images' : 'image URLs'}`);
    }
  }
  return {
    elements: data as (JsonObject | string)[],
    meta,
    number: isCount(number) ? number : undefined,
    total,
    pages: count,
    perPage: isCount(perPage) && perPage > 0 ? perPage : query.perPage,
    hasNext: typeof next === 'string' && next !== '',
  };
}

/**
 * GET /v2/image/<id>, wrapped in `data` or bare.
 * @throws ImgctlError not-found, bad-answer
 */
export async function getImage(http: Http, id: number): Promise<JsonObject> {
  const received = await http.send({ method: 'GET', path: `/v2/image/${id}` });
  const value = readJson(received);
  const image = isObject(value) && isObject(value.data) ? value.data : value;
  if (!isObject(image) || !('id' in image || 'name' in image)) {
    throw shapeError(received, 'it is not an image');
  }
  requireExactIds(received, [image]);
  return image;
}

export interface UserImages {
  readonly images: readonly JsonObject[];
  readonly meta: JsonObject;
}

/**
 * GET /v2/user/image/vm: all of the user's own images; this list has no pages.
 * @throws ImgctlError bad-answer; also where meta says that more were meant to come
 */
export async function myImages(http: Http): Promise<UserImages> {
  const received = await http.send({ method: 'GET', path: '/v2/user/image/vm' });
  const { data, meta } = envelope(received);
  if (!data.every(isObject)) throw shapeError(received, 'data does not hold images');
  // A service may page this list as well, against section 2.3.
  const total = isObject(meta.pages) ? meta.pages.total : undefined;
  for (const announced of [meta.count, total]) {
    if (isCount(announced) && announced > data.length) {
      throw shapeError(received, `it holds ${data.length} images where it announces ${announced}`);
    }
  }
  return { images: data, meta };
}

function envelope(received: Received): { data: unknown[]; meta: JsonObject } {
  const value = readJson(received);
  if (!isObject(value)) throw shapeError(received, 'it is not a list of images');
  const { data, meta } = value;
  if (!Array.isArray(data)) throw shapeError(received, 'it holds no list named data');
  if (!isObject(meta)) throw shapeError(received, 'without meta');
  requireExactIds(received, data);
  return { data, meta };
}

/** JSON numbers beyond 2^53 were rounded while being read: such an id would name another image. */
function requireExactIds(received: Received, elements: readonly unknown[]): void {
  for (const element of elements) {
    if (
      isObject(element) &&
      typeof element.id === 'number' &&
      Math.abs(element.id) > Number.MAX_SAFE_INTEGER
    ) {
      throw shapeError(received, 'an image id is larger than 2^53 and cannot be read exactly');
    }
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
