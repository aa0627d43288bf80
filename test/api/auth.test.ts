// The HTTP function: what is sent, when it is sent again, renewal after a 401, and that nothing is followed.

import { describe, expect, it } from 'vitest';
import { clientOf, GET, PATCH, start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { errorResponse, RESET, scriptedServer } from '../support/scripted-server.ts';

const REFUSED = errorResponse(401, 'Invalid token.');
const DENIED = errorResponse(401, 'User is not authorized to access.');

describe('a request', () => {
  it.each([
    ['bearer', 'Bearer T1'],
    ['basic', `Basic ${Buffer.from('T1:').toString('base64')}`],
  ] as const)('carries the token, scheme %s', async (authScheme, authorization) => {
    const { client, server } = await start({ 'GET /v2': { json: 1 } }, { authScheme });
    expect(await client.serviceRoot()).toBe(1);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization,
      accept: 'application/json',
      'user-agent': 'imgctl-test',
    });
  });

  it('keeps the path prefix of the base URL', async () => {
    const server = await scriptedServer({ 'GET /api/v2': { json: 1 } });
    await clientOf(`${server.baseUrl}/api`).client.serviceRoot();
    expect(server.requests.map(({ target }) => target)).toEqual(['/api/v2']);
  });

  it('of another origin is not sent at all', async () => {
    const { client, server } = await start({});
    const foreign = await scriptedServer({});
    const path = `${foreign.baseUrl}/v2`;
    expect((await failure(client.send({ method: 'GET', path }))).code).toBe('usage');
    expect([...server.requests, ...foreign.requests]).toEqual([]);
  });

  it.each(['GET', 'PATCH'])('%s is not redirected', async (method) => {
    const foreign = await scriptedServer({});
    const { client, server } = await start(() => ({
      status: 307,
      headers: { location: `${foreign.baseUrl}/elsewhere?token=x` },
    }));
    const call = method === 'GET' ? client.serviceRoot() : client.submitSync();
    const error = await failure(call);
    expect([error.code, error.status]).toEqual(['failed', 307]);
    expect(error.message).toContain(`redirected to ${foreign.baseUrl}/elsewhere (307)`);
    expect(server.requests).toHaveLength(1);
    expect(foreign.requests).toEqual([]);
  });

  it('given up beforehand is not sent', async () => {
    const { client, server } = await start({}, { signal: AbortSignal.abort(new Error('stop')) });
    await expect(client.send(GET)).rejects.toThrow('stop');
    expect(server.requests).toEqual([]);
  });
});

