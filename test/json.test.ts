// Tests the limits of JSON from outside, and numbers that JavaScript cannot hold.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExactNumber, isObject, parseJson, parseJsonExactly, stringify } from '../src/json.ts';

const parse = (text: string) => parseJson(Buffer.from(text));
const list = (item: string, count: number) => `[${Array(count).fill(item).join(',')}]`;
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('parseJson', () => {
  it.each([
    ['100,000 empty objects', list('{}', 100_000), 'more than 100000 JSON values'],
    ['100,000 empty arrays', list('[]', 100_000), 'more than 100000 JSON values'],
    ['100,001 numbers', list('1', 100_001), 'more than 100000 JSON values'],
    ['100,001 members', `{${list('"a":1', 100_001).slice(1, -1)}}`, 'more than 100000 JSON values'],
    ['a text of more than 4 MiB', `"${'x'.repeat(2 ** 22)}"`, 'more than 4 MiB of JSON'],
    ['51 levels', nested(51), 'JSON nested deeper than 50 levels'],
    ['100,000 levels', nested(100_000), 'JSON nested deeper than 50 levels'],
    ['a truncated text', '{"a":', undefined],
  ])('rejects %s', (_, text, excess) => {
    expect(parse(text)).toEqual({ excess });
  });

  it.each([
    ['100,000 numbers', list('1', 99_999)],
    ['commas and brackets in texts', list(`"${',[{\\"\\\\'.repeat(20_000)}"`, 2)],
    ['a text of almost 4 MiB', `"${'x'.repeat(2 ** 22 - 2)}"`],
    ['50 levels', nested(50)],
  ])('accepts %s', (_, text) => {
    expect(parse(text)).toMatchObject({ value: JSON.parse(text), text });
  });
});

async function roundTrip(text: string, indent = 0): Promise<string> {
  return stringify((await parseJsonExactly(Buffer.from(text))).value, indent);
}

describe('parseJsonExactly', () => {
  it.each([
    ...['9007199254740993', '-9007199254740993', '1e400', '-1E+400', '1e-400', '0.1e-400'],
    ...['123456789.123456789', '1.00000000000000000001', `1${'0'.repeat(400)}1`, '1e99999999999'],
    ...['12345678901234567890', `0.${'0'.repeat(400)}1`],
  ])('keeps %s as it was sent', async (number) => {
    for (const text of [`[${number}]`, `{"a":{"b":[1,${number},"${number}"]}}`]) {
      expect(await roundTrip(text)).toBe(text);
    }
    const { value } = await parseJsonExactly(Buffer.from(`[${number}]`));
    const [exact] = value as [ExactNumber];
    expect([`${exact}`, exact.valueOf(), isObject(exact)]).toEqual([number, Number(number), false]);
    expect(JSON.stringify([exact])).toBe(JSON.stringify([Number(number)]));
  });

  it.each([
    ...['1.0', '1e2', '-0', '0e999', '0.1', '123456789012345', '1.7976931348623157e308', '5e-324'],
    ...['1000000000000000000000', '100000000000000000', '0.30000000000000004', '9007199254740992'],
  ])('returns a plain number for %s', async (number) => {
    const { value } = await parseJsonExactly(Buffer.from(`[${number}]`));
    expect(value).toEqual([Number(number)]);
  });

  it('agrees with JSON.parse for any other JSON', async () => {
    const text = fc.json({ noUnicodeString: false });
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(0, 2), async (json, indent) => {
        const plain = JSON.parse(json);
        // The first element makes it take the way of exact numbers.
        const written = await roundTrip(`[1e999 , ${json}]`, indent);
        expect(written.replace('1e999', '0')).toBe(JSON.stringify([0, plain], null, indent));
      }),
    );
  });

  it('treats escapes, duplicate names and __proto__ like JSON.parse', async () => {
    const text = '{"n":1e999,"a":1,"\\"]}\\\\":"\\u0041,[","__proto__":{"x":[]},"a":{}}';
    const value = JSON.parse(text.replace('1e999', '"N"'));
    expect((await roundTrip(text)).replace('1e999', '"N"')).toBe(JSON.stringify(value));
  });

  it('lets the event loop turn while it parses a long text', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await parseJsonExactly(Buffer.from(list('12345678901234567890123', 99_000)));
    clearImmediate(next);
    expect(turns).toBeGreaterThan(5);
  });
});
