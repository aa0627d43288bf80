// A list is complete whatever ids a service has, and however it compares them in filters and sorts.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ImagePage, PageQuery } from '../../src/api/images.ts';
import { serviceOf } from '../../src/catalogue/service.ts';
import { listCatalogue } from '../../src/catalogue/service-list.ts';
import { ImgctlError } from '../../src/errors.ts';
import { down, queryOf, upTo } from './harness.ts';

type Compared = 'as numbers' | 'as texts' | 'ignored' | 'refused';

const COMPARED = ['as numbers', 'as texts', 'ignored', 'refused'] as const;

function isBelow(id: number, bound: number, compared: Compared): boolean {
  return compared === 'as texts' ? `${id}` < `${bound}` : id < bound;
}

function refuse(): never {
  throw new ImgctlError('failed', 'refused', { status: 400 });
}

/** Says that it sorts unless it refuses to. */
function serving(ids: readonly number[], filters: Compared, sorts: Compared) {
  const select = (filter: string | undefined) => {
    const [, operator, bound = ''] = filter?.split(',') ?? [];
    if (operator === undefined || filters === 'ignored') return ids;
    if (filters === 'refused') return refuse();
    // Above 99 is from 100.
    const limit = Number(bound) + (operator === 'gt' || operator === 'le' ? 1 : 0);
    return ids.filter((id) => isBelow(id, limit, filters) === /^l/.test(operator));
  };
  const order = (found: readonly number[], sort: string | undefined) => {
    if (sort === undefined || sorts === 'ignored') return found;
    if (sorts === 'refused') return refuse();
    return found.toSorted((one, other) => (isBelow(one, other, sorts) ? 1 : -1));
  };
  const listImages = async (query: PageQuery, number: number): Promise<ImagePage> => {
    const { filter, sort, perPage } = query;
    const all = order(select(filter), sort);
    const images = all.slice((number - 1) * perPage, number * perPage).map((id) => ({ id }));
    const pages = Math.ceil(all.length / perPage);
    const hasNext = number < pages;
    const meta = sort === undefined ? {} : { sort };
    return { images, meta, number, total: all.length, pages, hasNext, bytes: 1 };
  };
  return { connections: 3, listImages };
}

it('a list has each image once', async () => {
  // Around powers of ten, order and length of texts change.
  const id = fc.oneof(
    fc.nat(120),
    fc.integer({ min: 990, max: 1010 }),
    fc.nat(7).map((exponent) => 10 ** exponent),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(id, { minLength: 1, maxLength: 60 }),
      fc.constantFrom(...COMPARED),
      fc.constantFrom(...COMPARED),
      fc.integer({ min: 1, max: 10 }),
      fc.boolean(),
      fc.constantFrom('id!=-1', 'id<1000', 'id>=100'),
      async (ids, filters, sorts, perPage, streams, filter) => {
        const service = serviceOf(serving(ids, filters, sorts));
        const query = queryOf({ filters: [filter] });
        const found: unknown[] = [];
        for await (const images of listCatalogue(service, query, { perPage, streams })) {
          found.push(...images.map((image) => image.id));
        }
        const expected = ids
          .filter((id) => query.matches({ id }))
          .toSorted((one, other) => other - one);
        const isYieldedUnsorted = streams && sorts !== 'as numbers';
        expect(
          isYieldedUnsorted ? found.toSorted((one, other) => Number(other) - Number(one)) : found,
        ).toEqual(expected);
      },
    ),
    { numRuns: 400 },
  );
});

it('the highest ids are listed first though the service sorts ids as texts', async () => {
  const service = serviceOf(serving(upTo(1100), 'as numbers', 'as texts'));
  const { value } = await listCatalogue(service, queryOf({}), { limit: 5 }).next();
  expect(value).toEqual(down(1100, 1096).map((id) => ({ id })));
});