describe('a passing failure', () => {
  const METHODS = ['GET', 'HEAD', 'OPTIONS'];

  it.each([429, 500, 502, 503, 504])('%i: what only reads is tried again', async (status) => {
    for (const method of METHODS) {
      const { client, server } = await start({ [`${method} /v2`]: [{ status }, {}] });
      expect((await client.send({ method, path: '/v2' })).status).toBe(200);
      expect(server.requests).toHaveLength(2);
    }
  });

  it('is told, with what it took', async () => {
    let now = 0;
    const { client, events, server } = await start(
      { 'GET /v2': [{ status: 503 }, RESET, { json: 1 }] },
      {
        now: () => {
          now += 7;
          return now;
        },
      },
    );
    await client.send(GET);
    const url = new URL('/v2', server.baseUrl);
    expect(events).toMatchObject([
      { kind: 'response', response: { status: 503 }, milliseconds: 14 },
      { kind: 'retry', method: 'GET', url, count: 1, wait: 250 },
      { kind: 'error', method: 'GET', url, milliseconds: 7, error: expect.any(Error) },
      { kind: 'retry', method: 'GET', url, count: 2, wait: 500 },
      { kind: 'response', response: { status: 200 }, milliseconds: 14 },
    ]);
  });

  it('is tried again where nobody wants to hear of it, too', async () => {
    const script = { 'GET /v2': [{ status: 503 }, { status: 401 }, { json: 1 }] };
    const { client } = await start(script, { onEvent: undefined, renewals: 1 });
    expect((await client.send(GET)).status).toBe(200);
  });

  it.each([
    [500, 'server-error'],
    [503, 'server-error'],
    [429, 'rate-limited'],
  ])('%i: PATCH and the token request are sent once', async (status, code) => {
    const { client, server } = await start(() => ({ status }));
    expect((await failure(client.submitSync())).code).toBe(code);
    expect((await failure(client.requestToken('ann', 'secret'))).code).toBe(code);
    expect(server.requests).toHaveLength(2);
  });

  it.each([400, 403, 404, 409, 501])('%i is final', async (status) => {
    const { client, server } = await start(() => ({ status }));
    expect((await client.send(GET)).status).toBe(status);
    expect(server.requests).toHaveLength(1);
  });

  it('is waited out as the service asks, never shorter than the backoff', async () => {
    const { client, sleeps } = await start({
      'GET /v2': [
        { status: 429, headers: { 'retry-after': '7' } },
        { status: 503, headers: { 'retry-after': '0' } },
        { status: 429, headers: { 'retry-after': 'soon' } },
        { status: 429, headers: { 'retry-after': '60' } },
        { json: 1 },
      ],
    });
    expect((await client.send(GET)).status).toBe(200);
    expect(sleeps).toEqual([7_000, 500, 1_000, 60_000]);
  });

  it.each([
    ['Retry-After', { 'retry-after': '61' }],
    ['X-RateLimit-Reset', { 'x-ratelimit-reset': '61' }],
  ])('is not waited for where %s is beyond the limit', async (_, headers) => {
    const now = Date.parse('2026-01-05T10:00:00.500Z');
    const { client, server, sleeps } = await start(() => ({ status: 429, headers }), {
      now: () => now,
    });
    const error = await failure(client.send(GET));
    expect([error.code, error.exitCode, error.hint]).toEqual([
      ...['rate-limited', 6, 'try again after 2026-01-05T10:01:02Z'],
    ]);
    expect(server.requests).toHaveLength(1);
    expect(sleeps).toEqual([]);
  });

  it.each([
    [0, 1],
    [2, 3],
  ])('with %i retries is asked for %i times', async (retries, count) => {
    const { client, server } = await start(() => ({ status: 503 }), { retries });
    expect((await failure(client.serviceRoot())).code).toBe('server-error');
    expect(server.requests).toHaveLength(count);
  });

  it('ends at once when the wait is aborted', async () => {
    const abort = new AbortController();
    const { client, server } = await start(() => ({ status: 503 }), {
      signal: abort.signal,
      sleep: async (_, signal) => {
        abort.abort(new Error('stop'));
        signal.throwIfAborted();
      },
    });
    await expect(client.send(GET)).rejects.toThrow('stop');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a refused token', () => {
  const authorizations = (
    requests: readonly { headers: { authorization?: string | undefined } }[],
  ) => requests.map(({ headers }) => headers.authorization);

  it.each([GET, PATCH])('is renewed once and the request sent again: %o', async (request) => {
    const { client, server, tokens, events } = await start(
      ({ headers }) => (headers.authorization === 'Bearer T2' ? { json: {} } : REFUSED),
      { renewals: 9 },
    );
    expect((await client.send(request)).status).toBe(200);
    expect(authorizations(server.requests)).toEqual(['Bearer T1', 'Bearer T2']);
    expect(tokens.refusals).toEqual([['T1', false]]);
    expect(events[1]).toEqual({
      kind: 'renewal',
      method: request.method,
      url: new URL(request.path, server.baseUrl),
    });
  });

  it('is known to have been good before', async () => {
    const { client, tokens } = await start(
      { 'GET /v2': [{ json: 1 }, REFUSED, { json: 1 }] },
      { renewals: 1 },
    );
    await client.send(GET);
    await client.send(GET);
    expect(tokens.refusals).toEqual([['T1', true]]);
  });

  it.each([GET, PATCH])('ends where the next one is refused too: %o', async (request) => {
    const { client, server } = await start(() => REFUSED, { renewals: 9 });
    const error = await failure(client.send(request));
    expect([error.code, error.exitCode, error.hint]).toEqual(['token-refused', 4, 'log in again']);
    expect(error.message).toContain('Invalid token');
    expect(server.requests).toHaveLength(2);
  });

  it('ends at once where there is no way to another', async () => {
    const { client, server } = await start(() => REFUSED);
    expect((await failure(client.send(GET))).code).toBe('token-refused');
    expect(server.requests).toHaveLength(1);
  });

  it('is not renewed for a user who is not permitted', async () => {
    const { client, server, tokens } = await start(() => DENIED, { renewals: 9 });
    expect((await failure(client.send(GET))).code).toBe('not-permitted');
    expect(tokens.refusals).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('is renewed although the service calls it a wrong password, as it may with the basic scheme', async () => {
    const message = 'Invalid username and password combination.';
    const { client } = await start(
      { 'GET /v2': [{ status: 401, json: { message } }, { json: 1 }] },
      { renewals: 1, authScheme: 'basic' },
    );
    expect((await client.send(GET)).status).toBe(200);
  });

  it('is no reason to renew for a token request', async () => {
    const { client, server, tokens } = await start(() => REFUSED, { renewals: 9 });
    await failure(client.requestToken('ann', 'secret'));
    expect(tokens.refusals).toEqual([]);
    expect(authorizations(server.requests)).toEqual([
      `Basic ${Buffer.from('ann:secret').toString('base64')}`,
    ]);
  });
});
