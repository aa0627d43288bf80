// Tests the limits of JSON from outside, and numbers that JavaScript cannot hold.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTooDeep, parseJson, stringify } from '../src/json.ts';
import { anyCharacter } from './support/texts.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const list = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const roundTrip = (text: string, indent = 0) => stringify(parse(text).value, indent);

it.each([
  ['a bracket in a text', '"["'],
  ['a quoted quote', String.raw`"\""`],
  ['a quoted backslash', String.raw`"\\"`],
  ['60 lists side by side', list('[1]', 60)],
  ['60 objects side by side', list('{"a":1}', 60)],
])('isTooDeep reads past %s', (_what, text) => {
  const found = [49, 50].map((depth) => isTooDeep(`[${text},${nested(depth)}]`));
  expect(found).toEqual([false, true]);
});

describe('parseJson', () => {
  it.each([
    ['a text of more than 4 MiB', `"${'x'.repeat(2 ** 22)}"`, 'more than 4 MiB of JSON'],
    ['51 levels', nested(51), 'JSON nested deeper than 50 levels'],
    ['a truncated text', '{"a":', undefined],
  ])('rejects %s', (_, text, excess) => {
    expect(parse(text)).toEqual({ excess });
  });

  it.each([
    ['50 levels', nested(50)],
    ['a million empty objects', list('{}', 1_000_000)],
    ['a text of almost 4 MiB', `"${'x'.repeat(2 ** 22 - 2)}"`],
  ])('accepts %s', (_, text) => {
    const { value, text: read } = parse(text);
    const isSame = { value: JSON.stringify(value) === text, text: read === text };
    expect(isSame).toEqual({ value: true, text: true });
  });

  it.each([
    ...['9007199254740993', '-9007199254740993', '12345678901234567890', `1${'0'.repeat(400)}1`],
    ...['1000000000000000000000', '9007199254740992', `-${'9'.repeat(100)}`],
  ])('reads the integer %s as a text of its digits', (number) => {
    expect(parse(`{"a":{"b":[1,${number},"${number}"]}}`).value).toEqual({
      a: { b: [1, number, number] },
    });
  });

  it.each([
    ...['1.0', '1e2', '-0', '0e999', '0.1', '123456789012345', '1.7976931348623157e308', '5e-324'],
    ...['0.30000000000000004', '9007199254740991', '-9007199254740991'],
    ...['123456789.123456789', '1.00000000000000000001', '1e22', '12345678901234567890.5'],
  ])('returns a plain number for %s', (number) => {
    const { value } = parse(`[1234567890123456789, ${number}]`);
    expect(value).toEqual([expect.anything(), Number(number)]);
  });

  it('agrees with JSON.parse for any other JSON', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: anyCharacter }), fc.constantFrom(0, 2), (json, indent) => {
        // The first element makes it take the way of exact integers.
        fc.pre(!/\d{16}/.test(json));
        const written = roundTrip(`[1234567890123456789 , ${json}]`, indent);
        const expected = ['1234567890123456789', JSON.parse(json)];
        expect(written).toBe(JSON.stringify(expected, null, indent));
      }),
    );
  });

  it('treats duplicate names, __proto__ and a byte order mark like JSON.parse', () => {
    const text = '{"n":1234567890123456789,"a":1,"__proto__":{"x":[]},"a":{}}';
    const expected = JSON.stringify(JSON.parse(text.replace(/\d{19}/, '"$&"')));
    expect(roundTrip(`\ufeff${text}`)).toBe(expected);
  });
});
