// Tests which requests are retried after a lost or refused connection.

import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { bytes, CHUNKED, clientOf, connect, GET, LENGTH_10, PATCH } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { unixOnly } from '../support/platform.ts';
import { DROP, RESET, type ScriptedResponse } from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';

describe.each<[string, ScriptedResponse]>([
  ['closed before the response', DROP],
  ['reset before the response', RESET],
  ['closed in the headers', bytes('HTTP/1.1 200 OK\r\ncont', true)],
  ['closed in the body', bytes(`${LENGTH_10}123`, true)],
  ['closed in a chunk', bytes(`${CHUNKED}5\r\nab`, true)],
])('after a connection was %s', (_, loss) => {
  it('GET is retried until its retries are used up', async () => {
    const script = { 'GET /v2': [loss, loss, { json: 1 }, loss] };
    const { client, server, sleeps } = await connect(script, { retries: 2 });
    expect((await client.send(GET)).status).toBe(200);
    expect(sleeps).toEqual([250, 500]);
    const { code, exitCode, message } = await failure(client.send(GET));
    expect([code, exitCode]).toEqual(['unreachable', 3]);
    expect(message).toBe(`cannot reach ${server.baseUrl}: the connection was closed`);
    expect(server.requests).toHaveLength(6);
  });

  it('PATCH is not retried and its outcome is unknown', async () => {
    const { client, server } = await connect({ 'PATCH /v2/user/image/vm': loss });
    const { code, exitCode, message, hint } = await failure(client.send(PATCH));
    expect([code, exitCode]).toEqual(['outcome-unknown', 3]);
    expect(message).toBe(`cannot reach ${server.baseUrl}: the connection was closed`);
    expect(hint).toBe('the PATCH may have taken effect: check before you send it again');
    expect(server.requests).toHaveLength(1);
  });

  it('a token request is not retried', async () => {
    const { client, server } = await connect({ 'POST /auth/request-token': loss });
    expect((await failure(client.requestToken('ann', 'secret'))).code).toBe('unreachable');
    expect(server.requests).toHaveLength(1);
  });
});

unixOnly('Windows drops a response before a reset')(
  'a connection reset after the response does not fail the request or the next one',
  async () => {
    const text = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1';
    const { client, server } = await connect({
      'GET /v2': { raw: (socket) => socket.write(text, () => socket.resetAndDestroy()) },
    });
    expect((await client.send(GET)).body.toString()).toBe('1');
    expect((await client.send(GET)).body.toString()).toBe('1');
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
  },
);

describe('without a connection', () => {
  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['GET', (client) => client.send(GET)],
    ['PATCH', (client) => client.send(PATCH)],
    ['token request', (client) => client.requestToken('a', 'b')],
  ])('a %s is retried', async (_, request) => {
    const { baseUrl } = await unusedPort();
    const { client, sleeps } = clientOf(baseUrl);
    const { code, exitCode, message } = await failure(request(client));
    expect([code, exitCode]).toEqual(['unreachable', 3]);
    expect(message).toBe(`cannot reach ${baseUrl}: the connection was refused`);
    expect(sleeps).toEqual([250, 500, 1_000, 2_000]);
  });

  it('a request to an unknown host is not retried', async () => {
    const { client, sleeps } = clientOf('http://does-not-exist.invalid');
    const { code, message } = await failure(client.send(GET));
    expect(code).toBe('unreachable');
    // Without a reachable name server the lookup fails in another way, which is retried.
    expect(sleeps).toHaveLength(message.includes('unknown host') ? 0 : 4);
  });
});
