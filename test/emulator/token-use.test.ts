// Requests with a token, over a real socket: section 5, the token rows of section 7, the lifetime of section 8.

import { describe, expect, it } from 'vitest';
import { basic, serveWithClock } from '../support/emulator.ts';

const DAY = 86_400_000;

describe('a token', () => {
  it.each([
    ['GET', 200],
    ['PATCH', 202],
  ])('is accepted by %s as Bearer and as the user name of Basic', async (method, expected) => {
    const { requestToken, send } = await serveWithClock();
    const { token } = (await requestToken('demo', 'demo')).body;
    const bearers = ['Bearer', 'bearer'].map((scheme) => ({ Authorization: `${scheme} ${token}` }));
    for (const credentials of [...bearers, basic(token, ''), basic(token, 'anything')]) {
      const { status } = await send(method, '/v2/user/image/vm', credentials);
      expect(status).toBe(expected);
    }
  });

  it('is valid for 86400 seconds and no longer', async () => {
    const { advance, login, send } = await serveWithClock();
    const credentials = await login();
    advance(DAY - 1);
    expect((await send('GET', '/v2', credentials)).status).toBe(200);
    advance(1);
    expect((await send('GET', '/v2', credentials)).status).toBe(401);
  });

  it('has the lifetime that the service was started with', async () => {
    const { advance, requestToken, send } = await serveWithClock({ tokenTtl: 90_000 });
    const { body } = await requestToken('demo', 'demo');
    expect(body).toMatchObject({ duration: 90, exp_date: '2025-01-15 Wed 07:01:30 EST' });
    advance(90_000);
    const { status } = await send('GET', '/v2', { Authorization: `Bearer ${body.token}` });
    expect(status).toBe(401);
  });

  it.each([
    ['no credentials', {}],
    ['an empty token', { Authorization: 'Bearer ' }],
    ['the name and password of the user', basic('demo', 'demo')],
    ['two tokens', { Authorization: 'Bearer a b' }],
    ['an unknown scheme', { Authorization: 'Digest a' }],
  ])('is invalid if the request has %s', async (_, credentials) => {
    const { send } = await serveWithClock();
    const { status, body } = await send('GET', '/v2', credentials);
    expect(status).toBe(401);
    expect(body).toMatchObject({ message: 'Invalid token.' });
  });
});

describe.each([
  ['GET', '/v2', 'GET, HEAD, OPTIONS'],
  ['GET', '/v2/image', 'GET, HEAD, OPTIONS'],
  ['GET', '/v2/image/1', 'GET, HEAD, OPTIONS'],
  ['GET', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
  ['PATCH', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
  ['GET', '/v2/request/image_sync/1', 'GET, HEAD, OPTIONS'],
])('%s %s', (method, path, allow) => {
  /** Sends the request and checks that it gets 401. */
  async function expectRefused(
    { baseUrl, send }: Awaited<ReturnType<typeof serveWithClock>>,
    credentials: { Authorization: string },
    message: string,
    loginPath: string | null = '/auth/request-token',
  ): Promise<void> {
    const { status, headers, body } = await send(method, path, credentials);
    expect(status).toBe(401);
    expect(body).toEqual({ error: 'authentication error', message, status: 401 });
    expect(headers.get('Location')).toBe(loginPath && `${baseUrl}${loginPath}`);
    expect(headers.get('Allow')).toBe(allow);
  }

  it('refuses an expired token', async () => {
    const service = await serveWithClock();
    const credentials = await service.login();
    service.expireTokens();
    await expectRefused(service, credentials, 'Valid token, but has expired.');
  });

  it('refuses an invalid token', async () => {
    const service = await serveWithClock();
    await expectRefused(service, { Authorization: 'Bearer unknown' }, 'Invalid token.');
  });

  it('refuses a user whose access is revoked, until it is restored', async () => {
    const service = await serveWithClock();
    const credentials = await service.login();
    service.revokeAccess('demo');
    await expectRefused(service, credentials, 'User is not authorized to access.', null);
    expect((await service.requestToken('demo', 'demo')).status).toBe(401);
    service.restoreAccess('demo');
    expect((await service.send(method, path, credentials)).status).not.toBe(401);
  });
});
