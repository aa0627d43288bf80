// The whole service over a real socket: its root, methods, paths, hosts and faults.

import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { urlHost } from '../../src/emulator/api-request.ts';
import { createFaultPicker, parseFault } from '../../src/emulator/faults.ts';
import { advice } from '../../src/facts.ts';
import { serve } from '../support/emulator.ts';
import { thrownBy } from '../support/errors.ts';

describe('the service', () => {
  it('returns its name and the user, and the headers alone for HEAD', async () => {
    const { baseUrl, login, send } = await serve();
    const credentials = await login();
    const { status, body } = await send('GET', '/v2', credentials);
    const links = { self: `${baseUrl}/v2` };
    const name = 'Image Deployment Service (emulator)';
    const expected = { name, version: 'v2', user: 'demo', _links: links };
    expect({ status, body }).toEqual({ status: 200, body: expected });
    for (const [path, message] of [
      ['/v2/image/0', 'There is no image 0.'],
      ['/v2/request/image_sync/0', 'There is no image sync request 0.'],
    ] as const) {
      const record = { error: 'not found', message, status: 404 };
      expect((await send('GET', path, credentials)).body).toEqual(record);
    }
    const head = await send('HEAD', '/v2', credentials);
    expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: undefined });
    expect(Number(head.headers.get('Content-Length'))).toBeGreaterThan(0);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      ...{ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
      ...{ 'strict-transport-security': 'max-age=63072000', 'x-frame-options': 'DENY' },
    });
  });

  it('answers unknown paths with 404, and wrongly encoded ones with 400', async () => {
    const { send } = await serve();
    const unknown = ['/', '/v1', '/v2/', '/v2/images', '/v2/image/1/2', '//v2', '/v2%2fimage'];
    for (const path of [...unknown, '/v2/image/%zz', '/%', '/auth/%c3%28']) {
      const [status, error, message] = unknown.includes(path)
        ? [404, 'not found', 'There is nothing at this address.']
        : [400, 'bad request', 'The path is not properly encoded.'];
      expect((await send('GET', path)).body).toEqual({ status, error, message });
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
    const message = `The method ${method} is not allowed here.`;
    expect(body).toEqual({ error: 'method not allowed', status: 405, message });
    const options = await send('OPTIONS', path);
    expect([options.status, options.headers.get('Allow')]).toEqual([204, allow]);
  });
});

/** Sends a request by node:http, which accepts any Host header. */
async function send(url: string, headers: OutgoingHttpHeaders) {
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage];
  const { statusCode: status, headers: received } = response;
  return { status, headers: received, body: await text(response) };
}

describe('the Host header', () => {
  it('gets 421 if it names another host, else appears in URLs, without CORS headers', async () => {
    const { baseUrl } = await serve();
    const others = 'evil.example evil.example:8080 127.0.0.1.evil.example localhost.evil 10.0.0.1';
    for (const host of [...others.split(' '), '127.9999.1.1', '127.1', 'demo@127.0.0.1']) {
      const { status, body } = await send(`${baseUrl}/v2`, { host });
      const message = `This service does not answer for the host "${host}".`;
      expect([status, JSON.parse(body).message]).toEqual([421, message]);
    }
    for (const host of ['localhost:81', 'LOCALHOST', '127.0.0.1:81', '127.9.9.9', '[::1]:81']) {
      const origin = 'http://evil.example';
      const { status, headers } = await send(`${baseUrl}/v2`, { host, origin });
      expect({ status, location: headers.location }).toEqual({
        status: 401,
        location: `http://${host}/auth/request-token`,
      });
      expect(Object.keys(headers).join()).not.toContain('access-control');
    }
  });

  const address = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  it('may be the address that the service listens on, or that of the connection', async () => {
    const { baseUrl } = await serve({ host: '0.0.0.0' });
    const { port } = new URL(baseUrl);
    const statusFor = async (host: string) => (await send(`${baseUrl}/v2`, { host })).status;
    expect(baseUrl).toBe(`http://127.0.0.1:${port}`);
    expect(await statusFor('0.0.0.0')).toBe(401);
    expect(await statusFor('evil.example')).toBe(421);
    if (address) expect((await send(`http://${address}:${port}/v2`, {})).status).toBe(401);
  });
});

