// The limit of token requests as a service may tell it: in half.

import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { serverOf } from '../support/scripted-server.ts';
import { sessionWith } from './harness.ts';

it.each([
  ['what is left', { 'x-ratelimit-remaining': '1' }],
  ['when it ends', { 'x-ratelimit-reset': '60' }],
])('a limit of which only %s is told changes nothing of the one known', async (_, half) => {
  const issue = { token: 'T', duration: 3_600 };
  const whole = { 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '60' };
  const server = await serverOf({
    'POST /auth/request-token': [
      { json: issue, headers: whole },
      { json: issue, headers: half },
    ],
  });
  const { tokens, cache } = await sessionWith(server.baseUrl, temporaryDirectory());
  await tokens?.login('demo');
  await tokens?.login('demo');
  expect(cache.readLimit(Date.now())?.remaining).toBe(3);
});
