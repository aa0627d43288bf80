// Tests how requests are authorized, the renewal of a refused token, and the token request.

import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { ImgctlError } from '../../src/errors.ts';
import { connect, GET, PATCH, type ScriptedClientOptions } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import {
  errorResponse,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';

const REFUSED = errorResponse(401, 'Invalid token.');

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a request to the service', () => {
  it.each([
    ['bearer', 'Bearer T1'],
    ['basic', `Basic ${base64('T1:')}`],
  ] as const)('sends the token by the scheme %s', async (authScheme, authorization) => {
    const { client, server } = await connect({ 'GET /v2': { json: 1 } }, { authScheme });
    expect(await client.serviceRoot()).toBe(1);
    const coding = { 'accept-encoding': 'gzip, br', 'user-agent': 'imgctl-test' };
    const headers = { authorization, accept: 'application/json', ...coding };
    expect(server.requests[0]?.headers).toMatchObject(headers);
  });

  it('reports its secrets before it sends them', async () => {
    const secrets: string[] = [];
    const script = { 'GET /v2': { json: 1 }, 'POST /auth/request-token': { status: 401 } };
    const { client } = await connect(script, { onSecret: (secret) => secrets.push(secret) });
    await client.serviceRoot();
    expect(secrets.splice(0)).toEqual(['T1', base64('T1:')]);
    await failure(client.requestToken('alice', 'hunter2'));
    expect(secrets).toEqual(['hunter2', base64('alice:hunter2')]);
  });

  it('is not sent if its URL has another origin', async () => {
    const { client, server } = await connect({});
    const foreign = await scriptedServer({});
    const path = `${foreign.baseUrl}/v2`;
    expect((await failure(client.send({ method: 'GET', path }))).code).toBe('usage');
    expect([...server.requests, ...foreign.requests]).toEqual([]);
  });

  it('has no effect if it is interrupted during the wait after a refusal', async () => {
    const sleep = () => Promise.reject(new ImgctlError('interrupted', 'interrupted'));
    const { client } = await connect(() => ({ status: 429 }), { sleep });
    const error = await failure(client.submitSync());
    expect(error).toMatchObject({ message: 'interrupted', facts: undefined });
  });

  it('is not sent if the signal is already aborted', async () => {
    const signal = AbortSignal.abort(new Error('stop'));
    const { client, server } = await connect({}, { signal });
    await expect(client.send(GET)).rejects.toThrow('stop');
    expect(server.requests).toEqual([]);
  });
});

