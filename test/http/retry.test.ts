// Tests which responses are retried, how often, and the wait before each retry.

import { describe, expect, it } from 'vitest';
import { rateLimitReset, requestedWait } from '../../src/http/headers.ts';
import { backoff, isRetryableStatus } from '../../src/http/retry.ts';
import { connect, GET } from '../support/client.ts';
import { failure, hintOf } from '../support/errors.ts';
import { rows } from '../support/rows.ts';
import { RESET, tokenResponse } from '../support/scripted-server.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');
const HOUR = 3_600_000;

it.each([
  ...rows(0, '0', 'Mon, 05 Jan 2026 09:00:00 GMT'),
  ...rows(7_000, '7', ' 7 ', '5, 7', '7,7'),
  ...rows(500, '0.5'),
  ...rows(1, '0.0001'),
  ...rows(31_536_000_000, '31536000'),
  ...rows(undefined, '-5', '', 'soon', '7 seconds', 'soon 5', '1e3'),
  ...rows(undefined, 'Mon, 99 Foo 2026 10:00:30 GMT', '2026-01-05T10:00:30', '2026-01-05'),
  ...rows(undefined, '7, soon', 'Infinity', '0x10', '\u0667'),
  ...rows(undefined, '(soon) Mon, 05 Jan 2026 10:00:30 GMT'),
  ...rows(30_000, 'Mon, 05 Jan 2026 10:00:30 GMT', 'Monday, 05-Jan-26 10:00:30 GMT'),
  ...rows(30_000, 'Mon Jan  5 10:00:30 2026', '  Mon, 05 Jan 2026 10:00:30 GMT '),
  ...rows(30_000, 'Mon, 05 Jan 2026 10:00:30 UTC', 'Mon, 05 Jan 2026 12:00:30 +0200'),
  ...rows(30_000, 'Mon, 05 Jan 2026 05:00:30 -0500', '2026-01-05T10:00:30Z'),
  ...rows(30_000, '2026-01-05t10:00:30z'),
  ...rows(365 * 24 * HOUR, 'Tue, 05 Jan 2027 10:00:00 GMT'),
  ...rows(30_500, '2026-01-05T12:00:30.5+02:00'),
  ...rows(8.64e15, '9'.repeat(20), '9'.repeat(400)),
])('Retry-After: %s is a wait of %s ms', (value, expected) => {
  const headers = { 'retry-after': value };
  expect(requestedWait({ headers, status: 503, receivedAt: NOW })).toBe(expected);
});

it('measures a Retry-After date by the clock of the service', () => {
  const [retryAfter, date] = ['Mon, 05 Jan 2026 10:00:30 GMT', 'Mon, 05 Jan 2026 10:00:10 GMT'];
  const headers = { 'retry-after': retryAfter, date };
  for (const receivedAt of [NOW + 5 * HOUR, NOW - 5 * HOUR]) {
    expect(requestedWait({ headers, status: 429, receivedAt })).toBe(20_000);
  }
});

it.each([
  ...rows(NOW + 60_000, `${NOW / 1000 + 60}`, `${NOW + 60_000}`, ' 60 ', `${NOW / 1000 + 60}, 30`),
  // Seconds from now below 1e8, seconds since 1970 below 1e11, else milliseconds since 1970.
  ...rows(NOW + 99_999_999_000, '99999999'),
  ...rows(100_000_000_000, '100000000', '100000000000'),
  ...rows(99_999_999_999_000, '99999999999'),
  ...rows(8.64e15, '9'.repeat(400)),
  ...rows(NOW, '0'),
  ...rows(undefined, '-60', '60;w=60', 'Mon, 05 Jan 2026 10:01:00 GMT', ''),
  ...rows(NOW + 1_500, '1.5'),
  ...rows(NOW + 60_250, `${NOW / 1000 + 60}.25`),
])('X-RateLimit-Reset: %s is the time %s', (value, expected) => {
  const headers = { 'x-ratelimit-reset': value };
  expect(rateLimitReset({ headers, status: 200, receivedAt: NOW })).toBe(expected);
});

