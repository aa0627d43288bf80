// Tests what a catalogue listing yields and requests: lists that change or miscount, limits, queries, failures.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImagePage } from '../../src/api/images.ts';
import type { Image, Pages } from '../../src/api/types.ts';
import {
  type Batch,
  type CatalogueObserver,
  type CatalogueQuery,
  listCatalogue,
} from '../../src/catalogue/listing.ts';
import { ServiceLists } from '../../src/catalogue/service-lists.ts';
import { ImgctlError } from '../../src/errors.ts';
import { parseQuery } from '../../src/query/query.ts';
import { catalogueOf, cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { connect } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import {
  type Handler,
  type ScriptedRequest,
  type ScriptedServer,
  STALL,
} from '../support/scripted-server.ts';

type Typed = Partial<Parameters<typeof parseQuery>[0]>;
const queryOf = (typed: Typed) => parseQuery({ words: [], ...typed }, 0);

/** Two images per page. */
const QUERY: CatalogueQuery = { query: queryOf({}), perPage: 2 };

/** Returns the ids of all images that were yielded, even if the listing then failed. */
async function list(
  handler: Handler,
  { connections = 1, ...query }: Partial<CatalogueQuery> & { readonly connections?: number } = {},
  observer?: CatalogueObserver,
) {
  const connection = await connect(handler);
  const { server } = connection;
  const client = { ...connection.client, connections };
  const batches: Batch[] = [];
  let error: ImgctlError | undefined;
  try {
    for await (const batch of listCatalogue(client, { ...QUERY, ...query }, observer)) {
      batches.push(batch);
    }
  } catch (thrown) {
    if (!(thrown instanceof ImgctlError)) throw thrown;
    error = thrown;
  }
  const ids = batches.flatMap(({ images }) => images.map(({ id }) => id));
  return { ...connection, batches, ids, error, pages: pagesOf(server) };
}

const pageOf = ({ url }: ScriptedRequest) => Number(url.searchParams.get('page'));
const pagesOf = (server: ScriptedServer) => server.requests.map(pageOf);
const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Serves the images of the request's index. */
const serving =
  (images: (index: number) => readonly Image[]): Handler =>
  (request, index) =>
    catalogueOf(images(index))(request, index);

/** Serves `before` to the first request and `after` to all others. */
const changing = (before: readonly Image[], after: readonly Image[]) =>
  serving((index) => (index === 0 ? before : after));

/** Serves so many images with wrong fields in meta.pages. */
const claiming = (count: number, fields: Partial<Pages> = {}) =>
  catalogueOf(testImages(count), fields);

const overlapping: Handler = (request) => ({
  json: {
    ...cataloguePage(request.url, testImages(4), { pages: 3 }),
    data: testImages(2, pageOf(request)),
  },
});
const withoutIds: Handler = ({ url }) => ({
  json: { ...cataloguePage(url, testImages(3)), data: [{ name: 'a' }, { name: 'a' }] },
});
/** Reads page 2 of the first pass as shorter. */
const twiceWithoutIds: Handler = ({ url }, index) => ({
  json: {
    ...cataloguePage(url, testImages(3), index === 1 ? { total: 2 } : {}),
    data: url.searchParams.get('page') === '1' ? [{ name: 'a' }, { name: 'b' }] : [{ name: 'c' }],
  },
});
const withEmptyPage: Handler = (request) => ({
  json: {
    ...cataloguePage(request.url, testImages(6), { total: 4 }),
    ...(pageOf(request) === 2 ? { data: [] } : {}),
  },
});
const repeating: Handler = ({ url }) => {
  const first = new URL(url);
  first.searchParams.set('page', '1');
  return { json: cataloguePage(first, testImages(6)) };
};

describe('a catalogue listing', () => {
  it('requests each page once with the whole query and reports progress', async () => {
    const progress: string[] = [];
    const asked = queryOf({ filters: ['id>0'], sorts: ['id,asc'] });
    const observer = { progress: (text: string) => progress.push(text) };
    const { ids, server } = await list(claiming(3), { query: asked }, observer);
    expect(ids).toEqual(upTo(3));
    const query = '&expand=1&filter=id%2Cgt%2C0&sort=id%2Casc';
    const targets = [1, 2].map((page) => `/v2/image?per_page=2&page=${page}${query}`);
    expect(server.requests.map(({ target }) => target)).toEqual(targets);
    expect(progress).toEqual(['page 1 of 2, 2 images', 'page 2 of 2, 3 images']);
  });

  const SHRINKING = changing(testImages(6), testImages(5, 2));
  const KEEPS_SHRINKING = serving((index) => testImages(20 - index));
  const GROWN_AT_FRONT = changing(testImages(4, 2), testImages(5));
  const GROWS_LATER = changing(testImages(8, 2), testImages(9));
  const SHRINKS_LATER = changing(testImages(8), testImages(7, 2));
  const LIMITED = { limit: 4 };
  const STREAMED = { streams: true };
  const THREE = { streams: true, limit: 3 };
  const noIds = (count: number) => Array(count).fill(undefined);

  it.each<[string, Handler, unknown[], number[], Partial<CatalogueQuery>?]>([
    ['requests an empty list once', claiming(0), [], [1]],
    ['yields all images without an id', withoutIds, noIds(4), [1, 2]],
    ['streams no image without an id twice', twiceWithoutIds, noIds(3), [1, 2, 1, 2], STREAMED],
    ['streams as many images without an id as the limit says', withoutIds, noIds(3), [1, 2], THREE],
    ['drops images that pages repeat', overlapping, upTo(4), upTo(3)],
    ['reads on after an empty page', withEmptyPage, [1, 2, 5, 6], upTo(3)],
    ['stops at an empty page', claiming(4, { next_url: '?page=9' }), upTo(4), upTo(3)],
    ['ignores a total that is too small', claiming(6, { total: 3 }), upTo(6), upTo(3)],
    ['ignores pages that are too few', claiming(6, { pages: 1 }), upTo(6), upTo(3)],
    ['ignores pages that are too many', claiming(6, { pages: 5 }), upTo(6), upTo(5)],
    ['ignores zeros', claiming(6, { pages: 0, total: 0 }), upTo(6), upTo(3)],
    ['uses the page size sent', claiming(5, { per_page: 2 }), upTo(5), upTo(3), { perPage: 100 }],
    ['reads the end that grew', changing(testImages(5), testImages(7)), upTo(7), upTo(4)],
    ['starts again if the front grew', GROWN_AT_FRONT, upTo(5), [1, 2, 3, 1, 2, 3]],
    ['starts again if the list shrank', SHRINKING, upTo(6, 2), [1, 2, 1, 2, 3]],
    ['streams no image twice', SHRINKING, upTo(6), [1, 2, 1, 2, 3], STREAMED],
    ['reads on to its limit', GROWS_LATER, upTo(5, 2), upTo(3), LIMITED],
    ['starts again to its limit', SHRINKS_LATER, upTo(5, 2), [1, 2, 1, 2], LIMITED],
  ])('%s', async (_, handler, ids, pages, query) => {
    const result = await list(handler, query);
    expect(result).toMatchObject({ error: undefined, ids, pages });
  });

  it.each<[string, Handler, RegExp, number[]]>([
    ['if every page is the same', repeating, /announced 6 images but sent 2/, upTo(3)],
    ['if the list keeps shrinking', KEEPS_SHRINKING, /shorter/, [1, 2]],
    ['if the total is too large', claiming(6, { total: 9 }), /9 .* but sent 6/, upTo(3)],
    ['if a list with a total is empty', claiming(0, { total: 9 }), /9 images but sent 0/, [1]],
  ])('fails after reading a list twice %s', async (_, handler, message, pages) => {
    const result = await list(handler);
    expect(result.error).toMatchObject({ code: 'incomplete-list', exitCode: 1 });
    expect(result.error?.message).toMatch(message);
    expect(result.pages).toEqual([...pages, ...pages]);
  });

  it('stops soon after 1e15 announced pages', async () => {
    const { ids, error, pages } = await list(claiming(6, { pages: 1e15, total: 6 }));
    expect({ error, ids }).toEqual({ error: undefined, ids: upTo(6) });
    // Eleven idle pages end a reading; one more request may be in progress by then.
    expect(pages.slice(0, 14)).toEqual(upTo(14));
    expect(pages.length).toBeLessThanOrEqual(15);
  });
});

it('a catalogue listing yields every unchanged image once or fails if the list changes at random', async () => {
  const change = fc.array(fc.nat(19), { maxLength: 3 });
  const all = upTo(19, 0);
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      async (changes, grows, connections) => {
        // Images added or removed by the number of requests so far.
        const changed = (index: number) => new Set(changes.slice(0, index + 1).flat());
        const touched = changed(changes.length);
        const present = (index: number) =>
          all.filter((id) => !touched.has(id) || changed(index).has(id) === grows).map(testImage);
        const { client, server, ids, error } = await list(serving(present), { connections });
        await client.close();
        await server.close();
        if (error?.code === 'incomplete-list') return;
        expect(ids).toEqual(expect.arrayContaining(all.filter((id) => !touched.has(id))));
        expect(new Set(ids).size).toBe(ids.length);
        expect(pagesOf(server).length).toBeLessThanOrEqual(2 * 10 + 10);
      },
    ),
    { numRuns: 60 },
  );
});

