// Requests with a token, over a real socket: section 5, the token rows of section 7, the lifetime of section 8.

import { describe, expect, it } from 'vitest';
import type { TokenRecord } from '../../src/api/types.ts';
import { basic, type Service, startService } from './harness.ts';

const DAY = 86_400_000;

const RESOURCES = [
  ['GET', '/v2', 'GET, HEAD, OPTIONS'],
  ['GET', '/v2/image', 'GET, HEAD, OPTIONS'],
  ['GET', '/v2/image/1', 'GET, HEAD, OPTIONS'],
  ['GET', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
  ['PATCH', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
  ['GET', '/v2/request/image_sync/1', 'GET, HEAD, OPTIONS'],
] as const;

async function newToken(service: Service): Promise<string> {
  return (await service.requestToken<TokenRecord>('demo', 'demo')).body.token;
}

describe('a token', () => {
  it.each(['GET', 'PATCH'])(
    'is taken with %s as Bearer and as the user name of Basic',
    async (method) => {
      const service = await startService();
      const token = await newToken(service);
      for (const credentials of [
        { Authorization: `Bearer ${token}` },
        { Authorization: `bearer ${token}` },
        basic(token, ''),
        basic(token, 'anything'),
      ]) {
        const { status } = await service.send(method, '/v2/user/image/vm', credentials);
        expect(status).toBe(method === 'GET' ? 200 : 202);
      }
    },
  );

  it('is valid for 86400 seconds and no longer', async () => {
    const service = await startService();
    const credentials = await service.login();
    service.advance(DAY - 1);
    expect((await service.send('GET', '/v2', credentials)).status).toBe(200);
    service.advance(1);
    expect((await service.send('GET', '/v2', credentials)).status).toBe(401);
  });

  it('lives as long as the service is told, and says so', async () => {
    const service = await startService({ tokenTtl: 90_000 });
    const { body } = await service.requestToken<TokenRecord>('demo', 'demo');
    expect(body).toMatchObject({ duration: 90, exp_date: '2025-01-15 Wed 07:01:30 EST' });
    service.advance(90_000);
    const { status } = await service.send('GET', '/v2', { Authorization: `Bearer ${body.token}` });
    expect(status).toBe(401);
  });
});

describe.each(RESOURCES)('%s %s without a good token', (method, path, allow) => {
  it('says that a token has expired', async () => {
    const service = await startService();
    const credentials = await service.login();
    service.emulator.expireTokens();
    const { status, headers, body } = await service.send(method, path, credentials);
    expect(status).toBe(401);
    expect(body).toEqual({
      error: 'authentication error',
      message: 'Valid token, but has expired.',
      status: 401,
    });
    expect(headers.get('Location')).toBe(`${service.baseUrl}/auth/request-token`);
    expect(headers.get('Allow')).toBe(allow);
  });

  it('says that a token is invalid', async () => {
    const service = await startService();
    const { status, headers, body } = await service.send(method, path, {
      Authorization: 'Bearer unknown',
    });
    expect(status).toBe(401);
    expect(body).toEqual({ error: 'authentication error', message: 'Invalid token.', status: 401 });
    expect(headers.get('Location')).toBe(`${service.baseUrl}/auth/request-token`);
    expect(headers.get('Allow')).toBe(allow);
  });

  it('says that access was withdrawn, until it is given back', async () => {
    const service = await startService();
    const credentials = await service.login();
    service.emulator.revokeAccess('demo');
    const { status, headers, body } = await service.send(method, path, credentials);
    expect(status).toBe(401);
    expect(body).toEqual({
      error: 'authentication error',
      message: 'User is not authorized to access.',
      status: 401,
    });
    expect(headers.get('Location')).toBeNull();
    expect(headers.get('Allow')).toBe(allow);

    expect((await service.requestToken('demo', 'demo')).status).toBe(401);
    service.emulator.restoreAccess('demo');
    expect((await service.send(method, path, credentials)).status).not.toBe(401);
  });
});

it.each([
  ['no credentials', {}],
  ['an empty token', { Authorization: 'Bearer ' }],
  ['the name and password of the user', basic('demo', 'demo')],
  ['two tokens', { Authorization: 'Bearer a b' }],
  ['an unknown scheme', { Authorization: 'Digest a' }],
])('refuses %s as an invalid token', async (_case, credentials) => {
  const service = await startService();
  const { status, body } = await service.send('GET', '/v2', credentials);
  expect(status).toBe(401);
  expect(body).toMatchObject({ message: 'Invalid token.' });
});
