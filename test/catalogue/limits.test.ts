// Lists of more pages or bytes than any service has. The client is a function: thousands of requests take too long.

import { expect, it } from 'vitest';
import type { ImagePage } from '../../src/api/images.ts';
import { listCatalogue } from '../../src/catalogue/listing.ts';
import { failure } from '../support/errors.ts';
import { QUERY } from './harness.ts';

function endless(changes: Partial<ImagePage>) {
  const client = {
    requests: 0,
    async listImages(_query: unknown, number: number): Promise<ImagePage> {
      client.requests += 1;
      const page = { number, total: 1e15, pages: 1e15, perPage: 1, hasNext: true, bytes: 500 };
      return { images: [{ id: number }], meta: {}, ...page, ...changes };
    },
  };
  return client;
}

async function read(client: ReturnType<typeof endless>, streams: boolean): Promise<number> {
  let images = 0;
  for await (const batch of listCatalogue(client, { ...QUERY, streams })) {
    images += batch.images.length;
  }
  return images;
}

it.each([
  ['announces 1e15 pages', {}],
  ['announces 1e15 pages without a next one', { hasNext: false }],
  ['announces 9,999 pages that do not end', { pages: 9_999 }],
])('a list that %s ends as incomplete', async (_, changes) => {
  const client = endless(changes);
  const error = await failure(read(client, true));
  expect([error.code, error.exitCode]).toEqual(['incomplete-list', 1]);
  expect(client.requests).toBeLessThanOrEqual(20_008);
});

it('a list of more than 10,000 pages ends after 10,000 requests', async () => {
  const client = endless({});
  const error = await failure(read(client, true));
  expect(error.message).toBe('the list is incomplete: it has more than 10000 pages');
  expect(client.requests).toBe(10_000);
});

it('a list that is held in memory has at most 256 MiB', async () => {
  const page = { bytes: 4 * 2 ** 20, pages: 65, total: 65, hasNext: false };
  const error = await failure(read(endless(page), false));
  expect([error.code, error.message]).toEqual(['bad-answer', 'the list is larger than 256 MiB']);
  expect(error.hint).toContain('-o ndjson');
  expect(await read(endless(page), true)).toBe(65);
  expect(await read(endless({ ...page, pages: 64, total: 64 }), false)).toBe(64);
});