describe('a refused token', () => {
  it.each([GET, PATCH])('is renewed once and the request sent again: %o', async (request) => {
    const { client, server, tokens, events } = await connect(
      ({ headers }) => (headers.authorization === 'Bearer T2' ? { json: {} } : REFUSED),
      { renewals: 9 },
    );
    expect((await client.send(request)).status).toBe(200);
    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer T1', 'Bearer T2']);
    expect(tokens.refusals).toEqual([['T1', false]]);
    const url = new URL(request.path, server.baseUrl);
    expect(events[1]).toEqual({ kind: 'renewal', method: request.method, url });
  });

  it.each([
    [200, true],
    // A gateway responds without a look at the token.
    [403, false],
    [429, false],
    [502, false],
    [503, false],
  ])('after an earlier response of %i is reported as accepted: %s', async (status, accepted) => {
    const script = { 'GET /v2': [{ status, json: 1 }, REFUSED, { json: 1 }] };
    const { client, tokens } = await connect(script, { renewals: 1, retries: 0 });
    await client.send(GET).catch(() => {});
    await client.send(GET);
    expect(tokens.refusals).toEqual([['T1', accepted]]);
  });

  it.each([
    [GET, 1, 2],
    // Each is of another process; the source of tokens gives no second one that is fresh.
    [PATCH, 3, 4],
    [GET, 0, 1],
  ])('fails %o with %i renewals left after %i requests', async (request, renewals, count) => {
    const { client, server } = await connect(() => REFUSED, { renewals });
    const error = await failure(client.send(request));
    expect(error).toMatchObject({
      code: 'token-refused',
      exitCode: 4,
      facts: { kind: 'token-refused' },
    });
    expect(error.message).toContain('Invalid token');
    expect(server.requests).toHaveLength(count);
  });

  it('is not renewed if the user is not authorized', async () => {
    const denied = errorResponse(401, 'User is not authorized to access.');
    const { client, server, tokens } = await connect(() => denied, { renewals: 9 });
    expect((await failure(client.send(GET))).code).toBe('not-permitted');
    expect(tokens.refusals).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('is renewed once after a page, whose maker is not the service if it persists', async () => {
    const { client, server } = await connect(() => ({ status: 401, body: '<html>' }), {
      renewals: 1,
    });
    expect((await failure(client.send(GET))).code).toBe('bad-answer');
    expect(server.requests).toHaveLength(2);
  });

  it('is renewed although the service calls it a wrong password', async () => {
    const refused = errorResponse(401, 'Invalid username and password combination.');
    const script = { 'GET /v2': [refused, { json: 1 }] };
    const { client } = await connect(script, { renewals: 1, authScheme: 'basic' });
    expect((await client.send(GET)).status).toBe(200);
    const error = await failure((await connect(() => refused)).client.send(GET));
    expect(error).toMatchObject({ code: 'token-refused', facts: { kind: 'token-refused' } });
  });
});

const NOW = Date.parse('2026-01-05T10:00:00Z');
const RECORD = { token: 'abc.def', duration: 3_600, exp: 1, exp_date: 'x', type: 'ACCESS' };

async function request(response: ScriptedResponse, options?: ScriptedClientOptions) {
  const script = { 'POST /auth/request-token': response };
  const { client, server, tokens } = await connect(script, options);
  return { requests: server.requests, tokens, issued: client.requestToken('ann', 'p:w') };
}

describe('a token request', () => {
  it('returns the token with its expiry and limit by the clock of this machine', async () => {
    const reset = String(NOW / 1000 + 60);
    // A proxy may have added one of its own.
    const limits = { 'x-ratelimit-remaining': '5, 4', 'x-ratelimit-reset': reset };
    const headers = { ...limits, date: new Date(NOW).toUTCString() };
    const receivedAt = NOW + 3_600_000;
    const now = () => receivedAt;
    const { requests, issued } = await request({ json: RECORD, headers }, { now });
    const limit = { remaining: 4, resetsAt: receivedAt + 60_000 };
    const expiresAt = receivedAt + 3_600_000;
    expect(await issued).toEqual({ token: RECORD.token, receivedAt, expiresAt, limit });
    expect(requests[0]?.headers.authorization).toBe(`Basic ${base64('ann:p:w')}`);
    expect(requests[0]?.headers['content-length'] ?? '0').toBe('0');
  });

  it.each([
    ...[undefined, null, 0, -1, '3600'].map((duration) => [duration, 86_400] as const),
    [1e308, 315_360_000] as const,
  ])('turns a duration of %j into %i seconds', async (duration, seconds) => {
    const { issued } = await request({ json: { ...RECORD, duration } });
    const { receivedAt, expiresAt, limit } = await issued;
    expect(expiresAt - receivedAt).toBe(seconds * 1_000);
    expect(limit).toEqual({ remaining: undefined, resetsAt: undefined });
  });

  it.each([
    [' 4', 4],
    ['5,4', 4],
    ['4,', undefined],
    ['-1', undefined],
    ['9'.repeat(400), undefined],
    ['4, many', undefined],
  ])('reads from the header %j that %j requests are left', async (header, remaining) => {
    const { issued } = await request({
      json: RECORD,
      headers: { 'x-ratelimit-remaining': header },
    });
    expect((await issued).limit.remaining).toBe(remaining);
  });

  it('does not show a token in the error of a failed request', async () => {
    const { issued } = await request({ status: 500, json: RECORD });
    expect((await failure(issued)).message).toMatch(/request-token: 500$/);
  });

  const TOKENS = [undefined, 7, '', 'a b', 'a\nb', 'grün', 'x'.repeat(8_193)];
  const cases = TOKENS.map((token) => [`${token}`.slice(0, 10), token] as const);
  it.each(cases)('rejects the token %j', async (_start, token) => {
    const { issued } = await request({ json: { ...RECORD, token } });
    const message = expect.stringContaining('the body holds no access token of up to 8 KiB');
    expect(await failure(issued)).toMatchObject({ code: 'bad-answer', message });
  });

  it('accepts a token of 8 KiB', async () => {
    const token = 'x'.repeat(8_192);
    const { issued } = await request({ json: { ...RECORD, token } });
    expect((await issued).token).toBe(token);
  });

  it.each([
    [
      401,
      { message: 'Bad.' },
      'wrong-credentials',
      'the service refused the user name and password: Bad',
    ],
    [
      401,
      {},
      'wrong-credentials',
      'the service refused the user name and password: no reason given',
    ],
    [401, '<html>', 'bad-answer', '401, with HTML instead of JSON'],
    [404, '<html>', 'failed', '404, with HTML instead of JSON'],
    [429, {}, 'rate-limited', 'too many requests'],
    [500, {}, 'server-error', '500'],
    [502, {}, 'server-error', '502'],
    [504, {}, 'server-error', '504'],
  ])(
    'is sent once, and renews no token, if it fails with %i %j',
    async (status, json, code, text) => {
      const response = typeof json === 'string' ? { status, body: json } : { status, json };
      const { requests, issued, tokens } = await request(response, { renewals: 9 });
      const error = await failure(issued);
      const message = error.message.replace(/^POST \S+: /, '');
      expect({ code: error.code, message }).toEqual({ code, message: text });
      expect({ requests: requests.length, refusals: tokens.refusals }).toEqual({
        requests: 1,
        refusals: [],
      });
    },
  );

  it('is sent again after 503, which has not counted, as patiently as any other', async () => {
    const { client, sleeps } = await connect({
      'POST /auth/request-token': [{ status: 503 }, { status: 503 }, { json: RECORD }],
    });
    expect(await client.requestToken('alice', 'x')).toMatchObject({ token: RECORD.token });
    expect(sleeps).toEqual([300, 1_200]);
  });
});

describe('a new token', () => {
  const answering = async (responses: readonly ScriptedResponse[], renewals = 1) => {
    const user = await connect({ 'GET /v2': responses }, { renewals });
    user.tokens.isYoung = true;
    return user;
  };

  it.each([REFUSED, errorResponse(401, 'INVALID TOKEN')])(
    'is tried once more a second after %j, before it is renewed',
    async (refused) => {
      const { client, tokens, sleeps } = await answering([refused, { json: 1 }]);
      expect(await client.serviceRoot()).toBe(1);
      expect({ sleeps, refusals: tokens.refusals }).toEqual({ sleeps: [1_000], refusals: [] });
    },
  );

  it('is tried once more if it is the renewed one', async () => {
    const { client, tokens } = await answering([REFUSED, REFUSED, REFUSED, { json: 1 }]);
    expect(await client.serviceRoot()).toBe(1);
    expect(tokens.refusals).toEqual([['T1', false]]);
  });

  it.each([
    ['has expired', errorResponse(401, 'Valid token, but has expired.'), true],
    ['is revoked', errorResponse(401, 'Invalid token, as it was revoked.'), true],
    ['is refused otherwise', errorResponse(401, 'Not a valid or an invalid token.'), true],
    ['is unknown, but old', REFUSED, false],
  ])('is not tried again if it %s', async (_, response, isYoung) => {
    const { client, tokens, sleeps } = await answering([response, { json: 1 }]);
    tokens.isYoung = isYoung;
    expect(await client.serviceRoot()).toBe(1);
    expect({ sleeps, count: tokens.refusals.length }).toEqual({ sleeps: [], count: 1 });
  });
});

describe('a redirect', () => {
  const to = (location: string) => ({ status: 301, headers: { location } });

  it('that only adds the last slash of the path is followed once by a GET of the service', async () => {
    const page = { json: { data: [], meta: { pages: { total: 0, pages: 0 } } } };
    const { client, server } = await connect(({ url }) =>
      url.pathname.endsWith('/') ? page : to(`${url.pathname}/${url.search}`),
    );
    await client.listImages({ perPage: 5, sort: 'id,desc' }, 1);
    const [first, second, ...others] = server.requests.map(({ url }) => url);
    expect([first?.pathname, second?.pathname, others]).toEqual(['/v2/image', '/v2/image/', []]);
    expect(second?.search).toBe(first?.search);
  });

  it.each([
    ['another query', '/v2/?x=1'],
    ['another host', 'http://127.0.0.2/v2/'],
    ['another path', '/login'],
    ['itself', '/v2'],
  ])('to %s is an error', async (_, location) => {
    const { client, server } = await connect(() => to(location));
    expect(await failure(client.serviceRoot())).toMatchObject({ code: 'failed', status: 301 });
    expect(server.requests).toHaveLength(1);
  });

  it('with a slash that redirects again is an error', async () => {
    const { client, server } = await connect(({ url }) =>
      to(url.pathname.endsWith('/') ? '/v2' : '/v2/'),
    );
    expect((await failure(client.serviceRoot())).code).toBe('failed');
    expect(server.requests).toHaveLength(2);
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['a submit', (client) => client.submitSync()],
    ['a token request', (client) => client.requestToken('alice', 'x')],
    ['a raw request', (client) => client.send(GET)],
  ])('of %s is not followed', async (_, send) => {
    const { client, server } = await connect(({ url }) => to(`${url.pathname}/`));
    await send(client).catch(() => {});
    expect(server.requests).toHaveLength(1);
  });
});

it('an error record in a response of status 200 counts as its status, also for retries', async () => {
  const record = { json: { error: 'server error', message: 'Down.', status: 500 } };
  const { client, server } = await connect({ 'GET /v2': [record, record, { json: 1 }] });
  expect(await client.serviceRoot()).toBe(1);
  expect(server.requests).toHaveLength(3);
  expect((await (await connect({ 'GET /v2': record })).client.send(GET)).status).toBe(200);
});
