// Fields and --sort: the values of any shape, what is accepted, and the resulting order.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELDS, readValue } from '../../src/query/fields.ts';
import { parseSort, sortImages } from '../../src/query/sort.ts';
import { thrownBy } from '../support/errors.ts';

type Row = Record<string, unknown>;

function sorted(images: readonly Row[], ...keys: string[]): Row[] {
  return sortImages(images, keys.map(parseSort));
}

describe('parseSort', () => {
  it.each([
    ['', "missing field in --sort ''", 'valid: id, name'],
    ['nme', "unknown field 'nme' in --sort 'nme'", 'did you mean name?'],
    ['__proto__,asc', "unknown field '__proto__' in", 'valid: id, name'],
    ['name,', "missing direction in --sort 'name,'", 'valid: asc, desc'],
    ['name,descending', "unknown direction 'descending' in", 'did you mean desc? valid: asc, desc'],
    ['name,asc,id', "too many parts in --sort 'name,asc,id'", 'once per key'],
  ])('rejects %j: %s', (text, message, hint) => {
    expect(thrownBy(() => parseSort(text))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });
});

describe('sortImages', () => {
  it.each([
    ['id', [10, 9, null, 1], [null, 1, 9, 10]],
    ['id,desc', [10, 9, null, 1], [10, 9, 1, null]],
    ['id', ['b', '10', 9, 'a', {}], [{}, 9, '10', 'a', 'b']],
    ['name', ['b', 'a', 'B', null, '😀', '\uffee'], [null, 'B', 'a', 'b', '\uffee', '😀']],
    ['name', ['10', '9'], ['10', '9']],
    ['public', [true, false, null], [null, false, true]],
    [
      'created_on',
      ['2018-07-18 Wed 12:00:00 UTC', '2018-07-18 Wed 09:00:00 EDT', '2018-07-18T11:30:00Z', null],
      [null, '2018-07-18T11:30:00Z', '2018-07-18 Wed 12:00:00 UTC', '2018-07-18 Wed 09:00:00 EDT'],
    ],
    [
      'created_on',
      ['2018-07-18 Wed 12:00:00 UTC', '2018-07-18 Wed 09:00:00 EDT', '2018-07-18 Wed 10:00:00 CST'],
      ['2018-07-18 Wed 09:00:00 EDT', '2018-07-18 Wed 10:00:00 CST', '2018-07-18 Wed 12:00:00 UTC'],
    ],
  ])('sorts by %s: %j', (key, values, expected) => {
    const field = key.replace(/,.*/, '');
    const images = values.map((value) => ({ [field]: value }));
    const ordered = sorted(images, key);
    expect(ordered.map((image) => image[field])).toEqual(expected);
  });

  it('does not depend on the initial order', () => {
    const stamp = fc.constantFrom(
      '2018-07-18 Wed 12:00:00 UTC',
      '2018-07-18 Wed 09:00:00 EDT',
      '2018-07-18 Wed 10:00:00 CST',
      '2018-07-18T11:30:00Z',
      'soon',
      null,
    );
    // No two of them may count as equal, as "01" and 1 do.
    const text = fc.stringMatching(/^[a-z]{0,3}$/);
    const value = fc.oneof(stamp, fc.integer(), fc.boolean(), text, fc.double({ noNaN: true }));
    const setting = fc
      .uniqueArray(value, { selector: (one) => `${one}`.toLowerCase(), maxLength: 12 })
      .chain((values) =>
        fc.tuple(fc.constant(values), fc.shuffledSubarray(values, { minLength: values.length })),
      );
    fc.assert(
      fc.property(setting, fc.constantFrom(...FIELDS), ([values, shuffled], field) => {
        const order = (list: unknown[]) => {
          const images = list.map((sent) => ({ [field]: sent }));
          return sorted(images, field).map((image) => image[field]);
        };
        expect(order(shuffled)).toEqual(order(values));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('readValue', () => {
  it.each([
    [{ id: 12 }, 'id', 12],
    [{ id: '12' }, 'id', 12],
    [{ id: '12a' }, 'id', '12a'],
    [{ id: '9007199254740993' }, 'id', '9007199254740993'],
    [{ id: 1.5 }, 'id', 1.5],
    [{ id: Number.NaN }, 'id', null],
    [{ id: true }, 'id', 'true'],
    [{}, 'id', null],
    [{ id: undefined }, 'id', null],
    [{ id: [12] }, 'id', null],
    [{ id: { toString: 1 } }, 'id', null],
    [Object.create({ id: 12 }), 'id', null],
    [{ name: 22 }, 'name', '22'],
    [{ public: true }, 'public', true],
    [{ public: 'False' }, 'public', false],
    [{ public: 1 }, 'public', '1'],
    [{ created_on: 1531942609 }, 'created_on', '1531942609'],
  ] as const)('of %j, field %s, returns %j', (image, field, expected) => {
    expect(readValue(image, field)).toBe(expected);
  });
});
