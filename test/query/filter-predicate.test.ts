// Filters applied here, to images of any shape.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELDS } from '../../src/query/fields.ts';
import { OPERATORS, parseFilter } from '../../src/query/filter.ts';
import { filterPredicate } from '../../src/query/filter-predicate.ts';

const NOW = Date.UTC(2024, 5, 15, 12);
const STAMP = '2018-07-18 Wed 15:36:49 EDT';
const IMAGE = {
  id: 12,
  name: 'ubuntu-22.04,server.ova',
  path: '[store] linux/ubuntu-22.04,server.ova',
  label: 'linux/ubuntu-22.04,server.ova',
  folder: null,
  public: true,
  created_on: STAMP,
  updated_on: '2024-06-01 Sat 08:00:00 EDT',
};

function passes(filter: string, image: Record<string, unknown> = IMAGE): boolean {
  return filterPredicate(parseFilter(filter, NOW))(image);
}

describe('filterPredicate', () => {
  it.each([
    ['id,eq,12', true],
    ['id,eq,012', true],
    ['id,ne,12', false],
    ['id,lt,100', true],
    ['id,lt,12', false],
    ['id,le,12', true],
    ['id,gt,9', true],
    ['id,gt,12', false],
    ['id,ge,12', true],
    ['id,in,1,12', true],
    ['id,in,1,2', false],
    ['id,like,1%', true],
    ['name,eq,ubuntu-22.04,server.ova', true],
    ['name,eq,Ubuntu-22.04,server.ova', false],
    ['name,like,UBUNTU%', true],
    ['name,like,ubuntu', false],
    ['name,in,a,ubuntu-22.04', false],
    ['name,lt,v', true],
    ['name,lt,Z', false],
    ['public,eq,true', true],
    ['public,ne,TRUE', false],
    ['public,gt,false', true],
    ['public,like,t%', true],
    ['created_on,eq,2018-07-18T19:36:49Z', true],
    ['created_on,eq,2018-07-18 Wed 19:36:49 UTC', true],
    ['created_on,ne,2018-07-18T21:36:49+02:00', false],
    ['created_on,in,2018-07-19,2018-07-18T19:36:49Z', true],
    ['created_on,gt,2018-07-18 Wed 16:00:00 UTC', true],
    ['created_on,ge,2018-07-18T19:36:50Z', false],
    ['created_on,like,2018-07-18%', true],
    ['created_on,ge,-30d', false],
    ['updated_on,ge,-30d', true],
    ['updated_on,ge,-2w', true],
    ['updated_on,gt,-2w', false],
  ])('%s: %s', (filter, expected) => {
    expect(passes(filter)).toBe(expected);
  });

  it.each([
    ['folder,eq,null', true],
    ['folder,ne,null', false],
    ['folder,ne,x', true],
    ['folder,eq,x', false],
    ['folder,lt,x', false],
    ['folder,ge,x', false],
    ['folder,like,%', false],
    ['folder,in,null,x', false],
    ['data_store,eq,null', true],
    ['created_on,eq,null', true],
    ['created_on,lt,-1d', false],
    ['created_on,ne,-1d', true],
    ['id,eq,null', true],
    ['id,le,3', false],
    ['public,ne,true', true],
  ])('of an image where it is null or missing, %s: %s', (filter, expected) => {
    expect(passes(filter, { folder: null, created_on: null })).toBe(expected);
  });

  it.each([
    [{ id: '12' }, 'id,gt,9', true],
    [{ id: 'abc' }, 'id,gt,9', true],
    [{ id: 'abc' }, 'id,eq,9', false],
    [{ id: { a: 1 } }, 'id,eq,null', true],
    [{ id: Number.POSITIVE_INFINITY }, 'id,gt,9', true],
    [{ name: 22 }, 'name,eq,22', true],
    [{ name: ['x'] }, 'name,like,%x%', false],
    [{ name: 'null' }, 'name,eq,null', false],
    [{ name: 'null' }, 'name,in,null,x', true],
    [{ public: 'false' }, 'public,eq,false', true],
    [{ created_on: '2018-07-18 Wed 15:36:49 CST' }, 'created_on,lt,2018-07-19', true],
    [{ created_on: '2018-07-18 Wed 15:36:49 CST' }, 'created_on,lt,-30d', true],
    [{ created_on: '2018-07-18 Wed 15:36:49 CST' }, 'created_on,ge,-30d', false],
    [
      { created_on: '2018-07-18 Wed 15:36:49 CST' },
      'created_on,eq,2018-07-18 Wed 15:36:49 CST',
      true,
    ],
    [
      { created_on: '2018-07-18 Wed 15:36:49 CST' },
      'created_on,eq,2018-07-18 Wed 16:00:00 CST',
      false,
    ],
    [{ created_on: 'soon' }, 'created_on,gt,2018-07-19', true],
    [{ created_on: 5 }, 'created_on,gt,2018-07-19', true],
    [Object.create({ id: 12 }), 'id,eq,12', false],
  ])('%j, %s: %s', (image, filter, expected) => {
    expect(passes(filter, image)).toBe(expected);
  });

  it('agrees with a plain evaluation of ids and names', () => {
    const id = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(null));
    const name = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'B', '😀'), maxLength: 3 }),
      fc.constant(null),
    );
    const values = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 3 });
    const texts = fc.array(fc.constantFrom('a', 'B', 'ab', 'BB', '😀'), {
      minLength: 1,
      maxLength: 3,
    });
    const operator = fc.constantFrom(...OPERATORS.filter((word) => word !== 'like'));
    fc.assert(
      fc.property(fc.record({ id, name }), operator, values, texts, (image, op, ids, names) => {
        const wanted =
          op === 'in' ? { ids, names } : { ids: ids.slice(0, 1), names: names.slice(0, 1) };
        expect(passes(`id,${op},${wanted.ids.join(',')}`, image)).toBe(
          naiveTest(image.id, op, wanted.ids),
        );
        expect(passes(`name,${op},${wanted.names.join(',')}`, image)).toBe(
          naiveTest(image.name, op, wanted.names),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('agrees with a plain evaluation of instants, however they are written', () => {
    const hour = fc.integer({ min: 0, max: 23 });
    const operator = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge');
    fc.assert(
      fc.property(hour, hour, operator, (left, right, op) => {
        const image = { created_on: `2018-07-18 Wed ${`${left}`.padStart(2, '0')}:00:00 EDT` };
        const value = new Date(Date.UTC(2018, 6, 18, right + 4)).toISOString();
        expect(passes(`created_on,${op},${value}`, image)).toBe(naiveTest(left, op, [right]));
      }),
    );
  });

  it('gives an answer or a usage error, whatever the filter and the image', () => {
    const part = fc.oneof(
      fc.constantFrom<string>(...FIELDS, ...OPERATORS, '', '__proto__'),
      fc.string(),
    );
    const filter = fc.oneof(
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join(',')),
      fc.string(),
    );
    const image = fc.dictionary(fc.constantFrom(...FIELDS), fc.anything());
    fc.assert(
      fc.property(filter, image, (text, record) => {
        let predicate: ReturnType<typeof filterPredicate>;
        try {
          predicate = filterPredicate(parseFilter(text, NOW));
        } catch (error) {
          expect(error).toMatchObject({ code: 'usage', message: expect.not.stringMatching(/\.$/) });
          return;
        }
        expect(typeof predicate(record)).toBe('boolean');
      }),
      { numRuns: 2000 },
    );
  });

  it('is the opposite of ne in eq, of ge in lt, and of gt in le, where there is a value', () => {
    const stored = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(STAMP));
    const value = fc.constantFrom('1', 'true', STAMP, '-30d', 'a');
    fc.assert(
      fc.property(fc.constantFrom(...FIELDS), stored, value, (field, sent, text) => {
        const image = { [field]: sent };
        try {
          parseFilter(`${field},eq,${text}`, NOW);
        } catch {
          return;
        }
        expect(passes(`${field},eq,${text}`, image)).toBe(!passes(`${field},ne,${text}`, image));
        expect(passes(`${field},lt,${text}`, image)).toBe(!passes(`${field},ge,${text}`, image));
        expect(passes(`${field},le,${text}`, image)).toBe(!passes(`${field},gt,${text}`, image));
      }),
      { numRuns: 1000 },
    );
  });
});

function naiveTest<Value extends string | number>(
  stored: Value | null,
  operator: string,
  values: readonly Value[],
): boolean {
  const [value] = values;
  if (stored === null || value === undefined) return operator === 'ne';
  if (operator === 'in') return values.includes(stored);
  if (operator === 'eq') return stored === value;
  if (operator === 'ne') return stored !== value;
  // By code point, as no character between U+E000 and U+FFFF takes part.
  if (operator === 'lt') return stored < value;
  if (operator === 'le') return stored <= value;
  return operator === 'gt' ? stored > value : stored >= value;
}