it.each([
  [2, [1]],
  [3, [1, 2]],
  [99, upTo(10)],
])(
  'a catalogue listing with a limit of %i requests only the pages it needs',
  async (limit, pages) => {
    const result = await list(claiming(20), { connections: 6, limit });
    expect(result.ids).toEqual(upTo(Math.min(limit, 20)));
    expect(result.pages.sort((a, b) => a - b)).toEqual(pages);
  },
);

describe('a catalogue listing from a service that ignores the query', () => {
  /** Serves images 1 to 8 in the order of their ids; these pages echo the query. */
  const echoing =
    (...numbers: number[]): Handler =>
    (request) => {
      const page = cataloguePage(request.url, testImages(8));
      const { filter: _filter, sort: _sort, ...meta } = page.meta;
      return { json: numbers.includes(pageOf(request)) ? page : { ...page, meta } };
    };
  const SILENT = echoing();
  const ECHOING = echoing(1, 2, 3, 4);
  const ODD = { filters: ['id,in,1,3,5,7'] };
  const DOWN = { sorts: ['id,desc'] };

  it.each<[string, Typed, Handler, number[], number[], Partial<CatalogueQuery>?]>([
    ['filters', ODD, SILENT, [1, 3, 5, 7], upTo(4)],
    ['filters, though it echoes the filter', ODD, ECHOING, [1, 3, 5, 7], upTo(4)],
    ['reads on to the limit', ODD, ECHOING, [1, 3, 5], upTo(3), { limit: 3 }],
    ['sorts', DOWN, SILENT, upTo(8).reverse(), upTo(4)],
    ['sorts before it limits', DOWN, SILENT, [8, 7, 6], upTo(4), { limit: 3 }],
    ['sorts if page 1 echoes no sort', DOWN, echoing(2, 3, 4), [8, 7], upTo(4), { limit: 2 }],
    ['sorts if page 1 is in another order', DOWN, echoing(1), upTo(8).reverse(), upTo(4)],
  ])('%s, in one pass', async (_, input, handler, ids, pages, query) => {
    const result = await list(handler, { query: queryOf(input), streams: true, ...query });
    expect(result).toMatchObject({ error: undefined, ids, pages });
  });

  it.each<[string, Typed, Handler, number | undefined, limit?: number]>([
    ['counted all', {}, catalogueOf(testImages(8)), 8],
    ['counted less than it sent', {}, claiming(8, { total: 1 }), undefined],
    ['may count what it did not filter', ODD, ECHOING, undefined],
    ['may count without the word', { words: ['image'] }, catalogueOf(testImages(8)), undefined],
    ['was read to its end', ODD, ECHOING, 4, 4],
  ])('knows the total only from one that %s', async (what, input, handler, total, limit = 2) => {
    const { batches } = await list(handler, { query: queryOf(input), limit });
    expect([what, batches.at(-1)?.total]).toEqual([what, total]);
  });

  it('says for --debug how many images it left out', async () => {
    const lines: string[] = [];
    const { client } = await connect(ECHOING);
    const lists = new ServiceLists(client, (line) => lines.push(line));
    const request = { ...QUERY, query: queryOf(ODD) };
    for await (const _ of listCatalogue({ ...client, connections: 1 }, request, {}, lists));
    expect(lines).toEqual(['4 of the images that the service sent do not match']);
  });
});

