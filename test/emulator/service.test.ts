// The whole service over a real socket: its root, methods, paths and hosts.

import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { serve } from '../support/emulator.ts';

describe('the service', () => {
  it('returns its name and the user, and the headers alone for HEAD', async () => {
    const { baseUrl, login, send } = await serve();
    const credentials = await login();
    const { status, body } = await send('GET', '/v2', credentials);
    const links = { self: `${baseUrl}/v2` };
    const expected = { name: expect.any(String), version: 'v2', user: 'demo', _links: links };
    expect([status, body]).toEqual([200, expected]);
    const head = await send('HEAD', '/v2', credentials);
    expect([head.status, head.body]).toEqual([200, undefined]);
    expect(Number(head.headers.get('Content-Length'))).toBeGreaterThan(0);
  });

  it('answers unknown paths with 404, and wrongly encoded ones with 400', async () => {
    const { send } = await serve();
    const unknown = ['/', '/v1', '/v2/', '/v2/images', '/v2/image/1/2', '//v2', '/v2%2fimage'];
    for (const path of [...unknown, '/v2/image/%zz', '/%', '/auth/%c3%28']) {
      const status = unknown.includes(path) ? 404 : 400;
      expect([path, (await send('GET', path)).status]).toEqual([path, status]);
    }
  });

  it.each([
    ['GET', '/auth/request-token', 'POST, OPTIONS'],
    ['POST', '/v2/image', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
    ['PATCH', '/v2/request/image_sync/1', 'GET, HEAD, OPTIONS'],
  ])('answers %s %s with 405 and the methods %s, as OPTIONS does', async (method, path, allow) => {
    const { send } = await serve();
    const { status, headers, body } = await send(method, path);
    expect([status, headers.get('Allow')]).toEqual([405, allow]);
    expect(body).toMatchObject({ error: 'method not allowed', status: 405 });
    const options = await send('OPTIONS', path);
    expect([options.status, options.headers.get('Allow')]).toEqual([204, allow]);
  });
});

/** Sends a request by node:http, which accepts any Host header. */
async function send(url: string, headers: OutgoingHttpHeaders) {
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers };
}

describe('the Host header', () => {
  it('gets 421 if it names another host, else appears in URLs, without CORS headers', async () => {
    const { baseUrl } = await serve();
    const others = 'evil.example evil.example:8080 127.0.0.1.evil.example localhost.evil 10.0.0.1';
    for (const host of [...others.split(' '), '127.9999.1.1', '127.1', 'demo@127.0.0.1']) {
      expect([host, (await send(`${baseUrl}/v2`, { host })).status]).toEqual([host, 421]);
    }
    for (const host of ['localhost:81', 'LOCALHOST', '127.0.0.1:81', '127.9.9.9', '[::1]:81']) {
      const origin = 'http://evil.example';
      const { status, headers } = await send(`${baseUrl}/v2`, { host, origin });
      expect([status, headers.location]).toEqual([401, `http://${host}/auth/request-token`]);
      expect(Object.keys(headers).join()).not.toContain('access-control');
    }
  });

  const address = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  it('may be the address that the service listens on, or that of the connection', async () => {
    const { baseUrl, port } = await serve({ host: '0.0.0.0' });
    const statusFor = async (host: string) => (await send(`${baseUrl}/v2`, { host })).status;
    expect(baseUrl).toBe(`http://127.0.0.1:${port}`);
    expect(await statusFor('0.0.0.0')).toBe(401);
    expect(await statusFor('evil.example')).toBe(421);
    if (address) expect((await send(`http://${address}:${port}/v2`, {})).status).toBe(401);
  });
});
