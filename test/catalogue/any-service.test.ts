// A list is complete whatever ids a service has, and however it compares them in filters and sorts.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ImagePage, type PageQuery, RefusedRequestError } from '../../src/api/images.ts';
import type { ReceivedImage } from '../../src/api/types.ts';
import { startListRun } from '../../src/catalogue/list-run.ts';
import { listCatalogue } from '../../src/catalogue/service-list.ts';
import { down, queryOf, upTo } from './harness.ts';

type Compared = 'as numbers' | 'as texts' | 'ignored' | 'refused';

const COMPARED = ['as numbers', 'as texts', 'ignored', 'refused'] as const;

function isBelow(id: number, bound: number, compared: Compared): boolean {
  return compared === 'as texts' ? `${id}` < `${bound}` : id < bound;
}

function refuse(): never {
  throw new RefusedRequestError('failed', 'refused', { status: 400 });
}

const nameOf = (id: number) => (id >= 900 && id < 1000 ? 'b' : 'a');

/** Says that it sorts unless it refuses to. */
function serving(ids: readonly number[], filters: Compared, sorts: Compared) {
  const select = (filter: string | undefined) => {
    const [field, operator, bound = ''] = filter?.split(',') ?? [];
    if (operator === undefined || filters === 'ignored') return ids;
    if (field === 'name') return ids.filter((id) => nameOf(id) === bound);
    if (filters === 'refused') return refuse();
    // Above 99 is from 100.
    const limit = Number(bound) + (operator === 'gt' || operator === 'le' ? 1 : 0);
    return ids.filter((id) => isBelow(id, limit, filters) === /^l/.test(operator));
  };
  const order = (found: readonly number[], sort: string | undefined) => {
    if (sort === undefined || sorts === 'ignored') return found;
    if (sorts === 'refused') return refuse();
    const sorted = found.toSorted((one, other) => (isBelow(one, other, sorts) ? 1 : -1));
    return sort.endsWith('asc') ? sorted.reverse() : sorted;
  };
  const listImages = async (query: PageQuery, number: number): Promise<ImagePage> => {
    const { filter, sort, perPage } = query;
    const all = order(select(filter), sort);
    const shown = all.slice((number - 1) * perPage, number * perPage);
    const images = shown.map((id) => ({ id, name: nameOf(id) }));
    const pages = Math.ceil(all.length / perPage);
    const hasNext = number < pages;
    const meta = sort === undefined ? {} : { sort };
    return { images, meta, number, total: all.length, pages, hasNext, bytes: 1 };
  };
  return { connections: 3, listImages };
}

// Around powers of ten, order and length of texts change.
const anyIds = fc.uniqueArray(
  fc.oneof(
    fc.nat(120),
    fc.integer({ min: 990, max: 1010 }),
    fc.nat(7).map((exponent) => 10 ** exponent),
  ),
  { minLength: 1, maxLength: 60 },
);
const idsInTurn = fc
  .record({
    first: fc.oneof(...[1, 10, 100].map((size) => fc.integer({ min: 70 * size, max: 101 * size }))),
    count: fc.integer({ min: 1, max: 25 }),
    gap: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ first, count, gap }) => upTo(count).map((number) => first + number * gap));
const pageOf = (min: number) => fc.integer({ min, max: 10 });
const lists = fc.oneof(
  fc.record({ ids: anyIds, perPage: pageOf(1), limit: fc.constant(undefined) }),
  // The first page of a service that ignores sorts must be seen not to be sorted.
  fc.record({ ids: idsInTurn, perPage: pageOf(2), limit: fc.integer({ min: 1, max: 25 }) }),
);

it('a list has each image once, and with a limit the first of them', async () => {
  await fc.assert(
    fc.asyncProperty(
      lists,
      fc.constantFrom(...COMPARED),
      fc.constantFrom(...COMPARED),
      fc.boolean(),
      fc.constantFrom([], ['id<1000'], ['id>=100']),
      fc.constantFrom([], ['id']),
      async ({ ids, perPage, limit }, compared, sorted, streams, filters, sorts) => {
        const run = startListRun(serving(ids, compared, sorted), { perPage });
        const query = queryOf({ filters, sorts });
        const found: ReceivedImage[] = [];
        for await (const images of listCatalogue(run, query, { limit, streams })) {
          found.push(...images);
        }
        const images = ids.map((id) => ({ id, name: nameOf(id) }));
        const matching = images.filter((image) => query.matches(image));
        // To stream all images, the service is not asked how it sorts ids.
        const isYieldedUnsorted = streams && sorted !== 'as numbers' && limit === undefined;
        expect(isYieldedUnsorted ? query.sort(found) : found).toEqual(
          query.sort(matching).slice(0, limit),
        );
      },
    ),
    { numRuns: 400 },
  );
});

it.each<[string, Parameters<typeof queryOf>[0], number[], number[]]>([
  ['-n 5 of 1 to 1100', {}, upTo(1100), down(1100, 1096)],
  ['-n 5 of 900 to 1150', {}, upTo(1150, 900), down(1150, 1146)],
  ['-n 5 without 900 to 999', {}, [...upTo(899, 700), ...upTo(2000, 1000)], down(2000, 1996)],
  ['-n 150 of 900 to 1150', {}, upTo(1150, 900), down(1150, 1001)],
  ['-f name=a -n 5', { filters: ['name=a'] }, upTo(1150, 700), down(1150, 1146)],
  ['-s id -n 5 of 990 to 1200', { sorts: ['id'] }, upTo(1200, 990), upTo(994, 990)],
])('a list %s is right if the service sorts ids as texts', async (_, typed, ids, found) => {
  for (const filters of COMPARED) {
    const run = startListRun(serving(ids, filters, 'as texts'));
    const list = listCatalogue(run, queryOf(typed), { limit: found.length });
    const { value } = await list.next();
    expect(value).toMatchObject(found.map((id) => ({ id })));
  }
});

it('a list -n 5 without 900 to 999 is right if the service sends ids as texts, and sorts them so', async () => {
  const serve = serving([...upTo(899, 700), ...upTo(1150, 1000)], 'as texts', 'as texts');
  const listImages: typeof serve.listImages = async (query, number) => {
    const page = await serve.listImages(query, number);
    return { ...page, images: page.images.map((image) => ({ ...image, id: `${image.id}` })) };
  };
  const list = listCatalogue(startListRun({ ...serve, listImages }), queryOf({}), { limit: 5 });
  const { value } = await list.next();
  expect(value).toMatchObject(down(1150, 1146).map((id) => ({ id: `${id}` })));
});

it('a list -s id -n 3 has an image without an id first, although the service sorts it last', async () => {
  const serve = serving(upTo(9), 'as numbers', 'as numbers');
  const listImages: typeof serve.listImages = async (query, number) => {
    const { sort, filter, perPage } = query;
    const page = await serve.listImages({ ...query, perPage: 100 }, 1);
    const withoutId = filter === undefined ? [{ name: 'a' }] : [];
    const isAscending = sort?.endsWith('asc');
    const all = isAscending ? [...page.images, ...withoutId] : [...withoutId, ...page.images];
    const images = all.slice((number - 1) * perPage, number * perPage);
    const pages = Math.ceil(all.length / perPage);
    return { ...page, images, number, pages, total: all.length, hasNext: number < pages };
  };
  const run = startListRun({ ...serve, listImages }, { perPage: 4 });
  const { value } = await listCatalogue(run, queryOf({ sorts: ['id'] }), { limit: 3 }).next();
  expect(value).toMatchObject([{ name: 'a' }, { id: 1 }, { id: 2 }]);
});
