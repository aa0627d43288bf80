// Token requests and requests with a token: sections 4.1 and 5, their rows of section 7, lifetime and limit of section 8.

import { describe, expect, it } from 'vitest';
import { basic, CLOCK_START, serveWithClock } from '../support/emulator.ts';

const WRONG = 'Invalid username and password combination.';
const NOT_AUTHORIZED = 'User is not authorized to access.';

describe('a token request', () => {
  it('returns the token record of section 2.1 with every header of section 4.1', async () => {
    const { requestToken } = await serveWithClock();
    const { status, headers, body } = await requestToken('demo', 'demo');
    const expires = { exp: CLOCK_START / 1000 + 86400, exp_date: '2025-01-16 Thu 07:00:00 EST' };
    const token = expect.stringMatching(/^\S{20,}$/);
    expect([status, body]).toEqual([200, { duration: 86400, ...expires, token, type: 'ACCESS' }]);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ allow: 'POST, OPTIONS', 'content-type': 'application/json' },
      ...{ 'strict-transport-security': 'max-age=63072000', 'x-content-type-options': 'nosniff' },
      ...{ 'x-frame-options': 'DENY', 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' },
      'x-ratelimit-reset': String(CLOCK_START / 1000 + 60),
    });
  });

  it.each([
    ['a wrong password', WRONG, basic('demo', 'wrong')],
    ['an unknown name', WRONG, basic('nobody', 'demo')],
    ['a name that objects have', WRONG, basic('__proto__', '')],
    ['no credentials', WRONG, {}],
    ['credentials that are not Base64', WRONG, { Authorization: 'Basic ???' }],
    ['a denied user', NOT_AUTHORIZED, basic('guest', 'secret')],
  ])('with %s gets 401: %s', async (_, message, credentials) => {
    const { send } = await serveWithClock({ deniedUsers: [{ name: 'guest', password: 'secret' }] });
    const { headers, body } = await send('POST', '/auth/request-token', credentials);
    expect(body).toEqual({ error: 'authentication error', message, status: 401 });
    expect([headers.get('Allow'), headers.get('Location')]).toEqual(['POST, OPTIONS', null]);
  });

  it('is refused beyond five per window, failures included', async () => {
    const { advance, requestToken } = await serveWithClock();
    const remaining = async (password: string) =>
      (await requestToken('demo', password)).headers.get('X-RateLimit-Remaining');
    for (const [index, password] of ['demo', 'wrong', 'demo', 'wrong'].entries()) {
      expect(await remaining(password)).toBe(String(4 - index));
    }
    expect((await requestToken('demo', 'demo')).status).toBe(200);
    advance(12_500);
    const { status, headers, body } = await requestToken('demo', 'demo');
    const message = 'Too many token requests.';
    expect({ status, body }).toEqual({
      status: 429,
      body: { error: 'too many requests', message, status: 429 },
    });
    const limits = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': `${CLOCK_START / 1000 + 60}`,
    };
    expect(Object.fromEntries(headers)).toMatchObject({ 'retry-after': '48', ...limits });
    advance(47_499);
    expect((await requestToken('demo', 'demo')).status).toBe(429);
    advance(1);
    expect(await remaining('demo')).toBe('4');
  });
});

describe('a token', () => {
  it('is accepted as Bearer and as the user name of Basic, and refused otherwise', async () => {
    const { requestToken, send } = await serveWithClock();
    const { token } = (await requestToken('demo', 'demo')).body;
    const bearers = ['Bearer', 'bearer', 'Bearer '].map((scheme) => ({
      Authorization: `${scheme} ${token}`,
    }));
    const capitals = { Authorization: basic(token, '').Authorization?.replace('Basic', 'BASIC') };
    for (const credentials of [...bearers, basic(token, ''), basic(token, 'anything'), capitals]) {
      expect((await send('GET', '/v2', credentials)).status).toBe(200);
    }
    for (const text of [
      'Bearer ',
      `Bearer ${token} b`,
      `xBearer ${token}`,
      `Digest ${token}`,
      'Basic ZGVtbzpkZW1v',
    ]) {
      const { status, body } = await send('GET', '/v2', { Authorization: text });
      expect([text, status, body]).toMatchObject([text, 401, { message: 'Invalid token.' }]);
    }
  });

  it('that is missing, invalid, expired or denied is refused', async () => {
    const { baseUrl, login, send, ...service } = await serveWithClock();
    const expectRefused = async (credentials: Record<string, string>, message: string) => {
      const { status, headers, body } = await send('PATCH', '/v2/user/image/vm', credentials);
      expect(body).toEqual({ error: 'authentication error', message, status: 401 });
      expect([status, headers.get('Allow')]).toEqual([401, 'GET, HEAD, PATCH, OPTIONS']);
      const location = message === NOT_AUTHORIZED ? null : `${baseUrl}/auth/request-token`;
      expect(headers.get('Location')).toBe(location);
    };
    await expectRefused({}, 'Invalid token.');
    await expectRefused({ Authorization: 'Bearer unknown' }, 'Invalid token.');
    const credentials = await login();
    service.expireTokens();
    await expectRefused(credentials, 'Valid token, but has expired.');
    const others = await login();
    service.revokeAccess('demo');
    await expectRefused(others, NOT_AUTHORIZED);
    expect((await service.requestToken('demo', 'demo')).status).toBe(401);
  });
});
