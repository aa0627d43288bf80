// Tests what a catalogue listing yields and requests, also if the list changes or miscounts itself.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import type { CatalogueQuery } from '../../src/catalogue/listing.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import type { Handler } from '../support/scripted-server.ts';
import { list, pageOf, pagesOf, planOf, serving, upTo } from './harness.ts';

/** Serves `before` to the first request and `after` to all others. */
const changing = (before: readonly Image[], after: readonly Image[]) =>
  serving((index) => (index === 0 ? before : after));

/** Serves the images with wrong fields in meta.pages. */
const miscounting = (count: number, ...[changes]: [Parameters<typeof serving>[1]]) =>
  serving(() => testImages(count), changes);

const overlapping: Handler = (request) => ({
  json: {
    ...cataloguePage(request.url, testImages(4), { pages: 3 }),
    data: testImages(2, pageOf(request)),
  },
});
const withoutIds: Handler = ({ url }) => ({
  json: { ...cataloguePage(url, testImages(3)), data: [{ name: 'a' }, { name: 'a' }] },
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
    const sorts = ['updated_on,asc'];
    const filters = ['name,like,%ima%'];
    const { ids, batches, server } = await list(
      serving(() => testImages(5)),
      { plan: planOf({ filters, sorts }), streams: true },
      { observer: { progress: (text) => progress.push(text) } },
    );
    expect(ids).toEqual(upTo(5));
    const rest = '&expand=1&filter=name%2Clike%2C%25ima%25&sort=updated_on%2Casc';
    expect(server.requests.map(({ method, target }) => `${method} ${target}`)).toEqual(
      [1, 2, 3].map((page) => `GET /v2/image?per_page=2&page=${page}${rest}`),
    );
    expect(progress).toEqual([
      'page 1 of 3, 2 images',
      'page 2 of 3, 4 images',
      'page 3 of 3, 5 images',
    ]);
    expect(batches.at(-1)?.meta).toMatchObject({ filter: filters[0], sort: sorts[0], count: 1 });
  });

  const SHRINKING = changing(testImages(6), testImages(5, 2));

  it.each<[string, Handler, Partial<CatalogueQuery>, unknown[], number[]]>([
    ['requests an empty list once', serving(() => []), {}, [], [1]],
    ['yields all images without an id', withoutIds, {}, Array(4).fill(undefined), [1, 2]],
    [
      'uses the page size of the response',
      miscounting(5, () => ({ per_page: 2 })),
      { perPage: 100 },
      upTo(5),
      upTo(3),
    ],
    ['drops images that pages repeat', overlapping, {}, upTo(4), upTo(3)],
    ['reads on after an empty page', withEmptyPage, {}, [1, 2, 5, 6], upTo(3)],
    [
      'stops at an empty page although it has a next page',
      miscounting(4, (page) => ({ next_url: `/v2/image?page=${page + 1}` })),
      {},
      upTo(4),
      upTo(3),
    ],
    [
      'reads the further pages of a list that grew at its end',
      changing(testImages(5), testImages(7)),
      {},
      upTo(7),
      upTo(4),
    ],
    [
      'reads a list again that grew at its front',
      changing(testImages(4, 2), testImages(5)),
      {},
      upTo(5),
      [...upTo(3), ...upTo(3)],
    ],
    ['reads a list again at once if it shrank', SHRINKING, {}, upTo(6, 2), [1, 2, ...upTo(3)]],
    [
      'streams no image twice if it reads a list again',
      SHRINKING,
      { streams: true },
      upTo(6),
      [1, 2, ...upTo(3)],
    ],
    [
      'reads on to its limit if pages repeat images',
      changing(testImages(8, 2), testImages(9)),
      { limit: 4 },
      upTo(5, 2),
      upTo(3),
    ],
    [
      'reads a list again that shrank before the limit was reached',
      changing(testImages(8), testImages(7, 2)),
      { limit: 4 },
      upTo(5, 2),
      [1, 2, 1, 2],
    ],
    [
      'ignores a total that is too small',
      miscounting(6, () => ({ total: 3 })),
      {},
      upTo(6),
      upTo(3),
    ],
    ['ignores pages that are too few', miscounting(6, () => ({ pages: 1 })), {}, upTo(6), upTo(3)],
    ['ignores pages that are too many', miscounting(6, () => ({ pages: 5 })), {}, upTo(6), upTo(5)],
    [
      'ignores zeros for pages and total',
      miscounting(6, () => ({ pages: 0, total: 0 })),
      {},
      upTo(6),
      upTo(3),
    ],
  ])('%s', async (_, handler, query, ids, pages) => {
    const result = await list(handler, query);
    expect([result.error, result.ids, result.pages]).toEqual([undefined, ids, pages]);
  });

  it.each<[string, Handler, RegExp, number[]]>([
    ['if every page is the same', repeating, /announced 6 images but sent 2/, upTo(3)],
    ['if the list keeps shrinking', serving((index) => testImages(20 - index)), /shorter/, [1, 2]],
    ['if the total is too large', miscounting(6, () => ({ total: 9 })), /9 .* but sent 6/, upTo(3)],
    [
      'if a list with a total is empty',
      miscounting(0, () => ({ total: 9 })),
      /9 images but sent 0/,
      [1],
    ],
  ])('fails after reading a list three times %s', async (_, handler, message, pages) => {
    const result = await list(handler);
    expect(result.error).toMatchObject({ code: 'incomplete-list', exitCode: 1 });
    expect(result.error?.message).toMatch(message);
    expect(result.pages).toEqual([...pages, ...pages, ...pages]);
  });

  it.each([
    ['the total stays the same', () => 4],
    ['the total grows', (page: number) => 2 * page + 2],
  ])('fails after twice the announced pages and 10 if pages never end and %s', async (_, total) => {
    const endless = miscounting(2_000, (page) => ({
      pages: Math.max(2, page),
      total: total(page),
    }));
    const { error, pages } = await list(endless);
    expect(error).toMatchObject({ code: 'incomplete-list', exitCode: 1 });
    expect(pages).toEqual(upTo(2 * 2 + 10));
  });

  it.each([
    [6, undefined, 1],
    [9e15, 'incomplete-list', 3],
  ])('stops soon after 1e15 announced pages and a total of %d', async (total, code, readings) => {
    const { ids, error, pages } = await list(miscounting(6, () => ({ pages: 1e15, total })));
    expect([error?.code, ids]).toEqual([code, code ? [] : upTo(6)]);
    // Eleven idle pages end a reading; one more request may be in progress by then.
    expect(pages.slice(0, 14)).toEqual(upTo(14));
    expect(pages.length).toBeLessThanOrEqual(readings * 15);
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
      async (changes, grows, concurrency) => {
        // Images added or removed by the number of requests so far.
        const changed = (index: number) => new Set(changes.slice(0, index + 1).flat());
        const touched = changed(changes.length);
        const present = (index: number) =>
          all.filter((id) => !touched.has(id) || changed(index).has(id) === grows).map(testImage);
        const { client, server, ids, error } = await list(serving(present), { concurrency });
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
