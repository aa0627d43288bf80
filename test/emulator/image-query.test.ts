// Filter and sort of the emulator over a few images: what matches, what is refused, and random queries.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { findImages } from '../../src/emulator/resources.ts';
import {
  aServiceFilter,
  aSort,
  IMAGES as RANDOM_IMAGES,
  serviceFinds,
} from '../support/naive-query.ts';
import { rows } from '../support/rows.ts';

function image(
  id: number,
  name: string,
  folder: string | null,
  created_on: string,
  updated_on = created_on,
): Image {
  const label = folder === null ? name : `${folder}/${name}`;
  return {
    id,
    name,
    path: `[store] ${label}`,
    label,
    folder,
    data_store: 'store',
    public: id !== 30,
    created_on,
    updated_on,
  };
}

const SUMMER = '2018-07-18 Wed 15:36:49 EDT';
// 3 is less than 30 only as a number; 20 was created before 10, although its text is greater.
const IMAGES = [
  image(3, 'Ubuntu-22.04.ova', 'linux', SUMMER, '2025-01-15 Wed 07:00:00 EST'),
  image(10, 'ubuntu-20.04.ova', null, '2024-11-03 Sun 01:10:00 EST'),
  image(20, 'debian,12.ova', 'linux', '2024-11-03 Sun 01:50:00 EDT'),
  image(30, '100%.ova', 'bsd', SUMMER),
];

function find(filter: string | undefined, sort?: string): number[] {
  return findImages(IMAGES, filter, sort).map(({ id }) => id);
}

describe('a filter', () => {
  it.each([
    ...rows([3], 'id,eq,3', 'id,lt,10', 'updated_on,ge,2025-01-15 Wed 12:00:00 UTC'),
    ...rows([3, 10], 'id,le,10', 'name,like,ubuntu%', 'name,like,%UBUNTU%', 'name,like,%2%0%'),
    ...rows([20, 30], 'id,gt,10'),
    ...rows([10, 20, 30], 'id,ne,3', 'id,ge,10', 'id,like,%0'),
    ...rows([3, 30], 'id,in,3,30,4', 'name,lt,a', 'created_on,like,2018%EDT'),
    ...rows([3, 30], 'created_on,eq,2018-07-18 Wed 19:36:49 UTC'),
    ...rows([10], 'name,eq,ubuntu-20.04.ova', 'folder,eq,null'),
    ...rows([10], 'created_on,gt,2024-11-03 Sun 01:50:00 EDT'),
    ...rows([], 'name,eq,ubuntu-22.04.ova', 'name,eq,', 'name,like,ubuntu', 'name,like,'),
    ...rows([], 'name,like,debian,12.ova%12.ova'),
    ...rows([20], 'name,eq,debian,12.ova', 'name,like,%,%'),
    ...rows([10, 30], 'name,in,ubuntu-20.04.ova,100%.ova', 'folder,ne,linux'),
    ...rows([3, 10, 20, 30], 'name,like,%.ova', 'name,like,%'),
    ...rows([30], 'public,eq,false', 'public,like,fal%', 'folder,in,null,bsd'),
    ...rows([3, 10, 20], 'public,ne,false'),
    ...rows([3, 20, 30], 'folder,ne,null', 'folder,lt,z', 'folder,gt,', 'folder,like,%'),
    ...rows([3, 20, 30], 'created_on,lt,2024-11-03 Sun 01:10:00 EST'),
  ])('%s finds %j', (filter, ids) => {
    expect(find(filter)).toEqual(ids);
  });

  it.each([
    ...['', 'name', 'name,eq', 'colour,eq,red', 'constructor,eq,1', 'Name,eq,a'],
    ...['name,is,a', 'name,toString,a', 'id,eq,three', 'id,eq,null', 'id,eq,3.0', 'id,in,3,,30'],
    ...['public,eq,yes', 'public,eq,constructor', 'created_on,ge,2018-07-18'],
    'created_on,ge,2018-07-18 Thu 15:36:49 EDT',
  ])('%j gets 400', (filter) => {
    expect(() => find(filter)).toThrow(expect.objectContaining({ name: 'HttpError', status: 400 }));
  });

  it('matches a pattern like the equivalent regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '%'), maxLength: 12 });
    const name = fc.string({ unit: fc.constantFrom('a', 'A', 'b'), maxLength: 12 });
    fc.assert(
      fc.property(text, name, (pattern, value) => {
        const found = findImages([image(1, value, null, '')], `name,like,${pattern}`, undefined);
        const expected = new RegExp(`^${pattern.replaceAll('%', '.*')}$`, 'i').test(value);
        expect(found.length === 1).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('is fast for a pattern made to backtrack', () => {
    const name = 'a'.repeat(5000);
    const filter = `name,like,${'%a'.repeat(50)}b`;
    expect(findImages([image(1, name, null, '')], filter, undefined)).toEqual([]);
  });
});

describe('a sort', () => {
  it.each([
    ['id,asc', [3, 10, 20, 30]],
    ['id,desc', [30, 20, 10, 3]],
    ['name,asc', [30, 3, 20, 10]],
    ['name,desc', [10, 20, 3, 30]],
    ['folder,asc', [10, 30, 3, 20]],
    ['folder,desc', [3, 20, 30, 10]],
    ['public,asc', [30, 3, 10, 20]],
    ['public,desc', [3, 10, 20, 30]],
    ['created_on,asc', [3, 30, 20, 10]],
    ['created_on,desc', [10, 20, 3, 30]],
    ['updated_on,asc', [30, 20, 10, 3]],
  ])('%s returns %j', (sort, ids) => {
    expect(find(undefined, sort)).toEqual(ids);
  });

  it.each(['', 'id', 'id,', 'id,up', 'id,ASC', 'id,asc,', 'colour,asc', 'valueOf,asc'])(
    '%j gets 400',
    (sort) => {
      expect(() => find(undefined, sort)).toThrow(expect.objectContaining({ status: 400 }));
    },
  );

  it('applies to the result of a filter', () => {
    expect(find('folder,eq,linux', 'id,desc')).toEqual([20, 3]);
  });
});

it('a random filter and sort find what a naive implementation finds', () => {
  fc.assert(
    fc.property(aServiceFilter, fc.option(aSort, { nil: undefined }), (filter, sort) => {
      const query = [`${filter.field},${filter.operator},${filter.text}`, sort?.join(',')] as const;
      const expected = serviceFinds(query[0], query[1] ?? null);
      expect(findImages(RANDOM_IMAGES, ...query)).toEqual(expected);
    }),
    { numRuns: 1000, seed: 20_250_801 },
  );
});
