// Listing all pages: order, limits, lists that change while they are read, and the exact requests.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planQuery } from '../../src/query/plan.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { collect, pageOf, pagesOf, serving, upTo } from './harness.ts';

describe('a list that stays as it is', () => {
  it('requests each page once, with the whole query', async () => {
    const { client, server } = await start(serving(() => testImages(5)));
    const progress: string[] = [];
    const sorts = ['updated_on,asc'];
    const filters = ['name,like,%ima%'];
    const plan = planQuery({ filters, sorts, words: [] }, { now: 0 });
    const observer = { progress: (text: string) => progress.push(text) };
    const { ids, batches } = await collect(client, { plan, streams: true }, observer);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
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

  it('keeps the order with six requests at a time', async () => {
    const { client, server } = await start(serving(() => testImages(39)));
    expect((await collect(client, { concurrency: 6 })).ids).toEqual(upTo(39));
    expect(pagesOf(server).sort((a, b) => a - b)).toEqual(upTo(20));
  });

  it('tells apart image URLs where they are not expanded', async () => {
    const { client, server } = await start(serving(() => testImages(3)));
    const { ids } = await collect(client, { urls: true });
    expect(ids).toEqual([1, 2, 3].map((id) => `${server.baseUrl}/v2/image/${id}`));
    expect(server.requests[0]?.target).toBe('/v2/image?per_page=2&page=1&sort=id%2Casc');
  });

  it('asks once for a list without images', async () => {
    const { client, server } = await start(serving(() => []));
    expect((await collect(client)).ids).toEqual([]);
    expect(pagesOf(server)).toEqual([1]);
  });

  it('keeps images without an id, which cannot be told apart', async () => {
    const { client } = await start(({ url }) => ({
      json: { ...cataloguePage(url, testImages(3)), data: [{ name: 'a' }, { name: 'a' }] },
    }));
    expect((await collect(client)).ids).toHaveLength(4);
  });

  it('believes the page size of the answer, not the one it asked for', async () => {
    const { client, server } = await start(
      serving(
        () => testImages(5),
        () => ({ per_page: 2 }),
      ),
    );
    expect((await collect(client, { perPage: 100 })).ids).toEqual(upTo(5));
    expect(pagesOf(server)).toEqual([1, 2, 3]);
  });
});

describe('a limit', () => {
  it.each([
    [1, 1, [1]],
    [2, 2, [1]],
    [3, 3, [1, 2]],
    [5, 5, [1, 2, 3]],
    [20, 20, upTo(10)],
    [99, 20, upTo(10)],
  ])('of %i gives %i images and asks for no page more', async (limit, count, pages) => {
    const { client, server } = await start(serving(() => testImages(20)));
    expect((await collect(client, { concurrency: 6, limit })).ids).toEqual(upTo(count));
    expect(pagesOf(server).sort((a, b) => a - b)).toEqual(pages);
  });

  it('is filled up from further pages where elements came twice', async () => {
    const { client, server } = await start(
      serving((index) => (index === 0 ? testImages(8, 2) : testImages(9))),
    );
    expect((await collect(client, { concurrency: 1, limit: 4 })).ids).toEqual([2, 3, 4, 5]);
    expect(pagesOf(server)).toEqual([1, 2, 3]);
  });

  it('is not filled past a gap', async () => {
    const { client, server } = await start(
      serving((index) => (index === 0 ? testImages(8) : testImages(7, 2))),
    );
    expect((await collect(client, { concurrency: 1, limit: 4 })).ids).toEqual([2, 3, 4, 5]);
    expect(pagesOf(server)).toEqual([1, 2, 1, 2]);
  });
});

describe('a list that changes while it is read', () => {
  it('reads on where it grew at its end', async () => {
    const { client, server } = await start(serving((index) => testImages(index < 1 ? 5 : 7)));
    expect((await collect(client)).ids).toEqual(upTo(7));
    expect(pagesOf(server)).toEqual([1, 2, 3, 4]);
  });

  it('reads anew where it grew at its front, since the new first one is missing', async () => {
    const { client, server } = await start(
      serving((index) => (index < 1 ? testImages(4, 2) : testImages(5))),
    );
    const { ids } = await collect(client);
    expect(ids).toEqual(upTo(5));
    expect(pagesOf(server)).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it('drops what overlapping pages send twice', async () => {
    const { client, server } = await start((request) => ({
      json: {
        ...cataloguePage(request.url, testImages(4), { pages: 3 }),
        data: testImages(2, pageOf(request)),
      },
    }));
    expect((await collect(client)).ids).toEqual(upTo(4));
    expect(pagesOf(server)).toEqual([1, 2, 3]);
  });

  it('reads anew what shrank, at once', async () => {
    const { client, server } = await start(
      serving((index) => (index < 1 ? testImages(6) : testImages(5, 2))),
    );
    const { ids } = await collect(client);
    expect(ids).toEqual([2, 3, 4, 5, 6]);
    expect(pagesOf(server)).toEqual([1, 2, 1, 2, 3]);
  });

  it('gives up where it keeps shrinking', async () => {
    const { client, server } = await start(serving((index) => testImages(20 - index)));
    const error = await failure(collect(client));
    expect(error.code).toBe('incomplete-list');
    expect(error.message).toContain('became shorter');
    expect(pagesOf(server)).toEqual([1, 2, 1, 2, 1, 2]);
  });
});

it('holds every image that was there all the time, or fails, however the list grows or shrinks', async () => {
  const change = fc.array(fc.nat(19), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 4 }),
      async (changes, grows, concurrency) => {
        // The changed images by the number of requests so far: new ones, or gone ones.
        const changed = (index: number) => new Set(changes.slice(0, index + 1).flat());
        const all = upTo(20, 0);
        const touched = changed(changes.length);
        const { client, server } = await start(
          serving((index) =>
            all
              .filter((id) => (touched.has(id) ? changed(index).has(id) === grows : true))
              .map(testImage),
          ),
        );
        const outcome = await collect(client, { concurrency }).catch((error) => error.code);
        if (outcome === 'incomplete-list') return;
        expect(outcome.ids).toEqual(expect.arrayContaining(all.filter((id) => !touched.has(id))));
        expect(new Set(outcome.ids).size).toBe(outcome.ids.length);
        expect(pagesOf(server).length).toBeLessThanOrEqual(2 * 10 + 10);
        await client.close();
        await server.close();
      },
    ),
    { numRuns: 60 },
  );
});
