// POST /auth/request-token over a real socket: section 4.1, its rows of section 7, and the limit of section 8.

import { describe, expect, it } from 'vitest';
import { basic, START, serveWithClock } from '../support/emulator.ts';

const WRONG = 'Invalid username and password combination.';
const NOT_AUTHORIZED = 'User is not authorized to access.';

describe('a token request', () => {
  it('returns the token record of section 2.1 with every header of section 4.1', async () => {
    const { requestToken } = await serveWithClock();
    const { status, headers, body } = await requestToken('demo', 'demo');
    expect(status).toBe(200);
    expect(body).toEqual({
      duration: 86400,
      exp: START / 1000 + 86400,
      exp_date: '2025-01-16 Thu 07:00:00 EST',
      token: expect.stringMatching(/^\S{20,}$/),
      type: 'ACCESS',
    });
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

  it('returns another token each time, and both are valid', async () => {
    const { login, send } = await serveWithClock();
    const [first, second] = [await login(), await login()];
    expect(first).not.toEqual(second);
    expect((await send('GET', '/v2', first)).status).toBe(200);
    expect((await send('GET', '/v2', second)).status).toBe(200);
  });

  it.each([
    ['a wrong password', WRONG, basic('demo', 'wrong')],
    ['an unknown name', WRONG, basic('nobody', 'demo')],
    ['a name that objects have', WRONG, basic('__proto__', '')],
    ['no credentials', WRONG, {}],
    ['credentials that are not Base64', WRONG, { Authorization: 'Basic ???' }],
    ['credentials without a colon', WRONG, { Authorization: 'Basic ZGVtbw==' }],
    ['another scheme', WRONG, { Authorization: 'Bearer demo' }],
    ['the wrong password of a denied user', WRONG, basic('guest', 'wrong')],
    ['a denied user', NOT_AUTHORIZED, basic('guest', 'secret')],
  ])('with %s gets 401: %s', async (_, message, credentials) => {
    const { send } = await serveWithClock({ deniedUsers: [{ name: 'guest', password: 'secret' }] });
    const { status, headers, body } = await send('POST', '/auth/request-token', credentials);
    expect(status).toBe(401);
    expect(body).toEqual({ error: 'authentication error', message, status: 401 });
    expect(headers.get('Allow')).toBe('POST, OPTIONS');
    expect(headers.get('Location')).toBeNull();
  });

  it('accepts a password with a colon and letters beyond ASCII, and demo only by default', async () => {
    const users = [{ name: 'zoë', password: 'a:b:ü' }];
    const { requestToken } = await serveWithClock({ users });
    expect((await requestToken('zoë', 'a:b:ü')).status).toBe(200);
    expect((await requestToken('demo', 'demo')).status).toBe(401);
  });
});

describe('the limit of token requests', () => {
  it('counts down from five, failures included, and refuses the sixth', async () => {
    const { advance, requestToken } = await serveWithClock();
    const remaining: (string | null)[] = [];
    for (const password of ['demo', 'wrong', 'demo', 'wrong', 'demo']) {
      const { headers } = await requestToken('demo', password);
      remaining.push(headers.get('X-RateLimit-Remaining'));
    }
    expect(remaining).toEqual(['4', '3', '2', '1', '0']);

    advance(12_500);
    const { status, headers, body } = await requestToken('demo', 'demo');
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

  it('starts again with the next window', async () => {
    const { advance, requestToken } = await serveWithClock({ tokenLimit: 1, tokenWindow: 10_000 });
    expect((await requestToken('demo', 'demo')).status).toBe(200);
    advance(9_999);
    expect((await requestToken('demo', 'demo')).status).toBe(429);
    advance(1);
    const { status, headers } = await requestToken('demo', 'demo');
    expect(status).toBe(200);
    expect(headers.get('X-RateLimit-Reset')).toBe(String(START / 1000 + 20));
  });

  it('counts each user alone, and all unknown names of an address together', async () => {
    const users = ['ann', 'bob'].map((name) => ({ name, password: name }));
    const { requestToken } = await serveWithClock({ users, tokenLimit: 1 });
    const statuses: number[] = [];
    for (const name of ['ann', 'bob', 'ann', 'ghost', 'spectre']) {
      statuses.push((await requestToken(name, name)).status);
    }
    expect(statuses).toEqual([200, 200, 429, 401, 429]);
  });
});
