// Proxies: which one applies, tunnels through one, and one clear failure where it refuses or hangs up.

import { describe, expect, it } from 'vitest';
import { chooseProxy } from '../../src/http/proxy-env.ts';
import { selfSigned } from '../support/certificate.ts';
import { clientOf, GET, PATCH } from '../support/client.ts';
import { failure, thrownBy } from '../support/errors.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { tunnelTo, unusedPort } from '../support/sockets.ts';

const HTTPS = 'https://images.example.com/v2';

describe('chooseProxy', () => {
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
    expect(chooseProxy(new URL(url), env).proxy?.href).toBe(expected);
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
    ['FD00:0::1', 'https://[fd00::1]'],
    ['fe80::1%eth0', 'https://[fe80::1]'],
    ['example.com.', HTTPS],
    ['example.com', 'https://images.example.com.'],
    ['10.0.0.0/8', 'https://10.200.3.4'],
    ['10.1.2.3/32', 'https://10.1.2.3:8443'],
    ['0.0.0.0/0', 'https://10.1.2.3'],
    ['172.16.0.0/12,', 'https://172.31.255.255'],
    ['fd00::/8', 'https://[fd12:3456::1]'],
    ['[fd00::]/8', 'https://[fd12:3456::1]'],
  ])('NO_PROXY=%s spares %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', NO_PROXY: noProxy };
    expect(chooseProxy(new URL(url), env).proxy).toBeUndefined();
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
    ['0.0.1', 'https://10.0.0.1'],
    ['fe80::1%eth0, fe80::%eth0/10', HTTPS],
    ['10.0.0.0/8', 'https://11.0.0.1'],
    ['10.0.0.0/33', 'https://10.0.0.1'],
    ['10.0.0.0/', 'https://10.0.0.1'],
    ['10.0/8', 'https://10.0.0.1'],
    ['0.0.0.0/0', 'https://[fd00::1]'],
    ['::/0', 'https://10.0.0.1'],
    ['fd00::/129', 'https://[fd00::1]'],
    ['10.0.0.0/8', 'https://10.example.com'],
    ['images.example.com/24', HTTPS],
  ])('NO_PROXY=%s does not spare %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', no_proxy: noProxy };
    expect(chooseProxy(new URL(url), env).proxy?.href).toBe('http://proxy/');
  });

  it.each<[string, Record<string, string>, string | undefined, string | undefined]>([
    [HTTPS, { HTTPS_PROXY: 'proxy' }, 'HTTPS_PROXY', undefined],
    [HTTPS, { https_proxy: 'proxy', HTTPS_PROXY: 'other' }, 'https_proxy', undefined],
    [
      HTTPS,
      { HTTPS_PROXY: 'proxy', NO_PROXY: 'a,10.0.0.0/8 *.example.com' },
      'HTTPS_PROXY',
      'NO_PROXY entry *.example.com',
    ],
    ['https://127.0.0.9', { HTTPS_PROXY: 'proxy' }, 'HTTPS_PROXY', 'this machine'],
    [HTTPS, { NO_PROXY: '*' }, undefined, undefined],
  ])('for %s with %j tells the variable and what spares it', (url, env, variable, bypassReason) => {
    expect(chooseProxy(new URL(url), env)).toMatchObject({ variable, bypassReason });
  });

  it.each([
    ['socks5://proxy:1080', /^HTTPS_PROXY is a SOCKS proxy, which/],
    ['SOCKS5H://user:secret@proxy', /^HTTPS_PROXY is a SOCKS proxy, which/],
    ['ftp://user:secret@proxy', /^HTTPS_PROXY is not an http or https URL/],
    ['http://', /^HTTPS_PROXY is not/],
    ['http://user:secret@bad host', /^HTTPS_PROXY is not/],
    ['user:secret/x@proxy:3128', /^HTTPS_PROXY is not/],
    ['proxy:99999', /^HTTPS_PROXY is not/],
  ])('refuses %s', (text, message) => {
    const error = thrownBy(() => chooseProxy(new URL(HTTPS), { HTTPS_PROXY: text }));
    expect(error).toMatchObject({
      code: 'config',
      exitCode: 2,
      message: expect.stringMatching(message),
      hint: expect.stringContaining('http://proxy.example.com:3128'),
    });
    expect(String(error)).not.toContain('secret');
  });
});

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
const SERVICE = 'http://images.example.com';

describe('a tunnel', () => {
  it('carries the requests; the proxy sees its own password but not the token', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: 1 } });
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

  const CREDENTIALS = /^add user name and password to the proxy variable/;
  const NO_PROXY = /NO_PROXY$/;

  it.each<[string, string | undefined, RegExp, RegExp]>([
    [
      'asks for a password',
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      /refused .*: 407$/,
      CREDENTIALS,
    ],
    ['refuses a password', 'HTTP/1.1 401 No\r\n\r\n', /refused .*: 401$/, CREDENTIALS],
    [
      'refuses',
      'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno',
      /refused .*: 403$/,
      NO_PROXY,
    ],
    ['hangs up', undefined, /failed: the connection was closed$/, NO_PROXY],
    ['is none', 'SSH-2.0-OpenSSH\r\n', /failed: HPE_/, NO_PROXY],
  ])('fails once where the proxy %s', async (_, answer, message, hint) => {
    for (const request of [GET, PATCH]) {
      const proxy = await tunnelTo(answer);
      const { client, sleeps } = clientOf(SERVICE, {
        proxy: new URL(proxy.baseUrl.replace('//', '//user:secret@')),
      });
      const error = await failure(client.send(request));
      expect([error.code, error.exitCode]).toEqual(['proxy', 3]);
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      expect(`${error.message}${error.hint}`).not.toContain('secret');
      expect(proxy.heads).toHaveLength(1);
      expect(sleeps).toEqual([]);
    }
  });

  it('that breaks is a lost connection like any other', async () => {
    const server = await scriptedServer({
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

  it('goes through a proxy that is spoken to over TLS, if its certificate is trusted', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: 1 } });
    const identity = selfSigned('127.0.0.1');
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl, identity);
    const url = new URL(proxy.baseUrl.replace('//', '//user:secret@'));
    const { client } = clientOf(SERVICE, { proxy: url, ca: identity.cert });
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads[0]).toMatch(/^CONNECT images\.example\.com:80 /);

    const error = await failure(clientOf(SERVICE, { proxy: url }).client.send(GET));
    expect(error.code).toBe('proxy');
    expect(error.message).toMatch(/^the proxy 127\.0\.0\.1:\d+ failed: \w*SELF_SIGNED_CERT$/);
    expect(proxy.heads).toHaveLength(1);
  });

  it('carries TLS inside of TLS', async () => {
    const identity = selfSigned('127.0.0.1');
    const server = await scriptedServer({ 'GET /v2': { json: 1 } }, identity);
    const proxy = await tunnelTo(ESTABLISHED, server.baseUrl, identity);
    const { client } = clientOf(server.baseUrl, {
      proxy: new URL(proxy.baseUrl),
      ca: identity.cert,
    });
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads).toHaveLength(1);
  });

  it('fails once where nothing listens as the proxy', async () => {
    const { baseUrl } = await unusedPort();
    const { client, sleeps } = clientOf(SERVICE, { proxy: new URL(baseUrl) });
    const error = await failure(client.send(GET));
    expect([error.code, sleeps]).toEqual(['proxy', []]);
    expect(error.message).toContain('failed: the connection was refused');
  });
});