describe('a catalogue listing with six requests at a time', () => {
  const SIX_AT_A_TIME = { ...QUERY, connections: 6, streams: true };

  it('throws the error of the first failing page and aborts the others', async () => {
    const failing: Handler = (request, index) => {
      const page = pageOf(request);
      if (page === 1) return claiming(40)(request, index);
      return page > 3 ? STALL : { status: page === 2 ? 400 : 404 };
    };
    const { error, pages } = await list(failing, SIX_AT_A_TIME);
    expect(error).toMatchObject({ status: 400 });
    expect(upTo(7)).toEqual(expect.arrayContaining(pages));
    expect(new Set(pages).size).toBe(pages.length);
  });

  it('aborts them if the caller leaves the loop', async () => {
    const { client, events } = await connect((request, index) =>
      pageOf(request) === 1 ? claiming(40)(request, index) : STALL,
    );
    for await (const _ of listCatalogue(client, SIX_AT_A_TIME)) break;
    await client.close();
    const errors = events.filter(({ kind }) => kind === 'error');
    expect(errors).toMatchObject(Array(6).fill({ error: { message: 'no longer needed' } }));
  });
});

function endless(changes: Partial<ImagePage>) {
  const client = {
    requests: 0,
    connections: 1,
    async listImages(_query: unknown, number: number): Promise<ImagePage> {
      client.requests += 1;
      const page = { number, total: 1e15, pages: 1e15, perPage: 1, hasNext: true, bytes: 500 };
      return { images: [{ id: number }], meta: {}, ...page, ...changes };
    },
  };
  return client;
}

