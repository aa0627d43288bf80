// The whole service over a real socket: its root, methods, paths, hosts, connections, start and end.

import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import type { RequestRecord } from '../../src/emulator/service-options.ts';
import { serve } from '../support/emulator.ts';

describe('the service', () => {
  it('returns its name, its lists and the user', async () => {
    const { baseUrl, login, send } = await serve();
    const { status, body } = await send('GET', '/v2', await login());
    const links = { self: `${baseUrl}/v2` };
    const expected = { name: expect.any(String), version: 'v2', user: 'demo', _links: links };
    expect([status, body]).toEqual([200, expected]);
  });

  it.each([
    ...['/', '/v1', '/v2/', '/v2/images', '/v2/image/1/2', '/auth', '//v2', '/v2%2fimage'].map(
      (path) => [path, 404, 'not found'] as const,
    ),
    ...['/v2/image/%zz', '/%', '/auth/%c3%28'].map((path) => [path, 400, 'bad request'] as const),
  ])('answers %s with %i', async (path, code, error) => {
    const { login, send } = await serve();
    const { status, body } = await send('GET', path, await login());
    expect([status, body]).toMatchObject([code, { error, status: code }]);
  });

  it.each([
    ['GET', '/auth/request-token', 'POST, OPTIONS'],
    ['PUT', '/v2', 'GET, HEAD, OPTIONS'],
    ['POST', '/v2/image', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
    ['PATCH', '/v2/request/image_sync/1', 'GET, HEAD, OPTIONS'],
  ])('answers %s %s with 405 and the methods %s, as OPTIONS does', async (method, path, allow) => {
    const { login, send } = await serve();
    const { status, headers, body } = await send(method, path, await login());
    expect([status, headers.get('Allow')]).toEqual([405, allow]);
    expect(body).toMatchObject({ error: 'method not allowed', status: 405 });
    const options = await send('OPTIONS', path);
    expect([options.status, options.headers.get('Allow')]).toEqual([204, allow]);
  });

  it('answers HEAD with the headers of GET', async () => {
    const { login, send } = await serve();
    const { status, headers, body } = await send('HEAD', '/v2', await login());
    expect([status, body]).toEqual([200, undefined]);
    expect(Number(headers.get('Content-Length'))).toBeGreaterThan(0);
  });
});

/** Sends a request by node:http, which accepts any Host header. */
async function send(url: string, headers: OutgoingHttpHeaders) {
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers };
}

describe('the Host header', () => {
  it.each([
    ...['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', 'localhost.evil'],
    ...['10.0.0.1', '127.9999.1.1', '127.1', 'demo@127.0.0.1'],
  ])('%s gets 421', async (host) => {
    const { baseUrl } = await serve();
    expect((await send(`${baseUrl}/v2`, { host })).status).toBe(421);
  });

  it.each(['localhost:81', 'LOCALHOST', '127.0.0.1:81', '127.9.9.9', '[::1]:81'])(
    '%s appears in the URLs of the response',
    async (host) => {
      const { baseUrl } = await serve();
      const { status, headers } = await send(`${baseUrl}/v2`, { host });
      expect([status, headers.location]).toEqual([401, `http://${host}/auth/request-token`]);
    },
  );

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

  it('gets no CORS headers for another origin', async () => {
    const { baseUrl } = await serve();
    const { headers } = await send(`${baseUrl}/v2`, { origin: 'http://evil.example' });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a connection', () => {
  it('is closed by close, also during a request', async () => {
    const arrived: RequestRecord[] = [];
    const faults = [parseFault('* /*=stall')];
    const service = await serve({ faults, onRequest: (record) => arrived.push(record) });
    const waiting = fetch(`${service.baseUrl}/v2?a=b`, { headers: { 'X-Mark': 'yes' } });
    const idle = connect(service.port, '127.0.0.1');
    await once(idle, 'connect');
    await expect.poll(() => arrived.length).toBe(1);
    const idleClosed = once(idle, 'close');
    await service.close();
    await expect(waiting).rejects.toThrow();
    await idleClosed;
    const headers = expect.objectContaining({ 'x-mark': 'yes' });
    expect(arrived).toEqual([{ method: 'GET', target: '/v2?a=b', headers }]);
  });
});

describe('startEmulator', () => {
  it('delays each response by the latency', async () => {
    const { send: sendTo } = await serve({ latency: 30 });
    const before = performance.now();
    await sendTo('GET', '/v2');
    expect(performance.now() - before).toBeGreaterThan(25);
  });
});
