// Images and pages of GET /v2/image for scripted servers.

import type { Image, ImageListMeta, Pages } from '../../src/api/types.ts';
import type { Handler } from './scripted-server.ts';

/** Returns `count` images with ids from `first`. */
export function testImages(count: number, first = 1): Image[] {
  return Array.from({ length: count }, (_, index) => testImage(first + index));
}

export const testImage = (id: number) => named(id, `image-${String(id).padStart(4, '0')}.ova`);

/** Returns an image of this name, with changes. */
export function named(id: number, name: string, changes: Partial<Image> = {}): Image {
  return {
    ...{ id, name, path: `[images] linux/${name}`, label: `linux/${name}`, folder: 'linux' },
    ...{ data_store: 'images', public: true, created_on: '2018-07-18 Wed 15:36:49 EDT' },
    updated_on: '2018-07-19 Thu 08:00:00 EDT',
    ...changes,
  };
}

/**
 * Returns the page of `images` that the URL of a request for GET /v2/image selects by page, per_page and expand. Sorts by
 * id and applies filters such as id,lt,5 and id,ge,5; others are only echoed. `changes` replace parts of meta.pages.
 */
export function cataloguePage(
  url: URL,
  images: readonly Image[],
  changes: Partial<Pages> = {},
): { data: (string | Image)[]; meta: ImageListMeta } {
  const per_page = changes.per_page ?? Number(url.searchParams.get('per_page') ?? 10);
  const page = Number(url.searchParams.get('page') ?? 1);
  const filter = /^id,(lt|ge),(-?\d+)$/.exec(url.searchParams.get('filter') ?? '');
  const found = filter
    ? images.filter(({ id }) => id < Number(filter[2]) === (filter[1] === 'lt'))
    : images;
  const order = { 'id,asc': 1, 'id,desc': -1 }[url.searchParams.get('sort') ?? ''] ?? 0;
  const listed = found.toSorted((one, other) => order * (one.id - other.id));
  const shown = listed.slice((page - 1) * per_page, page * per_page);
  return pageOf(url, shown, { page, per_page, total: listed.length }, changes);
}

/** Returns a page with these rows. Filter and sort of the URL are echoed; `changes` replace parts of meta.pages. */
export function pageOf<Row extends { readonly id?: unknown }>(
  url: URL,
  rows: readonly Row[],
  place: Pick<Pages, 'page' | 'per_page' | 'total'>,
  changes: Partial<Pages> = {},
): { data: (string | Row)[]; meta: ImageListMeta } {
  const { page, per_page, total } = place;
  const last = Math.max(1, Math.ceil(total / per_page));
  const pageUrl = (number: number): string => {
    const target = new URL(url);
    target.searchParams.set('page', String(number));
    return target.href;
  };
  const { expand, filter, sort } = Object.fromEntries(url.searchParams);
  const pages = {
    ...{ ...place, pages: last, first_url: pageUrl(1), last_url: pageUrl(last) },
    next_url: page < last ? pageUrl(page + 1) : null,
    prev_url: page > 1 ? pageUrl(page - 1) : null,
    ...changes,
  };
  return {
    data: expand === '1' ? [...rows] : rows.map(({ id }) => `${url.origin}/v2/image/${id}`),
    meta: {
      ...{ _link: { self: url.href }, count: rows.length, pages, time: '0.01s', user: 'tester' },
      ...(filter === undefined ? {} : { filter }),
      ...(sort === undefined ? {} : { sort }),
    },
  };
}

/** Returns the handler that sends pages of these images. */
export function catalogueOf(images: readonly Image[], changes?: Partial<Pages>): Handler {
  return ({ url }) => ({ json: cataloguePage(url, images, changes) });
}

/** Returns the handler that sends images by id, and pages of those whose name contains the word of the filter. */
export function catalogueByName(images: readonly Image[]): Handler {
  return (request, index) => {
    const { pathname, searchParams } = request.url;
    const id = /^\/v2\/image\/(\d+)$/.exec(pathname)?.[1];
    if (id !== undefined) {
      const data = images.find((image) => image.id === Number(id));
      return data ? { json: { data } } : { status: 404, json: { message: 'None.' } };
    }
    const word = /^name,like,%?(.*?)%$/.exec(searchParams.get('filter') ?? '')?.[1] ?? '';
    return catalogueOf(images.filter(({ name }) => name.includes(word)))(request, index);
  };
}

/** Returns the rows of a list in JSON or ndjson. */
export function rowsOf(stdout: string): { id: unknown }[] {
  const text = stdout.trim();
  return JSON.parse(text.startsWith('[') ? text : `[${text.split('\n').join(',')}]`);
}

/** Returns the ids of a list in JSON or ndjson. */
export const idsOf = (stdout: string): unknown[] => rowsOf(stdout).map(({ id }) => id);
