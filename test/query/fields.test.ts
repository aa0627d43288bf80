// Fields: names, values of any shape, and how values compare.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareText, readValue } from '../../src/query/fields.ts';

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
