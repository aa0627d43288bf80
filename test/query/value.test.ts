// What is read from images of any shape, and how it compares.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FIELDS } from '../../src/query/fields.ts';
import { compareText, compareValues, readValue } from '../../src/query/value.ts';

describe('readValue', () => {
  it.each([
    [{ id: 12 }, 'id', 12],
    [{ id: '12' }, 'id', 12],
    [{ id: '-7' }, 'id', -7],
    [{ id: '12a' }, 'id', '12a'],
    [{ id: '9007199254740993' }, 'id', '9007199254740993'],
    [{ id: 1.5 }, 'id', 1.5],
    [{ id: Number.NaN }, 'id', null],
    [{ id: true }, 'id', 'true'],
    [{ id: null }, 'id', null],
    [{}, 'id', null],
    [{ id: undefined }, 'id', null],
    [{ id: [12] }, 'id', null],
    [{ id: { toString: 1 } }, 'id', null],
    [Object.create({ id: 12 }), 'id', null],
    [{ name: 22 }, 'name', '22'],
    [{ name: false }, 'name', 'false'],
    [{ name: '12' }, 'name', '12'],
    [{ name: '' }, 'name', ''],
    [{ public: true }, 'public', true],
    [{ public: 'False' }, 'public', false],
    [{ public: 1 }, 'public', '1'],
    [{ created_on: 1531942609 }, 'created_on', '1531942609'],
  ] as const)('%j.%s is %j', (image, field, expected) => {
    expect(readValue(image, field)).toBe(expected);
  });

  it('takes whatever it finds', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FIELDS), fc.anything(), (field, sent) => {
        const value = readValue({ [field]: sent }, field);
        expect(value === null || ['string', 'number', 'boolean'].includes(typeof value)).toBe(true);
      }),
    );
  });
});

describe('compareValues', () => {
  it.each([
    [2, 10, -1],
    [false, true, -1],
    ['2', '10', 1],
    [2, '10', 1],
    [5, 5, 0],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0],
    ['a', 'a', 0],
  ])('%j to %j: %i', (left, right, expected) => {
    expect(Math.sign(compareValues(left, right))).toBe(expected);
  });
});

describe('compareText', () => {
  it('is the order of the code points', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'Z', 'é', '\ue000', '\uffff', '😀', '𐀀'),
    });
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(Math.sign(compareText(left, right))).toBe(naiveOrder([...left], [...right]));
      }),
      { numRuns: 1000 },
    );
  });
});

function naiveOrder(left: string[], right: string[]): number {
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const order = (left[index]?.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? 0);
    if (order !== 0) return Math.sign(order);
  }
  return Math.sign(left.length - right.length);
}
