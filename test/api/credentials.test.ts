// Secrets of requests, by value: what redaction has to know of.

import { expect, it } from 'vitest';
import { start } from '../support/client.ts';
import { failure } from '../support/errors.ts';

it('what must not show of a request is told before it is sent', async () => {
  const secrets: string[] = [];
  const { client } = await start(
    { 'GET /v2': { json: 1 }, 'POST /auth/request-token': { status: 401 } },
    { onSecret: (secret) => secrets.push(secret) },
  );
  const pair = (text: string) => Buffer.from(text).toString('base64');
  await client.serviceRoot();
  expect(secrets.splice(0)).toEqual(['T1', pair('T1:')]);
  await failure(client.requestToken('alice', 'hunter2', () => {}));
  expect(secrets).toEqual(['hunter2', pair('alice:hunter2')]);
});
