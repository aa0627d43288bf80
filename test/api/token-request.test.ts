// Tests the token request: its record, its limit and its errors.

import { describe, expect, it } from 'vitest';
import { connect, type ScriptedClientOptions } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');
const RECORD = { token: 'abc.def', duration: 3_600, exp: 1, exp_date: 'x', type: 'ACCESS' };

async function request(response: ScriptedResponse, options?: ScriptedClientOptions) {
  const { client, server } = await connect({ 'POST /auth/request-token': response }, options);
  return { requests: server.requests, issued: client.requestToken('ann', 'p:w') };
}

describe('a token request', () => {
  it('returns the token with its expiry and limit by the clock of this machine', async () => {
    const reset = String(NOW / 1000 + 60);
    const limits = { 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': reset };
    const headers = { ...limits, date: new Date(NOW).toUTCString() };
    const receivedAt = NOW + 3_600_000;
    const now = () => receivedAt;
    const { requests, issued } = await request({ json: RECORD, headers }, { now });
    const limit = { remaining: 4, resetsAt: receivedAt + 60_000 };
    const expiresAt = receivedAt + 3_600_000;
    expect(await issued).toEqual({ token: RECORD.token, receivedAt, expiresAt, limit });
    const pair = Buffer.from('ann:p:w').toString('base64');
    expect(requests[0]?.headers.authorization).toBe(`Basic ${pair}`);
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

  it('does not show a token in the error of a failed request', async () => {
    const { issued } = await request({ status: 500, json: RECORD });
    expect((await failure(issued)).message).toMatch(/request-token: 500$/);
  });

  it.each([undefined, 7, '', 'a b', 'a\nb', 'grün'])('rejects the token %j', async (token) => {
    const { issued } = await request({ json: { ...RECORD, token } });
    const message = expect.stringContaining('the body holds no access token');
    expect(await failure(issued)).toMatchObject({ code: 'bad-answer', message });
  });

  it.each([
    [401, { message: 'Bad credentials.' }, 'wrong-credentials'],
    [401, '<html>', 'wrong-credentials'],
    [404, '<html>', 'not-found'],
  ])('is sent once if it fails with %i %j', async (status, json, code) => {
    const { requests, issued } = await request({ status, json });
    expect((await failure(issued)).code).toBe(code);
    expect(requests).toHaveLength(1);
  });
});
