// Tests what a list of the service yields and requests: services that filter and sort by id or not, lists that change or
// miscount, limits, failures.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ImagePage, PageQuery } from '../../src/api/images.ts';
import type { Image, Pages } from '../../src/api/types.ts';
import { startListRun } from '../../src/catalogue/list-run.ts';
import { isEcho } from '../../src/catalogue/page.ts';
import { listCatalogue, type ReadOptions } from '../../src/catalogue/service-list.ts';
import { advice } from '../../src/facts.ts';
import { catalogueOf, cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { connect } from '../support/client.ts';
import { failure, hintOf } from '../support/errors.ts';
import {
  errorResponse,
  type Handler,
  type ScriptedRequest,
  STALL,
} from '../support/scripted-server.ts';
import { asked, down, list, type Options, queryOf, upTo } from './harness.ts';

const EVERYTHING = queryOf({});

it.each<[string, unknown, boolean]>([
  ['id,desc', 'id,desc', true],
  ['name,like,%a b%', 'name,like,%a+b%', true],
  ['name,like,%a b%', 'Name, LIKE, %25a%20b%25', true],
  ['name,like,%a b%', 'name,like,%zz a b%', false],
  ['id,desc', 'id,asc', false],
  ['id,desc', ['id,desc'], false],
])('a service that received %j and sends %j repeats it: %s', (sent, echo, expected) => {
  expect(isEcho(sent, echo)).toBe(expected);
});

/** Changes the query that a service gets. */
const receiving =
  (change: (query: URLSearchParams) => void, handler: Handler): Handler =>
  (request, index) => {
    const url = new URL(request.url);
    change(url.searchParams);
    return handler({ ...request, url }, index);
  };

/** Echoes filters, but applies none. */
const unfiltered =
  (images: (index: number) => readonly Image[], fields: Partial<Pages> = {}): Handler =>
  ({ url }, index) => {
    const all = new URL(url);
    all.searchParams.delete('filter');
    const page = cataloguePage(all, images(index), fields);
    const filter = url.searchParams.get('filter');
    return { json: { ...page, meta: { ...page.meta, ...(filter ? { filter } : {}) } } };
  };

/** Serves so many images, unfiltered, with wrong fields in meta.pages. */
const claiming = (count: number, fields: Partial<Pages> = {}) =>
  unfiltered(() => testImages(count), fields);

/** A reading by page number of a list that is not sorted. */
const UNSORTED = ['1 by undefined', '2 by undefined', '3 by undefined'];

/** Refuses filters of ids. */
const refusing =
  (status: number, handler: Handler): Handler =>
  (request, index) =>
    request.url.searchParams.get('filter')?.startsWith('id,lt')
      ? errorResponse(status, 'No such filter.')
      : handler(request, index);

describe('a list of the service', () => {
  it('requests pages by id, each below the last image of the one before', async () => {
    const { ids, end, requests } = await list(catalogueOf(testImages(7)));
    expect({ ids, total: end?.total }).toEqual({ ids: down(7), total: 7 });
    expect(requests).toEqual(['1', '1 id,lt,6', '1 id,lt,4', '1 id,lt,2']);
  });

  it('tells who watches which images come, and how many there are', async () => {
    const seen: unknown[] = [];
    const watch: ReadOptions['watch'] = (images, total, filter) =>
      seen.push([images.length, total, filter]);
    await list(catalogueOf(testImages(5)), { watch, query: { words: ['4'] } });
    expect(seen).toEqual([
      [2, 5, undefined],
      [2, 5, undefined],
      [1, 5, undefined],
    ]);
    const few = { watch, query: { filters: ['id=4'] } };
    await list(
      receiving((query) => query.delete('filter'), catalogueOf(testImages(1))),
      few,
    );
    expect(seen.at(-1)).toEqual([1, 1, 'id,eq,4']);
  });

  it.each<[string, Options, unknown[], number, number?]>([
    ['without a query', {}, down(20), 10, 20],
    ['with a limit of one page', { limit: 2 }, [20, 19], 1, 20],
    ['with a smaller limit', { limit: 1 }, [20], 1, 20],
    ['with a limit of some pages', { limit: 5, connections: 6 }, down(20, 16), 3, 20],
    ['that begins with the lowest id', { query: { sorts: ['id'] }, limit: 2 }, [1, 2], 2, 20],
    ['that is sorted', { query: { sorts: ['name'] }, limit: 3 }, [1, 2, 3], 10, 20],
    ['that is filtered here', { query: { filters: ['id!=20'] }, limit: 2 }, [19, 18], 2],
    ['that is read to its end', { query: { filters: ['id!=1'] } }, down(20, 2), 10, 19],
  ])('%s requests no more than it needs', async (_, options, ids, requests, total) => {
    for (const streams of [false, true]) {
      const result = await list(catalogueOf(testImages(20)), { ...options, streams });
      expect(result).toMatchObject({ ids, error: undefined });
      expect(result.end?.total).toBe(total);
      expect(result.requests.length).toBe(requests);
    }
  });

  const texts: Handler = ({ url }) => {
    const images = upTo(12).map((id) => ({ ...testImage(id), id: `${id}` as unknown as number }));
    const sorted = images.sort((one, other) => (one.name < other.name ? 1 : -1));
    const byText = sorted.sort((one, other) => (`${one.id}` < `${other.id}` ? 1 : -1));
    return { json: cataloguePage(withoutQuery(url), byText) };
  };
  const withoutIds: Handler = ({ url }) => ({
    json: {
      ...cataloguePage(url, testImages(3)),
      data: url.searchParams.get('page') === '1' ? [{ name: 'a' }, { name: 'b' }] : [{ name: 'c' }],
    },
  });
  const withoutQuery = (url: URL) => {
    const bare = new URL(url);
    for (const name of ['filter', 'sort']) bare.searchParams.delete(name);
    return bare;
  };
  const unsorted: Handler = (request, index) =>
    request.url.searchParams.has('sort')
      ? errorResponse(400, 'No sort.')
      : catalogueOf(testImages(5))(request, index);
  const silent: Handler = ({ url }) => ({ json: cataloguePage(withoutQuery(url), testImages(5)) });
  const losing: Handler = (request, index) => {
    const isLost = request.url.searchParams.get('filter') === 'id,lt,4';
    const images = testImages(7).filter(({ id }) => !isLost || id !== 3);
    return catalogueOf(images)(request, index);
  };
  const overlapping: Handler = (request, index) => {
    const page = Number(request.url.searchParams.get('page'));
    const { json } = claiming(4, { pages: 3 })(request, index) as { json: object };
    return { json: { ...json, data: testImages(2, page) } };
  };

  const endingIn404: Handler = (request, index) =>
    Number(request.url.searchParams.get('page')) > 3
      ? errorResponse(404, 'No page.')
      : claiming(6, { pages: 5 })(request, index);
  it.each<[string, Handler, unknown[]]>([
    ['ignores filters', claiming(7), down(7)],
    ['refuses filters of ids', refusing(400, catalogueOf(testImages(7))), down(7)],
    ['has a firewall against filters', refusing(403, catalogueOf(testImages(7))), down(7)],
    ['fails with a filter', refusing(500, catalogueOf(testImages(7))), down(7)],
    ['knows neither filters nor sorts', silent, down(5)],
    ['refuses to sort', unsorted, down(5)],
    ['sorts ids as texts', texts, down(12).map(String)],
    ['has no ids', withoutIds, [undefined, undefined, undefined]],
    ['repeats images on pages', overlapping, down(4)],
    ['announces too few images', claiming(6, { total: 3 }), down(6)],
    ['announces too few pages', claiming(6, { pages: 1 }), down(6)],
    ['announces one page of many', claiming(60, { pages: 1 }), down(60)],
    ['announces one page of many by id', catalogueOf(testImages(40), { pages: 1 }), down(40)],
    ['announces a few images by id', catalogueOf(testImages(40), { total: 4 }), down(40)],
    ['announces the images of one page', claiming(6, { total: 2, next_url: null }), down(6)],
    ['loses an image with a filter', losing, down(7)],
    ['announces too many pages', claiming(6, { pages: 5 }), down(6)],
    ['has no page after the end', endingIn404, down(6)],
    ['announces nothing', claiming(6, { pages: 0, total: 0 }), down(6)],
    [
      'announces only a part of a page',
      claiming(6, { pages: 1, total: 1, next_url: null }),
      down(6),
    ],
    ['announces two pages of three', claiming(6, { pages: 2, total: 3, next_url: null }), down(6)],
    ['sends larger pages', claiming(9, { per_page: 3 }), down(9)],
  ])('is complete if the service %s', async (_, handler, ids) => {
    for (const streams of [false, true]) {
      const result = await list(handler, { streams });
      expect(result).toMatchObject({ error: undefined, ids });
    }
    const limited = await list(handler, { limit: 3 });
    expect(limited.ids).toEqual(ids.slice(0, 3));
    expect(limited.end?.total ?? Number.POSITIVE_INFINITY).not.toBeLessThan(limited.ids.length);
  });

  it('streams no higher id after lower ones if ids cannot be filtered and an image is added', async () => {
    const growing = refusing(400, (request, index) =>
      catalogueOf(testImages(index === 0 ? 7 : 8))(request, index),
    );
    expect((await list(growing, { streams: true })).ids).toEqual(down(7));
  });

  /** Serves 12 images unless it is said, and compares ids as texts: 9 is not below 11. */
  const asTexts =
    (changes: readonly (readonly number[])[] = []): Handler =>
    ({ url }, index) => {
      const [, operator, bound = ''] = url.searchParams.get('filter')?.split(',') ?? [];
      const images = (changes[index] ?? changes.at(-1) ?? upTo(12)).map(testImage);
      const found = images.filter(
        ({ id }) => operator === undefined || `${id}` < bound === (operator === 'lt'),
      );
      const all = new URL(url);
      all.searchParams.delete('filter');
      return { json: cataloguePage(all, found) };
    };

  it.each([undefined, 3, 5, 9])(
    'is complete with the limit %s if the service compares ids as texts',
    async (limit) => {
      const { ids, traces } = await list(asTexts(), { limit, streams: true });
      expect(ids).toEqual(down(12).slice(0, limit));
      const fault = 'the service sent fewer than the 12 images that it announced';
      expect(traces).toEqual([`${fault}, so the list is read by page number`]);
    },
  );

  it('is complete if the service compares ids as texts and counts all images with a filter', async () => {
    const counting: Handler = async (request, index) => {
      const response = await asTexts()(request, index);
      const { data, meta } = response.json as ReturnType<typeof cataloguePage>;
      return { json: { data, meta: { ...meta, pages: { ...meta.pages, total: 12 } } } };
    };
    expect((await list(counting)).ids).toEqual(down(12));
  });

  it('is complete if the service compares ids as texts, refuses to say so, and adds an image', async () => {
    const refusingHigh: Handler = (request, index) =>
      request.url.searchParams.get('filter') === 'id,lt,100'
        ? errorResponse(400, 'No such id.')
        : asTexts([upTo(12), upTo(12), upTo(13)])(request, index);
    expect((await list(refusingHigh, { streams: true })).ids).toEqual(down(12));
  });

  it('fails if the service compares ids as texts and replaces an image meanwhile', async () => {
    const changes = upTo(40).map((index) => upTo(12 + index, 2 + (index >> 1)));
    const { error } = await list(asTexts(changes));
    expect(error).toMatchObject({ code: 'incomplete-list' });
  });

  it('is complete if an image has no id, and another one is added meanwhile', async () => {
    const unnumbered = { ...testImage(0), id: null as unknown as number };
    const growing: Handler = ({ url }, index) => {
      const numbered = testImages(index === 0 ? 6 : 7);
      const filter = url.searchParams.get('filter');
      return { json: cataloguePage(url, filter ? numbered : [...numbered, unnumbered]) };
    };
    const { ids, error } = await list(growing);
    expect({ ids, error }).toEqual({ ids: [...down(7), null], error: undefined });
  });

  it('fails if images have no id, and the service ignores the page number', async () => {
    const { error } = await list(receiving((query) => query.set('page', '1'), withoutIds));
    expect(error?.message).toBe('the service sent an image without an id twice');
  });

  it('is complete if ids in clusters cannot be filtered at their end', async () => {
    const ids = [...upTo(90).map((id) => Math.floor(id / 7) * 1000 + id), null];
    const images = ids.map((id) => ({ ...testImage(id ?? 0), id: id as number }));
    const result = await list(catalogueOf(images), { connections: 6 });
    expect(result).toMatchObject({
      error: undefined,
      ids: ids.toSorted((a, b) => Number(b) - Number(a)),
    });
  });

  it('is complete if each sort is answered with 502', async () => {
    const failing: Handler = ({ url }) =>
      url.searchParams.has('sort')
        ? errorResponse(502, 'No sort.')
        : { json: cataloguePage(url, testImages(5)) };
    const { client } = await connect(failing, { retries: 0 });
    const pages = listCatalogue(startListRun(client, { perPage: 2 }), EVERYTHING, {});
    expect((await pages.next()).value).toHaveLength(5);
  });

  it('asks whether the service compares ids as numbers if images disappear, once', async () => {
    const all = upTo(20);
    const vanishing: Handler = (request, index) =>
      catalogueOf(all.slice(Math.min(index, 2)).map(testImage))(request, index);
    const { ids, error, requests } = await list(vanishing, { streams: true });
    expect({ ids, error }).toEqual({ ids: down(20, 3), error: undefined });
    expect(requests.filter((request) => request.endsWith('top'))).toEqual([
      '1 top',
      '1 id,lt,100 top',
    ]);
  });

  it('goes on by id if an image disappears while one with a longer id comes', async () => {
    const before = upTo(999, 980);
    const after = [...upTo(999, 982), 1000];
    const changing: Handler = (request, index) =>
      catalogueOf((index === 0 ? before : after).map(testImage))(request, index);
    const { ids, requests } = await list(changing, { streams: true });
    expect(ids).toEqual(down(999, 982));
    expect(requests).toContain('1 id,lt,10000 top');
    expect(requests).not.toContain('2');
  });

  it('remembers in a run what the service refuses, and says so for --debug', async () => {
    const { client, server } = await connect(unsorted);
    const traces: string[] = [];
    const run = startListRun(client, { perPage: 2, trace: (text) => traces.push(text) });
    for (let count = 0; count < 2; count += 1) {
      for await (const _ of listCatalogue(run, EVERYTHING, {}));
    }
    const sorted = server.requests.filter(({ url }) => url.searchParams.has('sort'));
    expect(sorted).toHaveLength(1);
    expect(traces[0]).toMatch(/^the service refused id,desc: .*No sort/);
  });

  it.each([
    ['all again in a run after an outage', 502, ['1 name,eq,a', '1', '1 id,lt,4', '1 id,lt,2']],
    ['nothing again that was refused', 404, ['1 by undefined', ...UNSORTED, ...UNSORTED]],
  ])('requests %s', async (_, status, again) => {
    const failing: Handler = (request, index) =>
      index < 3 ? errorResponse(status, 'No.') : catalogueOf(testImages(5))(request, index);
    const { client, server } = await connect(failing, { retries: 0 });
    const run = startListRun({ ...client, connections: 1 }, { perPage: 2 });
    const query = queryOf({ filters: ['name=a'] });
    const read = () => listCatalogue(run, query, {}).next();
    await expect(read()).rejects.toMatchObject({ status });
    await read();
    const first = ['1 name,eq,a', '1', '1 by undefined'];
    expect(server.requests.map(asked)).toEqual([...first, ...again]);
  });

  it('fails with its own refusal after another list of the run failed', async () => {
    const { client } = await connect((_, index) => errorResponse(503, index < 3 ? 'A' : 'B'), {
      retries: 0,
    });
    const run = startListRun(client);
    const read = () => listCatalogue(run, queryOf({ filters: ['name=a'] }), {}).next();
    await expect(read()).rejects.toThrow('A');
    await expect(read()).rejects.toThrow('B');
  });

  it.each([
    [401, 'token-refused'],
    [408, 'failed'],
  ])('fails if filters are answered with %i', async (status, code) => {
    const { error } = await list(refusing(status, catalogueOf(testImages(5))));
    expect(error).toMatchObject({ code });
  });

  it.each([
    [403, [1, 5, 1]],
    [502, [5, 1, 1]],
  ])(
    'shows the refusal %i of a filter if the rest fails too, of which one request is retried',
    async (status, counts) => {
      const failing: Handler = ({ url }) =>
        url.searchParams.has('filter') ? errorResponse(status, 'No.') : errorResponse(503, 'Down.');
      const { error, requests } = await list(failing, { query: { filters: ['name=a'] } });
      expect(error?.status).toBe(status);
      const sent = ['1 name,eq,a', '1', '1 by undefined'];
      expect(requests).toEqual(sent.flatMap((text, at) => Array(counts[at]).fill(text)));
    },
  );

  it.each([
    ['3', 401, 'token-refused'],
    ['1', 404, 'failed'],
  ])('shows what ends a list by page number: page %s, %i', async (number, status, code) => {
    const handler = refusing(400, catalogueOf(testImages(9)));
    const ending: Handler = (request, index) => {
      const { page, filter, per_page } = Object.fromEntries(request.url.searchParams);
      const isAsked = page === number && filter === undefined && per_page !== '1';
      return index > 0 && isAsked
        ? errorResponse(status, 'Valid token, but has expired.')
        : handler(request, index);
    };
    const { error } = await list(ending);
    expect(error).toMatchObject({ code });
  });

  it('takes an error of a filter that was answered before for what it is', async () => {
    const later: Handler = (request, index) =>
      index < 3 ? catalogueOf(testImages(20))(request, index) : errorResponse(403, 'No more.');
    const { error, ids } = await list(later, { streams: true });
    expect(error?.message).toBe('the service says: No more');
    expect(ids).toEqual(down(20, 15));
  });

  const repeating: Handler = receiving((query) => query.set('page', '1'), claiming(6));
  const replacing = unfiltered((index) => testImages(6, 1 + index));
  const shrinking = unfiltered((index) => [...testImages(30 - index), testImage(99)], { total: 3 });

  const DIFFERENT = 'each reading returned different images';
  const count = (announced: number, sent: number) =>
    `the service announced ${announced} images but sent ${sent}`;

  it.each([
    ['sends the same page for every number', repeating, count(6, 2)],
    ['announces too many images', claiming(6, { total: 9 }), count(9, 6)],
    ['sends an image twice', unfiltered(() => [1, 1].map(testImage)), count(2, 1)],
    ['sends none of those that it announces', claiming(0, { total: 9 }), count(9, 0)],
    ['replaces an image at every request', replacing, 'it changed while it was read'],
    ['always announces 3, and removes an image at every request', shrinking, DIFFERENT],
  ])('fails after three readings if a service without filters %s', async (_, handler, fault) => {
    const { error, requests } = await list(handler);
    expect(error).toMatchObject({
      ...{ code: 'incomplete-list', exitCode: 1, message: `the list is incomplete: ${fault}` },
      facts: advice('the list may be changing; run the command again'),
    });
    expect(requests.filter((request) => request === '1').length).toBe(4);
  });

  it('fails after three readings of ids that are texts if each has other images', async () => {
    const growing: Handler = ({ url }, index) => {
      const images = upTo(5).map((id) => ({
        ...testImage(id),
        // Five requests for each reading, and always the same first image.
        id: `a${id}-${id === 5 ? 0 : Math.floor((index - 1) / 5)}` as never,
      }));
      return { json: cataloguePage(url, images) };
    };
    const { error } = await list(growing);
    expect(error?.message).toBe('the list is incomplete: each reading returned different images');
  });

  it('yields every unchanged image of a service without filters once, or fails', async () => {
    const change = fc.array(fc.nat(19), { maxLength: 3 });
    const all = upTo(19, 0);
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.boolean(),
        fc.boolean(),
        async (changes, grows, streams) => {
          // Images added or removed by the number of requests so far.
          const changed = (index: number) => new Set(changes.slice(0, index + 1).flat());
          const touched = changed(changes.length);
          const present = (index: number) =>
            all.filter((id) => !touched.has(id) || changed(index).has(id) === grows).map(testImage);
          const { client, server, ids, error } = await list(unfiltered(present), { streams });
          await client.close();
          await server.close();
          if (error?.code === 'incomplete-list') return;
          expect(ids).toEqual(expect.arrayContaining(all.filter((id) => !touched.has(id))));
          expect(new Set(ids).size).toBe(ids.length);
          expect(server.requests.length).toBeLessThanOrEqual(3 * 10 + 10);
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('a list with six requests at a time', () => {
  const SIX = { connections: 6, streams: true };
  const isFirst = ({ url }: ScriptedRequest) => !url.searchParams.has('filter');

  it('throws the error of the first failing page', async () => {
    const failing: Handler = (request, index) =>
      isFirst(request)
        ? catalogueOf(testImages(40))(request, index)
        : { status: 429, headers: { 'retry-after': '100' } };
    const { error, ids } = await list(failing, SIX);
    expect(error).toMatchObject({ status: 429 });
    expect(ids).toEqual([40, 39]);
  });

  it.each<[string, Parameters<typeof queryOf>[0], number?]>([
    ['its requests', {}],
    ['as many with a limit and a filter', { filters: ['id!=40'] }, 3],
  ])('aborts %s if the caller leaves the loop', async (_what, query, limit) => {
    const { client, events } = await connect((request, index) =>
      isFirst(request) ? catalogueOf(testImages(40))(request, index) : STALL,
    );
    const options = { streams: true, limit };
    for await (const _ of listCatalogue(
      startListRun(client, { perPage: 2 }),
      queryOf(query),
      options,
    ))
      break;
    await client.close();
    const errors = events.filter(({ kind }) => kind === 'error');
    expect(errors).toMatchObject(Array(6).fill({ error: { message: 'no longer needed' } }));
  });

  it('aborts its requests by id before it reads by page number', async () => {
    const images = testImages(40);
    const refusing: Handler = (request, index) => {
      if (isFirst(request)) return catalogueOf(images)(request, index);
      const isNext = request.url.searchParams.get('filter') === 'id,lt,39';
      return isNext ? errorResponse(400, 'No filters.') : STALL;
    };
    const { events, ids } = await list(refusing, SIX);
    expect(ids).toEqual(down(40));
    const kinds = events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'error')).toHaveLength(5);
    expect(kinds.lastIndexOf('error')).toBeLessThan(8);
  });
});

/** A service without filters whose pages have one image each. */
function endless(changes: Partial<ImagePage>) {
  const client = {
    requests: 0,
    connections: 1,
    async listImages(_query: unknown, number: number): Promise<ImagePage> {
      client.requests += 1;
      const page = { number, total: 1e15, pages: 1e15, hasNext: true, bytes: 500 };
      return { images: [{ id: -number }], meta: {}, ...page, ...changes };
    },
  };
  return client;
}

async function count(client: ReturnType<typeof endless>, query = EVERYTHING): Promise<number> {
  let images = 0;
  const pages = listCatalogue(startListRun(client, { perPage: 1 }), query, {});
  for await (const page of pages) images += page.length;
  return images;
}

it.each([
  [0, 14],
  [1, 14],
  [3, 20],
  [1e15, 30_011],
])('an endless list that announces %i pages ends after %i requests', async (pages, requests) => {
  const client = endless({ pages, total: pages });
  const error = await failure(count(client));
  expect(error.message).toBe('the list is incomplete: its pages do not end');
  expect(hintOf(error)).toBe('the list may be changing; run the command again');
  expect(client.requests).toBe(requests);
});

it('a list that is held in memory has at most 256 MiB', async () => {
  const page = { bytes: 4 * 2 ** 20, pages: 65, total: 65, hasNext: false };
  const error = await failure(count(endless(page)));
  expect(error).toMatchObject({ code: 'bad-answer', message: 'the list is larger than 256 MiB' });
  expect(hintOf(error)).toContain('-o ndjson');
  expect(await count(endless({ ...page, pages: 64, total: 64 }))).toBe(64);
});

it('a list that is read by id and held in memory has at most 256 MiB of pages that match', async () => {
  const of = (total: number) => ({
    ...endless({}),
    async listImages({ filter = `id,lt,${total + 1}`, sort }: PageQuery): Promise<ImagePage> {
      const id = Number(filter.split(',')[2]) - 1;
      const page = { number: 1, total: id, pages: id / 2, hasNext: id > 2 };
      const images = [{ id }, { id: id - 1, folder: 'a' }];
      return { images, meta: { sort: sort ?? '' }, bytes: 8 * 2 ** 20, ...page };
    },
  });
  for (const filters of [[], ['folder!=a']]) {
    const error = await failure(count(of(66), queryOf({ filters })));
    expect(error.message).toBe('the list is larger than 256 MiB');
  }
  expect(await count(of(64))).toBe(64);
  expect(await count(of(128), queryOf({ filters: ['id>64'] }))).toBe(64);
});
