// Proxies: which one applies, tunnels through one, and one clear failure where it refuses or hangs up.

import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../src/api/proxy.ts';
import { STALL } from '../support/scripted-server.ts';
import { clientOf, failure, GET, PATCH, serverOf, tunnelTo } from './harness.ts';

const HTTPS = 'https://images.example.com/v2';

describe('proxyFor', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    [HTTPS, {}, undefined],
    [HTTPS, { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128/'],
    [HTTPS, { https_proxy: 'http://small', HTTPS_PROXY: 'http://CAPITAL' }, 'http://small/'],
    [HTTPS, { https_proxy: '', HTTPS_PROXY: 'http://capital' }, 'http://capital/'],
    [HTTPS, { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    [HTTPS, { HTTP_PROXY: 'http://proxy' }, undefined],
    ['http://images.example.com', { HTTP_PROXY: 'http://proxy' }, 'http://proxy/'],
    ['http://images.example.com', { HTTPS_PROXY: 'http://proxy' }, undefined],
    ['http://127.0.0.1:8080', { HTTP_PROXY: 'http://proxy' }, undefined],
    ['http://localhost', { http_proxy: 'http://proxy' }, undefined],
    ['https://[::1]', { HTTPS_PROXY: 'http://proxy' }, undefined],
  ])('for %s with %j is %s', (url, env, expected) => {
    expect(proxyFor(new URL(url), env)?.href).toBe(expected);
  });

  it.each([
    ['images.example.com', HTTPS],
    ['IMAGES.Example.com', HTTPS],
    ['example.com', HTTPS],
    ['.example.com', HTTPS],
    ['*.example.com', HTTPS],
    ['images.example.com:443', HTTPS],
    ['other, images.example.com', HTTPS],
    ['other images.example.com', HTTPS],
    ['*', HTTPS],
    ['10.1.2.3', 'https://10.1.2.3'],
    ['example.com:8443', 'https://example.com:8443'],
    ['fd00::1', 'https://[fd00::1]'],
    ['[fd00::1]', 'https://[fd00::1]'],
    ['[fd00::1]:8443', 'https://[fd00::1]:8443'],
  ])('NO_PROXY=%s spares %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', NO_PROXY: noProxy };
    expect(proxyFor(new URL(url), env)).toBeUndefined();
  });

  it.each([
    ['', HTTPS],
    [',', HTTPS],
    ['ample.com', HTTPS],
    ['images.example.com:8443', HTTPS],
    ['images.example.com.evil.org', HTTPS],
    ['x.images.example.com', HTTPS],
    ['fd00::1', 'https://[fd00::2]'],
    ['fd00::1:8443', 'https://[fd00::1]:8443'],
  ])('NO_PROXY=%s does not spare %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', no_proxy: noProxy };
    expect(proxyFor(new URL(url), env)?.href).toBe('http://proxy/');
  });

  it.each([['socks5://proxy'], ['https://proxy'], ['http://'], ['http://user:secret@bad host']])(
    'refuses %s',
    (text) => {
      let error: unknown;
      try {
        proxyFor(new URL(HTTPS), { HTTPS_PROXY: text });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({ code: 'config', exitCode: 2 });
      expect(String(error)).not.toContain('secret');
    },
  );
});

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
const SERVICE = 'http://images.example.com';

describe('a tunnel', () => {
  it('carries the requests; the proxy sees its own password but not the token', async () => {
    const server = await serverOf({ 'GET /v2': { json: 1 } });
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl);
    const url = new URL(proxy.baseUrl.replace('//', '//us%40er:p%ss@'));
    const { client } = clientOf(SERVICE, { proxy: url, connections: 1 });
    expect(await client.serviceRoot()).toBe(1);
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads).toHaveLength(1);
    expect(proxy.heads[0]).toMatch(/^CONNECT images\.example\.com:80 HTTP\/1\.1\r\n/);
    const pair = Buffer.from('us@er:p%ss').toString('base64');
    expect(proxy.heads[0]?.toLowerCase()).toContain(
      `proxy-authorization: basic ${pair.toLowerCase()}`,
    );
    expect(proxy.heads[0]).not.toContain('T1');
    expect(server.requests[0]?.headers).toMatchObject({
      host: 'images.example.com',
      authorization: 'Bearer T1',
    });
    expect(server.requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it.each<[string, string | undefined, RegExp]>([
    [
      'asks for a password',
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      /refused .*: 407$/,
    ],
    ['refuses', 'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno', /refused .*: 403$/],
    ['hangs up', undefined, /failed: ECONNRESET$/],
    ['is none', 'SSH-2.0-OpenSSH\r\n', /failed: HPE_/],
  ])('fails once where the proxy %s', async (_, answer, message) => {
    for (const request of [GET, PATCH]) {
      const proxy = await tunnelTo(answer);
      const { client, sleeps } = clientOf(SERVICE, {
        proxy: new URL(proxy.baseUrl.replace('//', '//user:secret@')),
      });
      const error = await failure(client.send(request));
      expect([error.code, error.exitCode]).toEqual(['proxy', 3]);
      expect(error.message).toMatch(message);
      expect(`${error.message}${error.hint}`).not.toContain('secret');
      expect(proxy.heads).toHaveLength(1);
      expect(sleeps).toEqual([]);
    }
  });

  it('that breaks is a lost connection like any other', async () => {
    const server = await serverOf({
      'GET /v2': [{ raw: (socket) => socket.resetAndDestroy() }, { json: 1 }],
    });
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl);
    const { client } = clientOf(SERVICE, { proxy: new URL(proxy.baseUrl) });
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads).toHaveLength(2);
  });

  it('through a proxy that never answers ends with the deadline, and with close', async () => {
    const proxy = await tunnelTo('');
    const { client } = clientOf(SERVICE, { proxy: new URL(proxy.baseUrl), timeout: 50 });
    expect((await failure(client.send(PATCH))).code).toBe('timeout');
    await client.close();
  });

  it('fails once where nothing listens as the proxy', async () => {
    const server = await serverOf({ 'GET /v2': STALL });
    await server.close();
    const { client, sleeps } = clientOf(SERVICE, { proxy: new URL(server.baseUrl) });
    const error = await failure(client.send(GET));
    expect([error.code, sleeps]).toEqual(['proxy', []]);
    expect(error.message).toContain('failed: ECONNREFUSED');
  });
});
