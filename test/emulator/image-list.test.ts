// GET /v2/image and GET /v2/image/<id> over a real socket: sections 4.3 and 4.4, 2.3 and 2.4, per_page of section 8.

import { describe, expect, it } from 'vitest';
import type { ErrorRecord, Image, ImageList, ImageResponse } from '../../src/api/types.ts';
import { buildCatalog } from '../../src/emulator/catalog.ts';
import { END, serve } from '../support/emulator.ts';

const IMAGES = buildCatalog(25, 1, END);

/** A service with 25 images, and ways to read them. */
async function startListing() {
  const { baseUrl, login, send } = await serve({ images: 25 });
  const credentials = await login();
  const get = <Body>(path: string) => send<Body>('GET', path, credentials);
  const list = <Element>(query: string) => get<ImageList<Element>>(`/v2/image${query}`);
  return { baseUrl, get, list };
}

describe('the image list', () => {
  it('returns the URLs of ten images and the links of the pages', async () => {
    const { baseUrl, list } = await startListing();
    const { status, body } = await list<string>('');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: IMAGES.slice(0, 10).map(({ id }) => `${baseUrl}/v2/image/${id}`),
      meta: {
        _link: { self: `${baseUrl}/v2/image` },
        count: 10,
        pages: {
          first_url: `${baseUrl}/v2/image?page=1`,
          last_url: `${baseUrl}/v2/image?page=3`,
          next_url: `${baseUrl}/v2/image?page=2`,
          prev_url: null,
          page: 1,
          pages: 3,
          per_page: 10,
          total: 25,
        },
        time: expect.stringMatching(/^\d+\.\d+s$/),
        user: 'demo',
      },
    });
  });

  it('returns images with every field of section 2.2 with expand=1', async () => {
    const { list } = await startListing();
    const { body } = await list<Image>('?expand=1&per_page=2');
    expect(body.data).toEqual(IMAGES.slice(0, 2));
    expect(Object.keys(body.data[0] ?? {}).join(' ')).toBe(
      'id name path label folder data_store public created_on updated_on',
    );
  });

  it('keeps other parameters in its links, percent-encoded, and the query as sent in _link.self', async () => {
    const { baseUrl, list } = await startListing();
    const query =
      '?page=2&filter=path,like,%25a%25&sort=name,desc&expand=1&per_page=2&other=a+b%26c';
    const { body } = await list<Image>(query);
    const others =
      'filter=path%2Clike%2C%25a%25&sort=name%2Cdesc&expand=1&per_page=2&other=a%20b%26c';
    expect(body.meta._link.self).toBe(`${baseUrl}/v2/image${query}`);
    expect(body.meta.pages).toMatchObject({
      first_url: `${baseUrl}/v2/image?${others}&page=1`,
      next_url: `${baseUrl}/v2/image?${others}&page=3`,
      prev_url: `${baseUrl}/v2/image?${others}&page=1`,
    });
  });

  it('filters, sorts, counts, and returns filter and sort in meta', async () => {
    const { list } = await startListing();
    const { body } = await list<Image>('?expand=1&filter=name,like,%25-amd64-%25&sort=id,desc');
    const matching = IMAGES.filter(({ name }) => name.includes('-amd64-')).reverse();
    expect(matching.length).toBeGreaterThan(1);
    expect(body.data).toEqual(matching.slice(0, 10));
    expect(body.meta).toMatchObject({ filter: 'name,like,%-amd64-%', sort: 'id,desc' });
    expect(body.meta.pages.total).toBe(matching.length);
  });

  it('accepts a filter with percent signs that are not encoded', async () => {
    const { list } = await startListing();
    const { body } = await list('?filter=name,like,%ubuntu%');
    expect(body.meta.filter).toBe('name,like,%ubuntu%');
    expect(body.meta.pages.total).toBe(IMAGES.filter(({ name }) => name.includes('ubuntu')).length);
  });

  it('has one empty page if nothing matches', async () => {
    const { baseUrl, list } = await startListing();
    const { status, body } = await list('?filter=name,eq,none');
    expect(status).toBe(200);
    expect(body.data).toEqual([]);
    const only = `${baseUrl}/v2/image?filter=name%2Ceq%2Cnone&page=1`;
    const links = { first_url: only, last_url: only, next_url: null, prev_url: null };
    expect(body.meta.pages).toEqual({ ...links, page: 1, pages: 1, per_page: 10, total: 0 });
  });

  it('is empty past the last page, with prev_url to the last page', async () => {
    const { baseUrl, list } = await startListing();
    const { status, body } = await list('?page=9');
    expect(status).toBe(200);
    expect(body.data).toEqual([]);
    expect(body.meta.pages).toMatchObject({
      next_url: null,
      prev_url: `${baseUrl}/v2/image?page=3`,
      page: 9,
      pages: 3,
    });
  });

  it.each([1, 100])('accepts per_page=%i', async (perPage) => {
    const { list } = await startListing();
    const { status, body } = await list(`?per_page=${perPage}`);
    expect(status).toBe(200);
    expect(body.meta.pages.per_page).toBe(perPage);
    expect(body.meta.count).toBe(Math.min(perPage, 25));
  });

  it.each([
    ...['per_page=0', 'per_page=101', 'per_page=', 'per_page=ten'],
    ...['page=0', 'page=-1', 'page=1.5', 'page=99999999999999999999', 'page=1&page=2'],
    ...['filter=id,eq,three', 'filter=id,gt,1&filter=id,lt,9', 'sort=name,up'],
  ])('refuses %s with 400', async (query) => {
    const { get } = await startListing();
    const { status, headers, body } = await get<ErrorRecord>(`/v2/image?${query}`);
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'bad request', message: expect.any(String), status: 400 });
    expect(headers.get('Allow')).toBe('GET, HEAD, OPTIONS');
  });
});

describe('one image', () => {
  it('is found at the URL in the list', async () => {
    const { baseUrl, get, list } = await startListing();
    const { body } = await list<string>('?page=2&expand=0');
    const url = body.data[0] ?? '';
    const image = await get<ImageResponse>(url.slice(baseUrl.length));
    expect(image.status).toBe(200);
    expect(image.body.data).toEqual(IMAGES[10]);
  });

  const first = IMAGES[0]?.id;
  const unknown = ['0', '1', '999999', 'abc', '1e3', '__proto__', `0${first}`, `${first}.0`];
  it.each(unknown)('gets 404 with the id %s', async (id) => {
    const { get } = await startListing();
    const { status, body } = await get(`/v2/image/${id}`);
    expect(status).toBe(404);
    expect(body).toEqual({ error: 'not found', message: `There is no image ${id}.`, status: 404 });
  });
});