it('converts X-RateLimit-Reset to the clock of this machine', () => {
  const date = 'Mon, 05 Jan 2026 10:00:00 GMT';
  for (const reset of [String(NOW / 1000 + 60), '60']) {
    const headers = { 'x-ratelimit-reset': reset, date };
    const response = { headers, status: 200, receivedAt: NOW + HOUR };
    expect(rateLimitReset(response)).toBe(NOW + HOUR + 60_000);
  }
});

it.each<[number, Record<string, string>, number | undefined]>([
  [429, { 'x-ratelimit-reset': '60' }, 60_000],
  [429, { 'x-ratelimit-reset': String(NOW / 1000 - 60) }, 0],
  [503, { 'x-ratelimit-reset': '60' }, undefined],
  [429, { 'retry-after': '5', 'x-ratelimit-reset': '60' }, 5_000],
  [429, { 'retry-after': '-5', 'x-ratelimit-reset': '60' }, 60_000],
  [429, { 'ratelimit-reset': '60' }, 60_000],
  [429, {}, undefined],
])('%i with the headers %j requests a wait of %s ms', (status, headers, expected) => {
  expect(requestedWait({ headers, status, receivedAt: NOW })).toBe(expected);
});

it.each([
  [1, 0, 125],
  [1, 1, 250],
  [2, 1, 500],
  [5, 1, 4_000],
  [6, 1, 8_000],
  [50, 0.5, 6_000],
])('the backoff before retry %i with random %d is %i ms', (retry, random, expected) => {
  expect(backoff(retry, random)).toBe(expected);
});

it('the four waits for a server that restarts take 15 to 18 s', () => {
  const waits = (random: number) => [1, 2, 3, 4].map((retry) => backoff(retry, random, true));
  expect([waits(0), waits(1)]).toEqual([
    [250, 1_000, 4_000, 10_000],
    [300, 1_200, 4_800, 12_000],
  ]);
});

it('isRetryableStatus is true only for 408, 429, 500, 502, 503 and 504', () => {
  const all = Array.from({ length: 500 }, (_, index) => 100 + index);
  expect(all.filter(isRetryableStatus)).toEqual([408, 429, 500, 502, 503, 504]);
});

