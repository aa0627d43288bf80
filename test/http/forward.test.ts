// Tests requests for plain http that a proxy forwards, over real sockets.

import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { bytes, clientOf, connect, GET, PATCH, proxyFor } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { rows } from '../support/rows.ts';
import {
  DROP,
  type Handler,
  RESET,
  requestsTo,
  type Script,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';

const SERVICE = 'http://images.example.com';
const _HERE = selfSigned('127.0.0.1');

/** A client of a service behind a proxy that sends these responses. */
async function through(script: Handler | Script, service = SERVICE, user = 'user:secret') {
  const proxy = await scriptedServer(script);
  const url = proxy.baseUrl.replace('//', `//${user}@`);
  const options = { proxy: proxyFor(service, url), connections: 1 };
  return { server: proxy, ...clientOf(service, options) };
}

const OK: ScriptedResponse = { json: 1 };

describe('a request for plain http through a proxy', () => {
  it('has the whole URL, the token and the credentials of the proxy', async () => {
    const { client, server } = await through(() => OK, SERVICE, 'us%40er:p%ss');
    expect(await client.serviceRoot()).toBe(1);
    await client.send({ method: 'PATCH', path: '/v2/user/image/vm' });
    expect(requestsTo(server)).toEqual([`GET ${SERVICE}/v2`, `PATCH ${SERVICE}/v2/user/image/vm`]);
    const pair = Buffer.from('us@er:p%ss').toString('base64');
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({
        host: 'images.example.com',
        authorization: 'Bearer T1',
        'proxy-authorization': `Basic ${pair}`,
      });
    }
  });

  it.each([
    ['http://images.example.com:8080/api', '/v2/image?page=2', 'images.example.com:8080'],
    ['http://[fd00::1]:81', '/v2?x=%20', '[fd00::1]:81'],
  ])('keeps port, path and query: %s and %s', async (service, path, host) => {
    const { client, server } = await through(() => OK, service);
    await client.send({ method: 'GET', path });
    expect(requestsTo(server)).toEqual([`GET ${service}${path}`]);
    expect(server.requests[0]?.headers.host).toBe(host);
  });

  it('has no fragment and no credentials of a proxy that needs none', async () => {
    const server = await scriptedServer(() => OK);
    const { client } = clientOf(SERVICE, { proxy: proxyFor(SERVICE, server.baseUrl) });
    await client.send({ method: 'GET', path: `${SERVICE}/v2#part` });
    expect(requestsTo(server)).toEqual([`GET ${SERVICE}/v2`]);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  const CREDENTIALS = /^add user name and password to HTTP_PROXY: http:/;
  const CHECK = /^check HTTP_PROXY, or add images\.example\.com to NO_PROXY$/;
  const refuses = (status: number, headers = {}) => ({ status, headers, body: '<html>' });
  const REFUSED = /^the proxy \S+ refused to connect to images\.example\.com:80: 40[137]$/;
  const FAILED = /^the proxy \S+ got no response from images\.example\.com:80: 50\d$/;
  const BROKEN = /^the proxy \S+ failed: (the connection was closed|its response is not HTTP)$/;

  it.each<[string, ScriptedResponse, RegExp, RegExp, string]>([
    ['407', refuses(407), REFUSED, CREDENTIALS, 'proxy'],
    [
      '401 as tinyproxy',
      refuses(401, { server: 'tinyproxy/1.11.1' }),
      REFUSED,
      CREDENTIALS,
      'proxy',
    ],
    [
      '403 as squid',
      refuses(403, { 'x-squid-error': 'ERR_ACCESS_DENIED 0' }),
      REFUSED,
      CHECK,
      'proxy',
    ],
    [
      '502 by RFC 9209',
      refuses(502, { 'proxy-status': 'p; error=connection_refused' }),
      FAILED,
      CHECK,
      'outcome-unknown',
    ],
    ['500 as tinyproxy', refuses(500, { server: 'tinyproxy' }), FAILED, CHECK, 'outcome-unknown'],
    ['nothing, but hangs up', DROP, BROKEN, CHECK, 'outcome-unknown'],
    ['another protocol', bytes('SSH-2.0-OpenSSH\r\n'), BROKEN, CHECK, 'outcome-unknown'],
  ])('fails without a retry if the proxy sends %s', async (...row) => {
    const [, response, message, hint, patchCode] = row;
    for (const request of [GET, PATCH]) {
      const { client, server, sleeps } = await through(() => response);
      const error = await failure(client.send(request));
      expect(error.code).toBe(request === GET ? 'proxy' : patchCode);
      expect(error.exitCode).toBe(3);
      expect(error.message).toMatch(message);
      if (error.code === 'proxy') expect(error.hint).toMatch(hint);
      expect(`${error.message}${error.hint}`).not.toContain('secret');
      expect([server.requests.length, sleeps]).toEqual([1, []]);
    }
  });

  it('fails without a retry if the proxy refuses the connection', async () => {
    const { baseUrl } = await unusedPort();
    const { client, sleeps } = clientOf(SERVICE, { proxy: proxyFor(SERVICE, baseUrl) });
    for (const request of [GET, PATCH]) {
      const error = await failure(client.send(request));
      expect([error.code, sleeps]).toEqual(['proxy', []]);
      expect(error.message).toContain('failed: the connection was refused');
    }
  });

  it('is retried if the connection is lost after an earlier response', async () => {
    const { client, server } = await through({ 'GET /v2': [OK, RESET, OK] });
    for (const _ of [1, 2]) expect(await client.serviceRoot()).toBe(1);
    expect(server.requests).toHaveLength(3);
  });

  it('is retried if the service responds 503, and passes on its 401', async () => {
    const failing = await through({ 'GET /v2': [{ status: 503 }, OK] });
    expect(await failing.client.serviceRoot()).toBe(1);
    const { client, tokens } = await through(() => ({ status: 401, json: {} }));
    expect((await failure(client.send(GET))).code).toBe('token-refused');
    expect(tokens.refusals).toEqual([['T1', false]]);
  });

  it.each([
    [200, 'bad-answer'],
    [403, 'not-permitted'],
    [404, 'not-found'],
    [503, 'server-error'],
  ])('blames the proxy for a page with status %i only perhaps', async (status, code) => {
    const page = { status, body: '<html>Blocked</html>' };
    const { client, server } = await through(() => page);
    const error = await failure(client.serviceRoot());
    const { host } = new URL(server.baseUrl);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(
      new RegExp(`${status}.* with HTML instead of JSON, perhaps from the proxy ${host}$`),
    );
    expect(error.hint).toMatch(CHECK);
    const direct = await connect({ 'GET /v2': page });
    expect((await failure(direct.client.serviceRoot())).message).not.toContain('proxy');
  });

  it.each([
    ...rows('usage', { method: 'GE T', path: '/v2' }),
    ...rows('bad-answer', { method: 'GET', path: '/v2/large' }),
  ])('keeps the error of the request itself: %j is %s', async (request, code) => {
    const { client } = await through({ 'GET /v2/large': { body: Buffer.alloc(2 ** 20 + 1) } });
    expect((await failure(client.send(request))).code).toBe(code);
  });
});
