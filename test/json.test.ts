// Tests the limits of JSON from outside, and numbers that JavaScript cannot hold.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExactNumber, isObject, parseJson, stringify } from '../src/json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const list = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const roundTrip = (text: string, indent = 0) => stringify(parse(text).value, indent);

describe('parseJson', () => {
  it.each([
    ['100,000 empty objects', list('{}', 100_000), 'more than 100000 JSON values'],
    ['100,001 numbers', list('1', 100_001), 'more than 100000 JSON values'],
    ['a text of more than 4 MiB', `"${'x'.repeat(2 ** 22)}"`, 'more than 4 MiB of JSON'],
    ['51 levels', nested(51), 'JSON nested deeper than 50 levels'],
    ['a truncated text', '{"a":', undefined],
  ])('rejects %s', (_, text, excess) => {
    expect(parse(text)).toEqual({ excess });
  });

  it.each([
    ['100,000 numbers', list('1', 99_999)],
    ['commas and brackets in texts', list(`"${',[{\\"\\\\'.repeat(20_000)}"`, 2)],
    ['a text of almost 4 MiB', `"${'x'.repeat(2 ** 22 - 2)}"`],
  ])('accepts %s', (_, text) => {
    expect(parse(text)).toMatchObject({ value: JSON.parse(text), text });
  });

  it.each([
    ...['9007199254740993', '-9007199254740993', '12345678901234567890', `1${'0'.repeat(400)}1`],
    ...['1000000000000000000000', '9007199254740992', `-${'9'.repeat(100)}`],
  ])('keeps the integer %s as it was sent', (number) => {
    const text = `{"a":{"b":[1,${number},"${number}"]}}`;
    expect(roundTrip(text)).toBe(text);
    const [exact] = parse(`[${number}]`).value as [ExactNumber];
    expect([`${exact}`, isObject(exact)]).toEqual([number, false]);
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
      fc.property(fc.json({ noUnicodeString: false }), fc.constantFrom(0, 2), (json, indent) => {
        // The first element makes it take the way of exact integers.
        const written = roundTrip(`[1234567890123456789 , ${json}]`, indent);
        const expected = JSON.stringify([0, JSON.parse(json)], null, indent);
        expect(written.replace('1234567890123456789', '0')).toBe(expected);
      }),
    );
  });

  it('treats duplicate names, __proto__ and a byte order mark like JSON.parse', () => {
    const text = '{"n":N,"a":1,"__proto__":{"x":[]},"a":{}}';
    const expected = JSON.stringify(JSON.parse(text.replace('N', '"N"')));
    const big = '1234567890123456789';
    expect(roundTrip(`\ufeff${text.replace('N', big)}`)).toBe(expected.replace('"N"', big));
  });
});
