// Tests tunnels through proxies, over real sockets.

import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { clientOf, GET, PATCH, proxyFor } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { DROP, scriptedServer } from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
const SERVICE = 'https://images.example.com';
const THERE = selfSigned('images.example.com');
const BOTH = selfSigned('127.0.0.1', 'images.example.com');

/** Adds a user name and password to the URL of a proxy. */
const withUser = ({ baseUrl }: { baseUrl: string }, user = 'user:secret') =>
  proxyFor(SERVICE, baseUrl.replace('//', `//${user}@`));

describe('a tunnel through a proxy', () => {
  it('carries several requests and shows the proxy its own password but not the token', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: 1 } }, THERE);
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl);
    const { client } = clientOf(SERVICE, {
      proxy: withUser(proxy, 'us%40er:p%ss'),
      ca: THERE.cert,
      connections: 1,
    });
    expect(await client.serviceRoot()).toBe(1);
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads).toHaveLength(1);
    expect(proxy.heads[0]).toMatch(/^CONNECT images\.example\.com:443 HTTP\/1\.1\r\n/);
    const pair = Buffer.from('us@er:p%ss').toString('base64');
    expect(proxy.heads[0]).toMatch(new RegExp(`proxy-authorization: basic ${pair}`, 'i'));
    expect(proxy.heads[0]).not.toContain('T1');
    const headers = { host: 'images.example.com', authorization: 'Bearer T1' };
    expect(server.requests[0]?.headers).toMatchObject(headers);
    expect(server.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  const CREDENTIALS = /^add user name and password to HTTPS_PROXY: http:/;
  const NO_PROXY = /^check HTTPS_PROXY, or add images\.example\.com to NO_PROXY$/;

  it.each<[string, string | undefined, RegExp, RegExp]>([
    ['responds 407', 'HTTP/1.1 407 Required\r\n\r\n', /refused .*: 407$/, CREDENTIALS],
    ['responds 401', 'HTTP/1.1 401 No\r\n\r\n', /refused .*: 401$/, CREDENTIALS],
    [
      'responds 403',
      'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno',
      /refused .*: 403$/,
      NO_PROXY,
    ],
    ['responds 503', 'HTTP/1.1 503 No\r\n\r\n', /got no response from .*: 503$/, NO_PROXY],
    ['hangs up', undefined, /failed: the connection was closed$/, NO_PROXY],
    [
      'speaks another protocol',
      'SSH-2.0-OpenSSH\r\n',
      /failed: its response is not HTTP$/,
      NO_PROXY,
    ],
  ])('fails without a retry if the proxy %s', async (_, response, message, hint) => {
    for (const request of [GET, PATCH]) {
      const proxy = await tunnelTo(response);
      const { client, sleeps } = clientOf(SERVICE, { proxy: withUser(proxy) });
      const error = await failure(client.send(request));
      expect([error.code, error.exitCode]).toEqual(['proxy', 3]);
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      expect(`${error.message}${error.hint}`).not.toContain('secret');
      expect(proxy.heads).toHaveLength(1);
      expect(sleeps).toEqual([]);
    }
  });

  it('is opened again for a retry if it breaks', async () => {
    const server = await scriptedServer({ 'GET /v2': [DROP, { json: 1 }] }, THERE);
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl);
    const proxied = proxyFor(SERVICE, proxy.baseUrl);
    const { client } = clientOf(SERVICE, { proxy: proxied, ca: THERE.cert });
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads).toHaveLength(2);
  });

  it('goes through an https proxy only if its certificate is trusted', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: 1 } }, BOTH);
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl, BOTH);
    const { client } = clientOf(SERVICE, { proxy: withUser(proxy), ca: BOTH.cert });
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads[0]).toMatch(/^CONNECT images\.example\.com:443 /);

    const untrusting = clientOf(SERVICE, { proxy: withUser(proxy) });
    const error = await failure(untrusting.client.send(GET));
    expect(error.code).toBe('proxy');
    expect(error.message).toMatch(/^the proxy 127\.0\.0\.1:\d+ failed: \w*SELF_SIGNED_CERT$/);
    expect(proxy.heads).toHaveLength(1);
  });
});
