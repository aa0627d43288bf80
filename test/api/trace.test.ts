// --debug: each event as one line that tells what happened, without headers and so without secrets.

import { expect, it } from 'vitest';
import type { ClientEvent } from '../../src/api/auth.ts';
import { describeEvent } from '../../src/api/trace.ts';
import { ENDPOINT } from '../support/client.ts';

const SENT = { method: 'GET', url: new URL('https://images.example.com/v2/image?page=2') };

function received(headers: Record<string, string>, decoded = 4): ClientEvent {
  const body = Buffer.alloc(decoded);
  const sizes = { body, wireBytes: 4, receivedAt: 0 };
  const response = { ...SENT, ...sizes, status: 200, headers, endpoint: ENDPOINT };
  return { kind: 'response', response, milliseconds: 12 };
}

const LEFT = 'x-ratelimit-remaining';
const LIMIT = 'x-ratelimit-limit';

it.each<[string, ClientEvent, string]>([
  ['a response', received({ authorization: 'Bearer secret' }), '200 in 12 ms, 4 B'],
  ['a compressed response', received({}, 9), '200 in 12 ms, 4 B (9 B decoded)'],
  ['a limit', received({ [LEFT]: '3', [LIMIT]: '5' }), '200 in 12 ms, 4 B, 3 of 5 requests left'],
  ['half a limit', received({ [LEFT]: '3' }), '200 in 12 ms, 4 B'],
  ['the other half', received({ [LIMIT]: '5' }), '200 in 12 ms, 4 B'],
  ['an empty limit', received({ [LEFT]: '', [LIMIT]: '5' }), '200 in 12 ms, 4 B'],
  [
    'no response',
    { ...SENT, kind: 'error', milliseconds: 7, error: new Error('closed') },
    'no response after 7 ms: closed',
  ],
  ['a wait', { ...SENT, kind: 'waiting', milliseconds: 30_000 }, 'no response for 30000 ms'],
  ['a retry', { ...SENT, kind: 'retry', count: 1, wait: 250, asked: 0 }, 'retry 1 after 250 ms'],
  [
    'slowing down',
    { ...SENT, kind: 'limit', asked: 0, refusedFor: 0 },
    'the service limits requests; one at a time',
  ],
  ['a renewal', { ...SENT, kind: 'renewal' }, '401, sent again with a renewed token'],
])('describeEvent formats %s', (_, event, line) => {
  expect(describeEvent(event)).toBe(`GET https://images.example.com/v2/image?page=2: ${line}`);
});