describe('a request', () => {
  it.each([
    ...rows(2, 'GET 429', 'GET 500', 'GET 502', 'GET 503', 'GET 504', 'HEAD 503', 'OPTIONS 503'),
    ...rows(1, 'GET 400', 'GET 403', 'GET 404', 'GET 409', 'GET 501'),
    // A limit refuses a request before it has any effect.
    ...rows(2, 'PATCH 429', 'POST 429'),
    ...rows(1, 'PATCH 500', 'PATCH 503', 'POST 500', 'POST 503', 'PUT 503', 'DELETE 503'),
  ])('that is answered with %s is sent %i times', async (sent, count) => {
    const [method = '', status = ''] = sent.split(' ');
    const script = { [`${method} /v2`]: [{ status: Number(status) }, {}] };
    const { client, server } = await connect(script);
    const outcome = await client.send({ method, path: '/v2' }).catch((error) => error);
    expect(outcome.status).toBe(count === 2 ? 200 : Number(status));
    expect(server.requests).toHaveLength(count);
  });

  it('reports each response, error and retry', async () => {
    let time = 0;
    const elapsed = () => (time += 7);
    const script = { 'GET /v2': [{ status: 503 }, RESET, { json: 1 }] };
    const { client, events, server } = await connect(script, { elapsed });
    await client.send(GET);
    const url = new URL('/v2', server.baseUrl);
    expect(events).toMatchObject([
      { kind: 'response', response: { status: 503 }, milliseconds: 7 },
      { kind: 'retry', method: 'GET', url, count: 1, wait: 300, outage: 'returned 503' },
      { kind: 'error', method: 'GET', url, milliseconds: 7, error: expect.any(Error) },
      { kind: 'retry', method: 'GET', url, count: 2, wait: 1_200, outage: 'did not respond' },
      { kind: 'response', response: { status: 200 }, milliseconds: 7 },
    ]);
  });

  it('is retried and its token renewed without an observer', async () => {
    const script = { 'GET /v2': [{ status: 503 }, { status: 401 }, { json: 1 }] };
    const { client } = await connect(script, { onEvent: undefined, renewals: 1 });
    expect((await client.send(GET)).status).toBe(200);
  });

  it('waits as long as the response requests, and at least the backoff', async () => {
    const busyFor = (status: number, wait: string) => ({
      status,
      headers: { 'retry-after': wait },
    });
    const busy = [busyFor(500, '7'), busyFor(503, '0.1'), busyFor(500, 'soon'), busyFor(502, '60')];
    const { client, sleeps } = await connect({ 'GET /v2': [...busy, { json: 1 }] });
    expect((await client.send(GET)).status).toBe(200);
    expect(sleeps).toEqual([7_000, 1_200, 1_000, 60_000]);
  });

  const LIMITS = ['retry-after', 'x-ratelimit-reset'];
  it.each(LIMITS)('is not retried if %s requests more than 60 s', async (name) => {
    const now = () => Date.parse('2026-01-05T10:00:00.500Z');
    const limited = { status: 429, headers: { [name]: '61' } };
    const { client, server, sleeps } = await connect(() => limited, { now });
    const error = await failure(client.send(GET));
    const { code, exitCode } = error;
    expect({ code, exitCode }).toEqual({ code: 'rate-limited', exitCode: 6 });
    expect(hintOf(error)).toMatch(/^try again at \d\d:\d\d:02 \(in 1 min 2 s\)$/);
    expect({ requests: server.requests.length, sleeps }).toEqual({ requests: 1, sleeps: [] });
  });

  it.each([
    [0, 1],
    [2, 3],
  ])('with %i retries is sent %i times', async (retries, count) => {
    const { client, server } = await connect(() => ({ status: 503 }), { retries });
    expect((await failure(client.serviceRoot())).code).toBe('server-error');
    expect(server.requests).toHaveLength(count);
  });

  it('fails at once if the wait is aborted', async () => {
    const abort = new AbortController();
    const sleep = async (_: number, signal: AbortSignal) => {
      abort.abort(new Error('stop'));
      signal.throwIfAborted();
    };
    const { signal } = abort;
    const { client, server } = await connect(() => ({ status: 503 }), { signal, sleep });
    await expect(client.send(GET)).rejects.toThrow('stop');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a token request', () => {
  const TOKEN = 'POST /auth/request-token';
  const issued = tokenResponse('T2');

  it.each([
    // It may have counted.
    ['502', [{ status: 502 }, issued], 1, 'server-error', []],
    ['504', [{ status: 504 }, issued], 1, 'server-error', []],
    ['no response', [RESET, issued], 1, 'unreachable', []],
  ])('that is answered with %s is repeated only if it did not count', async (...row) => {
    const [, responses, count, outcome, waits] = row;
    const { client, server, sleeps } = await connect({
      [TOKEN]: responses,
      'GET /v2': { json: 1 },
    });
    await client.send(GET);
    const result = await client.requestToken('ann', 'p:w').catch((error) => error);
    expect([result.token ?? result.code, sleeps]).toEqual([outcome, waits]);
    expect(server.requests).toHaveLength(count + 1);
  });

  it.each([
    ['at first', false, [250, 500, 1_000, 2_000]],
    ['after a response', true, [300, 1_200, 4_800, 12_000]],
  ])('is patient if the connection is refused %s', async (_, hasResponded, waits) => {
    const { client, server, sleeps } = await connect({ 'GET /v2': { json: 1 } });
    if (hasResponded) await client.send(GET);
    await server.close();
    const error = await failure(client.requestToken('ann', 'p:w'));
    expect([error.code, sleeps]).toEqual(['unreachable', waits]);
  });
});
