// The whole service over a real socket: its root, methods, paths, hosts, connections, start and end.

import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import type { RequestRecord } from '../../src/emulator/service-options.ts';
import { serve } from '../support/emulator.ts';

describe('GET /v2', () => {
  it('returns the service, its lists and the user', async () => {
    const { baseUrl, login, send } = await serve();
    const { status, body } = await send('GET', '/v2', await login());
    expect(status).toBe(200);
    expect(body).toEqual({
      name: expect.any(String),
      version: 'v2',
      user: 'demo',
      _links: {
        self: `${baseUrl}/v2`,
        image: `${baseUrl}/v2/image`,
        user_image: `${baseUrl}/v2/user/image/vm`,
      },
    });
  });
});

describe('methods and paths', () => {
  const unknown = ['/', '/v1', '/v2/', '/v2/images', '/v2/image/1/2', '/auth', '//v2'];
  it.each([...unknown, '/v2%2fimage'])('%s gets 404', async (path) => {
    const { login, send } = await serve();
    const { status, body } = await send('GET', path, await login());
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: 'not found', status: 404 });
  });

  it.each(['/v2/image/%zz', '/%', '/auth/%c3%28'])('%s gets 400', async (path) => {
    const { login, send } = await serve();
    const { status, body } = await send('GET', path, await login());
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: 'bad request', status: 400 });
  });

  it.each([
    ['GET', '/auth/request-token', 'POST, OPTIONS'],
    ['PUT', '/v2', 'GET, HEAD, OPTIONS'],
    ['POST', '/v2/image', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
    ['PATCH', '/v2/request/image_sync/1', 'GET, HEAD, OPTIONS'],
  ])('%s %s gets 405 and the allowed methods %s', async (method, path, allow) => {
    const { login, send } = await serve();
    const { status, headers, body } = await send(method, path, await login());
    expect(status).toBe(405);
    expect(headers.get('Allow')).toBe(allow);
    expect(body).toMatchObject({ error: 'method not allowed', status: 405 });
  });

  it.each([
    ['/auth/request-token', 'POST, OPTIONS'],
    ['/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
  ])('OPTIONS %s gets 204 without a token and the allowed methods %s', async (path, allow) => {
    const { send } = await serve();
    const { status, headers, body } = await send('OPTIONS', path);
    expect(status).toBe(204);
    expect(headers.get('Allow')).toBe(allow);
    expect(body).toBeUndefined();
  });

  it('HEAD gets the headers of GET without the body', async () => {
    const { login, send } = await serve();
    const { status, headers, body } = await send('HEAD', '/v2', await login());
    expect(status).toBe(200);
    expect(body).toBeUndefined();
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(Number(headers.get('Content-Length'))).toBeGreaterThan(0);
  });
});

/** Sends a request by node:http, which accepts any Host header and an agent. */
async function send(url: string, options: RequestOptions, content?: Buffer) {
  const sent = request(url, options).end(content);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, body };
}

describe('the Host header', () => {
  const hosts = ['evil.example', 'evil.example:8080', '127.0.0.1.evil.example', 'localhost.evil'];
  it.each([...hosts, '10.0.0.1', '127.9999.1.1', '127.1', 'demo@127.0.0.1'])(
    '%s gets 421',
    async (host) => {
      const { baseUrl } = await serve();
      const { status, body } = await send(`${baseUrl}/v2`, { headers: { host } });
      expect(status).toBe(421);
      expect(JSON.parse(body)).toMatchObject({ error: 'misdirected request', status: 421 });
    },
  );

  const own = ['localhost:81', 'LOCALHOST', '127.0.0.1:81', '127.9.9.9', '[::1]:81'];
  it.each(own)('%s appears in the URLs of the response', async (host) => {
    const { baseUrl } = await serve();
    const { status, headers } = await send(`${baseUrl}/v2`, { headers: { host } });
    expect(status).toBe(401);
    expect(headers.location).toBe(`http://${host}/auth/request-token`);
  });

  it('may be the address that the service listens on', async () => {
    const { baseUrl, port } = await serve({ host: '0.0.0.0' });
    const statusFor = async (host: string) =>
      (await send(`${baseUrl}/v2`, { headers: { host } })).status;
    expect(baseUrl).toBe(`http://127.0.0.1:${port}`);
    expect(await statusFor('0.0.0.0')).toBe(401);
    expect(await statusFor('evil.example')).toBe(421);
  });

  const address = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  it.skipIf(address === undefined)('may be the address of the connection', async () => {
    const { port } = await serve({ host: '0.0.0.0' });
    expect((await send(`http://${address}:${port}/v2`, {})).status).toBe(401);
  });

  it('may be missing in HTTP/1.0', async () => {
    const { baseUrl, port } = await serve();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /v2 HTTP/1.0\r\n\r\n');
    const response = Buffer.concat(await socket.toArray()).toString();
    expect(response).toContain(`\r\nLocation: ${baseUrl}/auth/request-token\r\n`);
  });

  it('gets no CORS headers for another origin', async () => {
    const { baseUrl } = await serve();
    const { headers } = await send(`${baseUrl}/v2`, { headers: { origin: 'http://evil.example' } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('a connection', () => {
  it('is reused, also after an unexpected body', async () => {
    const { baseUrl, login } = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const sockets = new Set<unknown>();
    agent.on('free', (socket) => sockets.add(socket));
    const url = `${baseUrl}/v2/user/image/vm`;
    const options = { headers: await login(), agent };
    for (const content of [undefined, Buffer.alloc(200_000), Buffer.alloc(200_000)]) {
      const { status } = await send(url, { ...options, method: 'PATCH' }, content);
      expect(status).toBe(202);
      expect((await send(url, options)).status).toBe(200);
    }
    expect(sockets.size).toBe(1);
  });

  it('is closed by close, also during a request', async () => {
    const arrived: RequestRecord[] = [];
    const { baseUrl, close, port } = await serve({
      faults: [parseFault('* /*=stall')],
      onRequest: (record) => arrived.push(record),
    });
    const waiting = fetch(`${baseUrl}/v2?a=b`, { headers: { 'X-Mark': 'yes' } });
    const idle = connect(port, '127.0.0.1');
    await once(idle, 'connect');
    await expect.poll(() => arrived.length).toBe(1);
    const idleClosed = once(idle, 'close');
    await close();
    await expect(waiting).rejects.toThrow();
    await idleClosed;
    expect(arrived).toEqual([
      { method: 'GET', target: '/v2?a=b', headers: expect.objectContaining({ 'x-mark': 'yes' }) },
    ]);
  });
});

describe('startEmulator', () => {
  it('returns a service that can be closed twice', async () => {
    const { close } = await serve();
    await close();
    await expect(close()).resolves.toBeUndefined();
  });

  it('rejects if the port is taken', async () => {
    const { port } = await serve();
    await expect(serve({ port })).rejects.toThrow('EADDRINUSE');
  });

  it.each(['', '..', 'a/b', 'a\\b'])('refuses the user name %j', async (name) => {
    await expect(serve({ users: [{ name, password: 'x' }] })).rejects.toThrow('user name');
  });

  it('delays each response by the latency', async () => {
    const { send } = await serve({ latency: 30 });
    const before = performance.now();
    await send('GET', '/v2');
    expect(performance.now() - before).toBeGreaterThan(25);
  });
});
