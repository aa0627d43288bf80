// --debug: each event as one line that tells what happened, without headers and so without secrets.

import { expect, it } from 'vitest';
import type { HttpEvent } from '../../src/api/http.ts';
import { describeEvent } from '../../src/session/trace.ts';

const url = new URL('https://images.example.com/v2/image?page=2');
const method = 'GET';

function answer(headers: Record<string, string>, decoded = 4): HttpEvent {
  const body = Buffer.alloc(decoded);
  const received = { method, url, status: 200, headers, body, wireBytes: 4, receivedAt: 0 };
  return { kind: 'answer', received, milliseconds: 12 };
}

const LEFT = 'x-ratelimit-remaining';
const LIMIT = 'x-ratelimit-limit';

it.each<[string, HttpEvent, string]>([
  ['an answer', answer({ authorization: 'Bearer secret' }), '200 in 12 ms, 4 B'],
  ['a packed answer', answer({}, 9), '200 in 12 ms, 4 B (9 B decoded)'],
  ['a limit', answer({ [LEFT]: '3', [LIMIT]: '5' }), '200 in 12 ms, 4 B, 3 of 5 requests left'],
  ['half a limit', answer({ [LEFT]: '3' }), '200 in 12 ms, 4 B'],
  ['the other half', answer({ [LIMIT]: '5' }), '200 in 12 ms, 4 B'],
  ['an empty limit', answer({ [LEFT]: '', [LIMIT]: '5' }), '200 in 12 ms, 4 B'],
  [
    'no answer',
    { kind: 'no-answer', method, url, milliseconds: 7, error: new Error('closed') },
    'no answer after 7 ms: closed',
  ],
  ['a retry', { kind: 'retry', method, url, attempt: 1, wait: 250 }, 'try 2 after 250 ms'],
  ['a renewal', { kind: 'renewal', method, url }, '401, again with a renewed token'],
])('%s', (_, event, line) => {
  expect(describeEvent(event)).toBe(`GET https://images.example.com/v2/image?page=2: ${line}`);
});
