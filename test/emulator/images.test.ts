// The catalogue, its timestamps, and GET /v2/image: sections 4.3, 2.2 to 2.4, per_page of section 8.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Image, ImageListMeta } from '../../src/api/types.ts';
import { findImages } from '../../src/emulator/resources.ts';
import { sampleImages, serviceTimestamp } from '../../src/emulator/sample-images.ts';
import { END, serve } from '../support/emulator.ts';

const IMAGES = sampleImages(25, 1, END);

/** A service with 25 images, and ways to read them. */
async function startListing() {
  const { baseUrl, login, send } = await serve({ images: 25 });
  const credentials = await login();
  const get = <Body>(path: string) => send<Body>('GET', path, credentials);
  const list = <Element>(query: string) =>
    get<{ data: Element[]; meta: ImageListMeta }>(`/v2/image${query}`);
  return { url: `${baseUrl}/v2/image`, get, list };
}

describe('the image list', () => {
  it('returns the URLs of ten images and the links of the pages', async () => {
    const { url, list } = await startListing();
    const { status, body } = await list<string>('');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: IMAGES.slice(0, 10).map(({ id }) => `${url}/${id}`),
      meta: {
        ...{ _link: { self: url }, count: 10, time: expect.stringMatching(/^\d+\.\d+s$/) },
        pages: {
          ...{ first_url: `${url}?page=1`, last_url: `${url}?page=3` },
          ...{ next_url: `${url}?page=2`, prev_url: null },
          ...{ page: 1, pages: 3, per_page: 10, total: 25 },
        },
        user: 'demo',
      },
    });
  });

  it('filters, sorts, expands, and keeps the parameters in its links, percent-encoded', async () => {
    const { url, list } = await startListing();
    const query = '?page=2&filter=path,like,%a%&sort=id,desc&expand=1&per_page=2&other=a+b%26c';
    const { body } = await list<Image>(query);
    const matching = IMAGES.filter(({ path }) => /a/i.test(path)).reverse();
    expect(body.data).toEqual(matching.slice(2, 4));
    const others =
      'filter=path%2Clike%2C%25a%25&sort=id%2Cdesc&expand=1&per_page=2&other=a%20b%26c';
    const [first_url, next_url] = [1, 3].map((page) => `${url}?${others}&page=${page}`);
    expect(body.meta).toMatchObject({
      ...{ _link: { self: `${url}${query}` }, filter: 'path,like,%a%', sort: 'id,desc' },
      pages: { first_url, next_url, prev_url: first_url, total: matching.length },
    });
  });

  it('refuses what service.md does not name with 400', async () => {
    const filters = [
      ...['', 'name', 'name,eq', 'colour,eq,red', 'constructor,eq,1', 'Name,eq,a', 'name,is,a'],
      ...['id,eq,three', 'id,eq,null', 'id,eq,3.0', 'id,in,3,,30', 'public,eq,yes'],
      ...['created_on,ge,2018-07-18', 'created_on,ge,2018-07-18 Thu 15:36:49 EDT'],
    ];
    const queries = [
      ...['per_page=0', 'per_page=101', 'per_page=', 'per_page=ten', 'page=0', 'page=1.5'],
      ...['page=99999999999999999999', 'page=1&page=2', 'filter=id,gt,1&filter=id,lt,9'],
      ...filters.map((filter) => `filter=${filter}`),
      ...['', 'id', 'id,', 'id,up', 'id,ASC', 'id,asc,', 'colour,asc', 'name:version,asc'].map(
        (key) => `sort=${key}`,
      ),
    ];
    const { get } = await startListing();
    for (const query of queries) {
      const { status, headers, body } = await get(`/v2/image?${query}`);
      const [name = '', value = ''] = query.split(/=(.*)/s);
      const number = new RegExp(`^${name} must be an integer from 1 to \\d+, not "${value}"\\.$`);
      const message = query.includes('&')
        ? `${name} was sent more than once.`
        : {
            filter: `Wrong filter "${value}"; expected <field_name>,<operator>,<value>.`,
            sort: `Wrong sort "${value}"; expected <field_name>,<asc|desc>.`,
          }[name];
      const error = {
        error: 'bad request',
        message: message ?? expect.stringMatching(number),
        status: 400,
      };
      expect({ query, status, body }).toEqual({ query, status: 400, body: error });
      expect(headers.get('Allow')).toBe('GET, HEAD, OPTIONS');
    }
  });
});

it('findImages returns the ids of a range, in both orders, like a reading of all images', () => {
  const ids = [-4, 0, 7, 8, 30];
  // As a snapshot may have them: without an id, and as text.
  const images = [null, ...ids.slice(0, 4), '30'].map((id) => ({ ...IMAGES[0], id }) as Image);
  const idsOf = (...query: Parameters<typeof findImages>) =>
    findImages(...query).found.map(({ id }) => Number(id));
  for (const bound of [...ids, -5, 6, 31, Number.MAX_SAFE_INTEGER]) {
    const matching = {
      lt: ids.filter((id) => id < bound),
      le: ids.filter((id) => id <= bound),
      gt: ids.filter((id) => id > bound),
      ge: ids.filter((id) => id >= bound),
    };
    for (const [operator, found] of Object.entries(matching)) {
      const filter = `id,${operator},${bound}`;
      const down = { filter, sort: 'id,desc' };
      expect([filter, idsOf(images, { filter })]).toEqual([filter, found]);
      expect([filter, idsOf(images.slice(1), { filter })]).toEqual([filter, found]);
      for (const [start, end] of [
        [1, 3],
        [4, 9],
      ] as const) {
        const part = found.toReversed().slice(start, end);
        expect([filter, idsOf(images, down, [start, end])]).toEqual([filter, part]);
      }
      expect(findImages(images, down, [4, 9]).total).toBe(found.length);
    }
  }
  expect(findImages(images, { sort: 'id,desc' }).found).toEqual(images.toReversed());
});

it('the catalogue depends only on count, seed and last day, and ends there', () => {
  expect(sampleImages(300, 7, END)).toEqual(sampleImages(300, 7, END));
  expect(sampleImages(300, 7, END)).not.toEqual(sampleImages(300, 8, END));
  for (const count of [0, 1, 25, 39, 40]) expect(sampleImages(count, 1, END)).toHaveLength(count);
  const moved = sampleImages(25, 1, Date.UTC(2030, 1, 3, 15, 30));
  const days = moved.flatMap(({ name }) => name.match(/20\d{6}/g) ?? []).map(Number);
  expect(Math.max(...days)).toBeGreaterThan(20290000);
});

it('the catalogue of a seed has the same images in each version', () => {
  const text = JSON.stringify(sampleImages(300, 7, END));
  const digest = createHash('sha256').update(text).digest('hex');
  expect(digest).toBe('c0e51eafa1ad385cf86c67311f0bc1caf6ac2fb06ea4ea0688521858ea9ec520');
});

it.each([
  ['2025-03-09T06:59:59Z', '2025-03-09 Sun 01:59:59 EST'],
  ['2025-03-09T07:00:00Z', '2025-03-09 Sun 03:00:00 EDT'],
  ['2026-11-01T05:59:59Z', '2026-11-01 Sun 01:59:59 EDT'],
  ['2026-11-01T06:00:00Z', '2026-11-01 Sun 01:00:00 EST'],
])('serviceTimestamp writes %s as %s', (time, expected) => {
  expect(serviceTimestamp(Date.parse(time))).toBe(expected);
});
