// Lists of an S3 bucket: their end, and their limits.

import { expect, it } from 'vitest';
import type { HttpResponse } from '../../src/http/message.ts';
import { listItems, partSizeOf, type S3Request } from '../../src/upload/s3-bucket.ts';
import { ENDPOINT } from '../support/client.ts';

/** Reads a list of uploads to its end, and returns how many pages and items it had. */
async function read(pageOf: (page: number) => string) {
  const queries: S3Request['query'][] = [];
  const send = async ({ query }: S3Request): Promise<HttpResponse> => {
    queries.push(query);
    const body = Buffer.from(`<ListResult>${pageOf(queries.length)}</ListResult>`);
    const url = new URL('https://s3.example.com/bucket');
    const times = { wireBytes: body.length, receivedAt: 0 };
    return { method: 'GET', url, endpoint: ENDPOINT, status: 200, headers: {}, body, ...times };
  };
  const s3 = { address: 's3.example.com', send };
  const items: string[] = [];
  const readAll = async () => {
    const request = { query: { uploads: '' } };
    for await (const { Key = '' } of listItems(s3, 'Upload', request)) items.push(Key);
  };
  const error = await readAll().catch(({ message }: Error) => message);
  return { pages: queries.length, items: items.length, error, last: queries.at(-1) };
}

const upload = '<Upload><Key>a</Key></Upload>';
const next = (marker: unknown) =>
  `<IsTruncated>true</IsTruncated><NextKeyMarker>${marker}</NextKeyMarker>`;
const endless = 's3.example.com sent an endless list';

it.each<[string, (page: number) => string, number, number, string?]>([
  ['has three pages', (page) => upload + (page < 3 ? next(page) : ''), 3, 3],
  ['never ends', next, 1_000, 0, endless],
  ['repeats its marker', () => upload + next('same'), 2, 2, endless],
  ['goes round', (page) => next(page % 3), 4, 0, endless],
  ['has no marker', () => '<IsTruncated>true</IsTruncated>', 2, 0, endless],
])('a list that %s is read as far as that', async (_what, pageOf, pages, items, error) => {
  expect(await read(pageOf)).toMatchObject({ pages, items, error });
});

it('a page is asked for with the marker of the one before', async () => {
  const { last } = await read((page) => (page === 1 ? next('a&amp;b') : ''));
  expect(last).toEqual({ uploads: '', 'key-marker': 'a&b', 'upload-id-marker': '' });
});

it.each([
  [50_000, 5],
  [50_000.001, 6],
])('a file of %f MiB has parts of %i MiB, at most 10,000', (size, parts) => {
  const MIB = 2 ** 20;
  expect(partSizeOf({ partSize: 5 * MIB }, { size: Math.ceil(size * MIB) })).toBe(parts * MIB);
});