async function count(client: ReturnType<typeof endless>, streams: boolean): Promise<number> {
  let images = 0;
  for await (const batch of listCatalogue(client, { ...QUERY, streams })) {
    images += batch.images.length;
  }
  return images;
}

it('a list of more than 10,000 pages ends after 10,000 requests', async () => {
  const client = endless({});
  const error = await failure(count(client, true));
  expect(error.message).toBe('the list is incomplete: it has more than 10000 pages');
  expect(client.requests).toBe(10_000);
});

it.each([
  [0, 12],
  [1, 12],
  [3, 16],
])('an endless list that announces %i pages ends after %i requests', async (pages, requests) => {
  const client = endless({ pages });
  const error = await failure(count(client, true));
  expect(error.message).toBe('the list is incomplete: its pages do not end');
  expect(client.requests).toBe(requests);
});

it('a list that is held in memory has at most 256 MiB', async () => {
  const page = { bytes: 4 * 2 ** 20, pages: 65, total: 65, hasNext: false };
  const error = await failure(count(endless(page), false));
  expect(error).toMatchObject({ code: 'bad-answer', message: 'the list is larger than 256 MiB' });
  expect(error.hint).toContain('-o ndjson');
  expect(await count(endless(page), true)).toBe(65);
  expect(await count(endless({ ...page, pages: 64, total: 64 }), false)).toBe(64);
});
