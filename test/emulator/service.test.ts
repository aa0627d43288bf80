// What holds for the whole service over a real socket: its root, methods, addresses, hosts, connections, life.

import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import type { RequestRecord } from '../../src/emulator/options.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { startService } from './harness.ts';

describe('GET /v2', () => {
  it('tells what the service is, where its lists are and who asks', async () => {
    const service = await startService();
    const { status, body } = await service.send('GET', '/v2', await service.login());
    expect(status).toBe(200);
    expect(body).toEqual({
      name: expect.any(String),
      version: 'v2',
      user: 'demo',
      _links: {
        self: `${service.baseUrl}/v2`,
        image: `${service.baseUrl}/v2/image`,
        user_image: `${service.baseUrl}/v2/user/image/vm`,
      },
    });
  });
});

describe('methods and addresses', () => {
  it.each(['/', '/v1', '/v2/', '/v2/images', '/v2/image/1/2', '/auth', '//v2', '/v2%2fimage'])(
    'has nothing at %s',
    async (path) => {
      const service = await startService();
      const { status, body } = await service.send('GET', path, await service.login());
      expect(status).toBe(404);
      expect(body).toMatchObject({ error: 'not found', status: 404 });
    },
  );

  it.each([
    ['GET', '/auth/request-token', 'POST, OPTIONS'],
    ['PUT', '/v2', 'GET, HEAD, OPTIONS'],
    ['POST', '/v2/image', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
    ['PATCH', '/v2/request/image_sync/1', 'GET, HEAD, OPTIONS'],
  ])('does not take %s %s', async (method, path, allow) => {
    const service = await startService();
    const { status, headers, body } = await service.send(method, path, await service.login());
    expect(status).toBe(405);
    expect(headers.get('Allow')).toBe(allow);
    expect(body).toMatchObject({ error: 'method not allowed', status: 405 });
  });

  it.each([
    ['/auth/request-token', 'POST, OPTIONS'],
    ['/v2/user/image/vm', 'GET, HEAD, PATCH, OPTIONS'],
  ])('answers OPTIONS %s without a token', async (path, allow) => {
    const service = await startService();
    const { status, headers, body } = await service.send('OPTIONS', path);
    expect(status).toBe(204);
    expect(headers.get('Allow')).toBe(allow);
    expect(body).toBeUndefined();
  });

  it('answers HEAD as GET, without the body', async () => {
    const service = await startService();
    const credentials = await service.login();
    const { status, headers, body } = await service.send('HEAD', '/v2', credentials);
    expect(status).toBe(200);
    expect(body).toBeUndefined();
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(Number(headers.get('Content-Length'))).toBeGreaterThan(0);
  });
});

/** A request by node:http, which lets the test say the host and keep the connection. */
async function get(baseUrl: string, headers: Record<string, string>, agent?: Agent) {
  const [response] = (await once(
    request(`${baseUrl}/v2/image/1`, { headers, ...(agent ? { agent } : {}) }).end(),
    'response',
  )) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, headers: response.headers, body };
}

describe('hosts', () => {
  it.each([
    'evil.example',
    'evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil',
    '10.0.0.1',
  ])('refuses the host %s', async (host) => {
    const { baseUrl } = await startService();
    const { status, body } = await get(baseUrl, { host });
    expect(status).toBe(421);
    expect(JSON.parse(body)).toMatchObject({ error: 'misdirected request', status: 421 });
  });

  it.each(['localhost:81', 'LOCALHOST', '127.0.0.1:81', '127.9.9.9', '[::1]:81'])(
    'answers for the host %s with URLs of that host',
    async (host) => {
      const { baseUrl } = await startService();
      const { status, headers } = await get(baseUrl, { host });
      expect(status).toBe(401);
      expect(headers.location).toBe(`http://${host}/auth/request-token`);
    },
  );

  it('answers for the host that it was told to listen on', async () => {
    const { emulator } = await startService({ host: '0.0.0.0' });
    expect(emulator.baseUrl).toBe(`http://127.0.0.1:${emulator.port}`);
    expect((await get(emulator.baseUrl, { host: '0.0.0.0' })).status).toBe(401);
    expect((await get(emulator.baseUrl, { host: 'evil.example' })).status).toBe(421);
  });

  const address = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  it.skipIf(address === undefined)('answers for the address it was reached at', async () => {
    const { emulator } = await startService({ host: '0.0.0.0' });
    expect((await get(`http://${address}:${emulator.port}`, {})).status).toBe(401);
  });

  it('answers a client of HTTP/1.0 that names no host', async () => {
    const { emulator } = await startService();
    const socket = connect(emulator.port, '127.0.0.1');
    socket.write('GET /v2 HTTP/1.0\r\n\r\n');
    const answer = Buffer.concat(await socket.toArray()).toString();
    expect(answer).toContain(`\r\nLocation: ${emulator.baseUrl}/auth/request-token\r\n`);
  });

  it('tells browsers of no other origin that they may read', async () => {
    const { baseUrl } = await startService();
    const { headers } = await get(baseUrl, { origin: 'http://evil.example' });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('connections', () => {
  it('can be used again', async () => {
    const { baseUrl } = await startService();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    agent.on('free', (socket) => sockets.add(socket));
    for (let round = 0; round < 3; round += 1) await get(baseUrl, {}, agent);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it('can be used again after a body that nobody asked for', async () => {
    const service = await startService();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    agent.on('free', (socket) => sockets.add(socket));
    for (let round = 0; round < 2; round += 1) {
      const headers = await service.login();
      const options = { method: 'PATCH', headers, agent };
      const sent = request(`${service.baseUrl}/v2/user/image/vm`, options).end(
        Buffer.alloc(200_000),
      );
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await response.toArray();
      expect(response.statusCode).toBe(202);
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it('are ended by close, also in the middle of a request', async () => {
    const arrived: RequestRecord[] = [];
    const { emulator } = await startService({
      faults: [parseFault('* /*=stall')],
      onRequest: (record) => arrived.push(record),
    });
    const waiting = fetch(`${emulator.baseUrl}/v2?a=b`, { headers: { 'X-Mark': 'yes' } });
    const idle = connect(emulator.port, '127.0.0.1');
    await once(idle, 'connect');
    await expect.poll(() => arrived.length).toBe(1);
    const idleClosed = once(idle, 'close');
    await emulator.close();
    await expect(waiting).rejects.toThrow();
    await idleClosed;
    expect(arrived).toEqual([
      { method: 'GET', target: '/v2?a=b', headers: expect.objectContaining({ 'x-mark': 'yes' }) },
    ]);
  });
});

describe('start and end', () => {
  it('can be closed twice', async () => {
    const { emulator } = await startService();
    await emulator.close();
    await expect(emulator.close()).resolves.toBeUndefined();
  });

  it('rejects when the port is taken', async () => {
    const { emulator } = await startService();
    await expect(startEmulator({ port: emulator.port })).rejects.toThrow('EADDRINUSE');
  });

  it.each(['', '..', 'a/b', 'a\\b'])('refuses the user name %j', async (name) => {
    await expect(startEmulator({ users: [{ name, password: 'x' }] })).rejects.toThrow('user name');
  });

  it('waits before it answers as long as it is told', async () => {
    const service = await startService({ latency: 30 });
    const before = performance.now();
    await service.send('GET', '/v2');
    expect(performance.now() - before).toBeGreaterThan(25);
  });
});