it.each([
  ...['xGET /v2=503', '', 'GET', 'GET /v2', '/v2=503', 'get /v2=503', 'GET v2=503', 'GET /v2='],
  ...['GET /v2=503,first=0', 'GET /v2=503,last=1', 'GET /v2=503,first=1,every=2'],
  ...['200', '600', 'explode', '503:5', '429:', '429:-1', 'x503', '503x'].map(
    (kind) => `GET /v2=${kind}`,
  ),
])('parseFault refuses %j', (spec) => {
  const [, kind] = /^GET \/v2=([^,]+)$/.exec(spec) ?? [];
  const message =
    kind === undefined
      ? `--fault must be METHOD PATH=KIND[,first=N|,every=N] (got ${spec})`
      : `unknown kind of fault '${kind}'`;
  const facts = advice('list the kinds of faults with: imgctl emulator --help');
  expect(thrownBy(() => parseFault(spec))).toMatchObject({ code: 'usage', message, facts });
});

it.each([
  [['GET /v2=drop'], 'drop drop drop drop'],
  [['GET /v2=drop,first=2'], 'drop drop - -'],
  [['GET /v2=drop,every=2'], '- drop - drop'],
  [['GET /v2=drop,first=1', 'GET /v2=stall,first=2'], 'drop stall - -'],
  [['GET /v2=drop,every=2', '* *=html'], 'html drop html drop'],
  [['POST /v2=drop', 'GET /v2/*=drop', 'GET /v=drop'], '- - - -'],
])('createFaultPicker with %j picks %s', (specs, expected) => {
  const pick = createFaultPicker(specs.map(parseFault));
  const picked = Array.from({ length: 4 }, () => pick('GET', '/v2')?.type ?? '-');
  expect(picked.join(' ')).toBe(expected);
});

it.each([
  ['429:7', 429, '7', 'Fault injected: Too Many Requests.'],
  ['300', 300, null, 'Fault injected: Multiple Choices.'],
  ['599', 599, null, 'Fault injected: 599.'],
])('the fault %s answers %d, and asks to wait for %s s', async (fault, ...expected) => {
  const { send } = await serve({ faults: [`GET /v2=${fault}`] });
  const { status, headers, body } = await send<{ message: string }>('GET', '/v2');
  expect([status, headers.get('retry-after'), body.message]).toEqual(expected);
});

it('the fault html answers with a page', async () => {
  const { baseUrl } = await serve({ faults: ['GET /v2=html'] });
  const response = await fetch(`${baseUrl}/v2`);
  const type = response.headers.get('content-type');
  expect([response.status, type]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await response.text()).toBe(
    '<!doctype html><title>Sign in</title><h1>Sign in to this network</h1>',
  );
});

it('the fault drop ends the connection', async () => {
  const { baseUrl } = await serve({ faults: ['GET /v2=drop'] });
  const dropped = { cause: { code: 'UND_ERR_SOCKET' } };
  await expect(fetch(`${baseUrl}/v2`)).rejects.toMatchObject(dropped);
});

it('a defect is logged, and answered with 500', async () => {
  const lines: string[] = [];
  const log = (line: string) => {
    lines.push(line);
    if (line.startsWith('mail')) throw new Error('broken');
  };
  const { login, send } = await serve({ log });
  const { status, body } = await send('PATCH', '/v2/user/image/vm', await login());
  expect({ status, body }).toMatchObject({ status: 500, body: { message: 'The service failed.' } });
  expect(lines[1]).toMatch(/^defect: Error: broken\n +at /);
});

it('each response comes after the latency', async () => {
  const { send } = await serve({ latency: 50 });
  const started = performance.now();
  await send('GET', '/v2');
  // Timers may fire a millisecond early.
  expect(performance.now() - started).toBeGreaterThan(48);
});

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1');

it.skipIf(!hasIpv6)('an emulator on all addresses of IPv6 names the loopback', async () => {
  expect((await serve({ host: '::' })).baseUrl).toMatch(/^http:\/\/\[::1\]:\d+$/);
});

it.each([
  ['::1', '[::1]'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['10.0.0.1', '10.0.0.1'],
])('urlHost writes %s as %s', (address, host) => {
  expect(urlHost(address)).toBe(host);
});
