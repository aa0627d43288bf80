// One image, the user's own images and the token request: their records, read or refused.

import { describe, expect, it } from 'vitest';
import { start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');

describe('one image', () => {
  it.each([
    ['wrapped', { data: { id: 7, name: 'a.ova' }, meta: {} }],
    ['bare', { id: 7, name: 'a.ova' }],
  ])('%s', async (_, json) => {
    const { client } = await start({ 'GET /v2/image/7': { json } });
    expect(await client.getImage(7)).toEqual({ id: 7, name: 'a.ova' });
  });

  it.each<[string, ScriptedResponse, string]>([
    ['is missing', { status: 404, json: { message: 'No such image.' } }, 'not-found'],
    ['is null', { json: { data: null } }, 'bad-answer'],
    ['is a list', { json: { data: [{ id: 7 }] } }, 'bad-answer'],
    ['has a huge id', { json: { id: 2 ** 53 } }, 'bad-answer'],
  ])('%s', async (_, answer, code) => {
    const { client } = await start({ 'GET /v2/image/7': answer });
    expect((await failure(client.getImage(7))).code).toBe(code);
  });
});

describe("the user's own images", () => {
  it.each([[{ count: 2 }], [{ count: 1 }], [{}]])('with meta %j', async (meta) => {
    const json = { data: [{ id: 1 }, { id: 2 }], meta };
    const { client } = await start({ 'GET /v2/user/image/vm': { json } });
    expect(await client.listUserImages()).toEqual({ images: json.data, meta });
  });

  it.each([
    [{ data: [{ id: 1 }], meta: { count: 2 } }],
    [{ data: [{ id: 1 }], meta: { count: 1, pages: { total: 2 } } }],
    [{ data: ['http://x/1'], meta: {} }],
    [{ data: [{ id: 2 ** 53 }], meta: {} }],
  ])('are not %j', async (json) => {
    const { client } = await start({ 'GET /v2/user/image/vm': { json } });
    expect((await failure(client.listUserImages())).code).toBe('bad-answer');
  });
});

describe('a token', () => {
  const POST = 'POST /auth/request-token';
  const RECORD = { token: 'abc.def', duration: 3_600, exp: 1, exp_date: 'x', type: 'ACCESS' };

  it('comes with its record and limit', async () => {
    const headers = {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '4',
      'x-ratelimit-reset': String(NOW / 1000 + 60),
      date: new Date(NOW).toUTCString(),
    };
    // The clock of this machine is an hour ahead.
    const now = () => NOW + 3_600_000;
    const { client, server } = await start({ [POST]: { json: RECORD, headers } }, { now });
    expect(await client.requestToken('ann', 'p:w')).toEqual({
      token: RECORD.token,
      receivedAt: now(),
      expiresAt: now() + 3_600_000,
      limit: { remaining: 4, resetsAt: now() + 60_000 },
    });
    expect(server.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('ann:p:w').toString('base64')}`,
    );
    expect(server.requests[0]?.headers['content-length'] ?? '0').toBe('0');
  });

  it.each([undefined, null, 0, -1, '3600', 'x'])(
    'with duration %j lasts a day',
    async (duration) => {
      const { client } = await start({ [POST]: { json: { ...RECORD, duration } } });
      const { receivedAt, expiresAt, limit } = await client.requestToken('ann', 'pw');
      expect(expiresAt - receivedAt).toBe(86_400_000);
      expect(limit).toEqual({ remaining: undefined, resetsAt: undefined });
    },
  );

  it('lasts no longer than a clock can show', async () => {
    const { client } = await start({ [POST]: { json: { ...RECORD, duration: 1e308 } } });
    const { receivedAt, expiresAt } = await client.requestToken('ann', 'pw');
    expect(expiresAt - receivedAt).toBe(315_360_000_000);
  });

  it('is looked for at the wrong place: the hint says so', async () => {
    const { client } = await start({ [POST]: { status: 404, body: '<html>' } });
    const { hint } = await failure(client.requestToken('ann', 'pw'));
    expect(hint).toBe('check that the base URL is correct: imgctl config list');
  });

  it('is not shown though it comes with a failure', async () => {
    const { client } = await start({ [POST]: { status: 500, json: RECORD } });
    const error = await failure(client.requestToken('ann', 'pw'));
    expect(error.message).toMatch(/request-token: 500$/);
  });

  it.each([undefined, null, 7, '', 'a b', 'a\nb', 'grün'])('is not %j', async (token) => {
    const { client } = await start({ [POST]: { json: { ...RECORD, token } } });
    const error = await failure(client.requestToken('ann', 'pw'));
    expect(error.code).toBe('bad-answer');
    expect(error.message).toContain('it holds no access token');
  });

  it.each([
    [401, { message: 'Invalid username and password combination.' }, 'wrong-credentials'],
    [401, { message: 'Bad credentials.' }, 'wrong-credentials'],
    [401, '<html>', 'wrong-credentials'],
    [401, { message: 'User is not authorized to access.' }, 'not-permitted'],
    [429, {}, 'rate-limited'],
    [302, {}, 'failed'],
    [404, '<html>', 'not-found'],
  ])('is refused with %i %j', async (status, json, code) => {
    const { client, server } = await start({ [POST]: { status, json } });
    expect((await failure(client.requestToken('ann', 'pw'))).code).toBe(code);
    expect(server.requests).toHaveLength(1);
  });
});
