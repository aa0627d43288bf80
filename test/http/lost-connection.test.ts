// Connections that are lost or never stand: what is safe is repeated, what was sent and is not never is.

import { describe, expect, it } from 'vitest';
import { bytes, CHUNKED, clientOf, GET, LENGTH_10, PATCH, start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { DROP, RESET, type ScriptedResponse } from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';

describe('lost connections', () => {
  const losses: [string, ScriptedResponse][] = [
    ['closed before the answer', DROP],
    ['reset before the answer', RESET],
    ['closed in the headers', bytes('HTTP/1.1 200 OK\r\ncont', true)],
    ['closed in the body', bytes(`${LENGTH_10}123`, true)],
    ['closed in a chunk', bytes(`${CHUNKED}5\r\nab`, true)],
  ];

  it.each(losses)('%s: a GET is repeated', async (_, loss) => {
    const { client, server, sleeps } = await start({ 'GET /v2': [loss, loss, { json: 1 }] });
    expect((await client.send(GET)).status).toBe(200);
    expect(server.requests).toHaveLength(3);
    expect(sleeps).toEqual([250, 500]);
  });

  it.each(losses)('%s: a GET is given up after its retries', async (_, loss) => {
    const { client, server } = await start({ 'GET /v2': loss }, { retries: 2 });
    const error = await failure(client.send(GET));
    expect([error.code, error.exitCode]).toEqual(['unreachable', 3]);
    expect(error.message).toBe(`cannot reach ${server.baseUrl}: the connection was closed`);
    expect(server.requests).toHaveLength(3);
  });

  it.each(losses)('%s: a PATCH is never repeated', async (_, loss) => {
    const { client, server } = await start({ 'PATCH /v2/user/image/vm': loss });
    const error = await failure(client.send(PATCH));
    expect([error.code, error.exitCode]).toEqual(['outcome-unknown', 3]);
    expect(error.message).toContain(
      `PATCH ${server.baseUrl}/v2/user/image/vm may have taken effect`,
    );
    expect(error.hint).toBe('check whether it took effect before you send it again');
    expect(server.requests).toHaveLength(1);
  });

  it.each(losses)('%s: a token request is never repeated', async (_, loss) => {
    const { client, server } = await start({ 'POST /auth/request-token': loss });
    expect((await failure(client.requestToken('ann', 'secret'))).code).toBe('unreachable');
    expect(server.requests).toHaveLength(1);
  });

  it('after the answer do no harm', async () => {
    const { client, server } = await start({
      'GET /v2': {
        raw: (socket) =>
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1', () =>
            socket.resetAndDestroy(),
          ),
      },
    });
    expect((await client.send(GET)).body.toString()).toBe('1');
    expect((await client.send(GET)).body.toString()).toBe('1');
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
  });
});

describe('no connection at all', () => {
  it.each([
    GET,
    PATCH,
    { method: 'POST', path: '/x', credentials: { username: 'a', password: 'b' } },
  ])('is tried again, since nothing was sent: %o', async (request) => {
    const { baseUrl } = await unusedPort();
    const { client, sleeps } = clientOf(baseUrl);
    const error = await failure(client.send(request));
    expect([error.code, error.exitCode]).toEqual(['unreachable', 3]);
    expect(error.message).toBe(`cannot reach ${baseUrl}: the connection was refused`);
    expect(sleeps).toEqual([250, 500, 1_000, 2_000]);
  });

  it('of a host that does not exist is final', async () => {
    const { client, sleeps } = clientOf('http://does-not-exist.invalid');
    const { code, message } = await failure(client.send(GET));
    expect(code).toBe('unreachable');
    // A resolver that is out of reach itself says so instead, and that may pass.
    if (message.includes('unknown host')) expect(sleeps).toEqual([]);
    else expect(sleeps).toHaveLength(4);
  });
});
