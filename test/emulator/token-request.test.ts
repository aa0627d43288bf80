// POST /auth/request-token over a real socket: section 4.1, its rows of section 7, and the limit of section 8.

import { describe, expect, it } from 'vitest';
import type { ErrorRecord, TokenRecord } from '../../src/api/types.ts';
import { basic, START, startService } from './harness.ts';

const WRONG = 'Invalid username and password combination.';
const NOT_PERMITTED = 'User is not authorized to access.';

describe('a token request', () => {
  it('answers with the token record of section 2.1', async () => {
    const service = await startService();
    const { status, body } = await service.requestToken<TokenRecord>('demo', 'demo');
    expect(status).toBe(200);
    expect(body).toEqual({
      duration: 86400,
      exp: START / 1000 + 86400,
      exp_date: '2025-01-16 Thu 07:00:00 EST',
      token: expect.stringMatching(/^\S{20,}$/),
      type: 'ACCESS',
    });
  });

  it('carries every header of section 4.1', async () => {
    const service = await startService();
    const { headers } = await service.requestToken('demo', 'demo');
    expect(Object.fromEntries(headers)).toMatchObject({
      allow: 'POST, OPTIONS',
      'content-type': 'application/json',
      'strict-transport-security': 'max-age=63072000',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '4',
      'x-ratelimit-reset': String(START / 1000 + 60),
    });
  });

  it('gives another token each time, and both are valid', async () => {
    const service = await startService();
    const [first, second] = [await service.login(), await service.login()];
    expect(first).not.toEqual(second);
    expect((await service.send('GET', '/v2', first)).status).toBe(200);
    expect((await service.send('GET', '/v2', second)).status).toBe(200);
  });

  it.each([
    ['a wrong password', basic('demo', 'wrong'), WRONG],
    ['a name nobody has', basic('nobody', 'demo'), WRONG],
    ['a name that objects have', basic('__proto__', ''), WRONG],
    ['no credentials', {}, WRONG],
    ['credentials that are not Base64', { Authorization: 'Basic ???' }, WRONG],
    ['credentials without a colon', { Authorization: 'Basic ZGVtbw==' }, WRONG],
    ['another scheme', { Authorization: 'Bearer demo' }, WRONG],
    ['the wrong password of a user without permission', basic('guest', 'wrong'), WRONG],
    ['a user without permission', basic('guest', 'secret'), NOT_PERMITTED],
  ])('refuses %s', async (_case, credentials, message) => {
    const service = await startService({ deniedUsers: [{ name: 'guest', password: 'secret' }] });
    const { status, headers, body } = await service.send(
      'POST',
      '/auth/request-token',
      credentials,
    );
    expect(status).toBe(401);
    expect(body).toEqual({ error: 'authentication error', message, status: 401 });
    expect(headers.get('Allow')).toBe('POST, OPTIONS');
    expect(headers.get('Location')).toBeNull();
  });

  it('takes a password with a colon and letters beyond ASCII', async () => {
    const service = await startService({ users: [{ name: 'zoë', password: 'a:b:ü' }] });
    expect((await service.requestToken('zoë', 'a:b:ü')).status).toBe(200);
  });

  it('knows demo only where no other users are given', async () => {
    const service = await startService({ users: [{ name: 'ann', password: 'ann' }] });
    expect((await service.requestToken('demo', 'demo')).status).toBe(401);
    expect((await service.requestToken('ann', 'ann')).status).toBe(200);
  });
});

describe('the limit of token requests', () => {
  it('counts down from five, failures too, and refuses the sixth', async () => {
    const service = await startService();
    const remaining: (string | null)[] = [];
    for (const password of ['demo', 'wrong', 'demo', 'wrong', 'demo']) {
      const { headers } = await service.requestToken('demo', password);
      remaining.push(headers.get('X-RateLimit-Remaining'));
    }
    expect(remaining).toEqual(['4', '3', '2', '1', '0']);

    service.advance(12_500);
    const { status, headers, body } = await service.requestToken<ErrorRecord>('demo', 'demo');
    expect(status).toBe(429);
    expect(body).toEqual({
      error: 'too many requests',
      message: 'Too many token requests.',
      status: 429,
    });
    expect(Object.fromEntries(headers)).toMatchObject({
      allow: 'POST, OPTIONS',
      'retry-after': '48',
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(START / 1000 + 60),
    });
  });

  it('ends with its window', async () => {
    const service = await startService({ tokenLimit: 1, tokenWindow: 10_000 });
    expect((await service.requestToken('demo', 'demo')).status).toBe(200);
    service.advance(9_999);
    expect((await service.requestToken('demo', 'demo')).status).toBe(429);
    service.advance(1);
    const { status, headers } = await service.requestToken('demo', 'demo');
    expect(status).toBe(200);
    expect(headers.get('X-RateLimit-Reset')).toBe(String(START / 1000 + 20));
  });

  it('is each user’s own, and one for all names from an address that nobody has', async () => {
    const users = [
      { name: 'ann', password: 'ann' },
      { name: 'bob', password: 'bob' },
    ];
    const service = await startService({ users, tokenLimit: 1 });
    const statuses: number[] = [];
    for (const name of ['ann', 'bob', 'ann', 'ghost', 'spectre']) {
      statuses.push((await service.requestToken(name, name)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 401, 429]);
  });
});
