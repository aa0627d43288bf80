// Fields: names, values of any shape, and how values compare.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareText,
  compareValues,
  FIELDS,
  readValue,
  resolveField,
} from '../../src/query/fields.ts';
import { thrownBy } from '../support/errors.ts';

describe('resolveField', () => {
  it.each(['__proto__', 'constructor', 'toString'])('rejects %s', (word) => {
    expect(thrownBy(() => resolveField(word, '--columns'))).toMatchObject({
      code: 'usage',
      message: `unknown field '${word}' in --columns`,
      hint: `valid: ${FIELDS.join(', ')}`,
    });
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

describe('compareValues', () => {
  it.each([
    [2, 10, -1],
    [false, true, -1],
    ['2', '10', 1],
    [2, '10', 1],
    [5, 5, 0],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0],
    ['a', 'a', 0],
  ])('of %j and %j has the sign of %i', (left, right, expected) => {
    expect(Math.sign(compareValues(left, right))).toBe(expected);
  });
});

describe('compareText', () => {
  it('orders by code point', () => {
    const unit = fc.constantFrom('a', 'b', 'Z', 'é', '\ue000', '\uffff', '😀', '𐀀');
    const text = fc.string({ unit });
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
