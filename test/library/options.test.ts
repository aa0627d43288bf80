// What the options of the library may be, and how others are refused.

import { describe, expect, it } from 'vitest';
import {
  CLIENT,
  checkOptions,
  IMAGE,
  QUERY,
  REQUEST,
  SYNC_REQUEST,
} from '../../src/library/options.ts';
import { thrownBy } from '../support/errors.ts';

const KINDS = { ...CLIENT, ...QUERY, ...REQUEST };
const TIMERS = 'a whole number from 1 to 2147483647';
const { signal } = new AbortController();
const run = () => '';

describe.each<
  [name: string, meaning: string, valid: readonly unknown[], invalid: readonly unknown[]]
>([
  ['baseUrl', 'a string or a URL', ['a', new URL('https://a')], [5, null, {}]],
  ['token', 'a string', ['T'], [5, null, ['T']]],
  ['username', 'a string', ['al'], [5, null]],
  ['password', 'a string or a function', ['p', run], [5, null, {}]],
  ['allowHttp', 'a boolean', [true, false], ['true', 1, null]],
  ['timeout', TIMERS, [1, 2 ** 31 - 1], [0, 2 ** 31, 1.5, '5', null]],
  ['retries', 'a whole number from 0 to 100', [0, 100], [-1, 101, Number.POSITIVE_INFINITY, '5']],
  ['concurrency', 'a whole number from 1 to 32', [1, 32], [0, 33, '5']],
  ['authScheme', "'bearer' or 'basic'", ['bearer', 'basic'], ['Basic', '', 5]],
  ['ca', 'a string', ['PEM'], [5, Buffer.from('PEM')]],
  ['proxy', 'a string', ['a:1'], [5, new URL('http://a')]],
  ['signal', 'an AbortSignal', [signal], [5, {}, null]],
  ['onTrace', 'a function', [run], ['run', {}]],
  ['onWarning', 'a function', [run], ['run', {}]],
  ['text', 'a string or an array of strings', ['a', ['a', 'b'], []], [5, ['a', 5], null]],
  ['filter', 'a string or an array of strings', ['a', ['a', 'b']], [5, ['a', 5], null]],
  ['sort', 'a string or an array of strings', ['a', ['a', 'b']], [5, ['a', 5], null]],
  ['limit', 'a whole number of at least 1', [1, 2 ** 53 - 1], [0, 2 ** 53, 1.5, '5']],
  [
    'method',
    'a string, and not CONNECT or TRACE',
    ['get', 'PATCH', 'xtrace'],
    ['Connect', 'TRACE', 5],
  ],
  ['path', 'a string', ['/v2'], [5, null]],
])('the option %s', (name, meaning, valid, invalid) => {
  it(`may be left out, or be ${meaning}`, () => {
    for (const value of [undefined, ...valid]) checkOptions({ [name]: value }, 'query', KINDS);
  });

  it('is refused otherwise, and shown only if it is a number', () => {
    for (const value of invalid) {
      const got = typeof value === 'number' ? ` (got ${value})` : '';
      const error = thrownBy(() => checkOptions({ [name]: value }, 'query', KINDS));
      expect(error).toMatchObject({ code: 'usage', message: `${name} must be ${meaning}${got}` });
    }
  });
});

it.each([
  ['an image', IMAGE, [1, 2 ** 53 - 1, '007'], [0, 1.5, 'a-1', '']],
  ['a sync request', SYNC_REQUEST, [1, 0, -1, '007', 'a-1'], [Number.NaN, 'a/b', '', null]],
])('the id of %s is checked', (_what, kinds, valid, invalid) => {
  for (const id of valid) checkOptions({ id }, 'request', kinds, ['id']);
  const meaning =
    kinds === IMAGE ? 'a whole number of at least 1' : "a number, or a string such as '17'";
  for (const id of [...invalid, undefined]) {
    const { message } = thrownBy(() => checkOptions({ id }, 'request', kinds, ['id']));
    expect(message.replace(/ \(got .*/, '')).toBe(`id must be ${meaning}`);
  }
});

it.each([
  [{ lmit: 5 }, "unknown option 'lmit' in the query", 'did you mean limit?'],
  [
    { constructor: 5 },
    "unknown option 'constructor' in the query",
    'valid: text, filter, sort, limit',
  ],
  [null, 'the query must be an object', undefined],
  [[], 'the query must be an object', undefined],
])('the options %j are refused: %s', (given, message, text) => {
  const facts = text && { kind: 'advice', text };
  expect(thrownBy(() => checkOptions(given, 'query', QUERY))).toMatchObject({ message, facts });
});
