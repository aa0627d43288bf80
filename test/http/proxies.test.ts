// Tests which proxy the environment chooses, requests that it forwards, and tunnels through it.

import { describe, expect, it } from 'vitest';
import { chooseProxy, parseProxy, proxySecrets } from '../../src/http/proxy-route.ts';
import { selfSigned } from '../support/certificate.ts';
import { clientOf, connect, GET, PATCH, proxyFor } from '../support/client.ts';
import { failure, hintOf, thrownBy } from '../support/errors.ts';
import { rows } from '../support/rows.ts';
import {
  DROP,
  RESET,
  requestsTo,
  type ScriptedResponse,
  scriptedServer,
  tokenResponse,
} from '../support/scripted-server.ts';
import { tunnelTo, unusedPort } from '../support/sockets.ts';

const HTTPS = 'https://images.example.com/v2';
const PLAIN_SERVICE = 'http://images.example.com';

describe('chooseProxy', () => {
  type Env = Record<string, string>;
  it.each<[string, Env, string | undefined, string | undefined, string | undefined]>([
    [HTTPS, {}, undefined, undefined, undefined],
    [HTTPS, { https_proxy: 'http://a', HTTPS_PROXY: 'b' }, 'https_proxy', 'http://a/', undefined],
    [HTTPS, { https_proxy: '', HTTPS_PROXY: 'b:3128' }, 'HTTPS_PROXY', 'http://b:3128/', undefined],
    [HTTPS, { HTTPS_PROXY: 'p', NO_PROXY: 'a *' }, 'HTTPS_PROXY', undefined, 'NO_PROXY entry *'],
    [HTTPS, { HTTPS_PROXY: 'p', no_proxy: '*' }, 'HTTPS_PROXY', undefined, 'no_proxy entry *'],
    [HTTPS, { NO_PROXY: '*' }, undefined, undefined, undefined],
    [PLAIN_SERVICE, { HTTP_PROXY: 'http://p' }, 'HTTP_PROXY', 'http://p/', undefined],
    ['http://127.0.0.1:8080', { HTTP_PROXY: 'p' }, 'HTTP_PROXY', undefined, 'this machine'],
    ['https://[::1]', { HTTPS_PROXY: 'p' }, 'HTTPS_PROXY', undefined, 'this machine'],
  ])('reads for %s from %j %s: %s, bypassed by %s', (url, env, variable, href, bypassReason) => {
    const { proxy, ...choice } = chooseProxy(new URL(url), env);
    expect({ href: proxy?.url.href, ...choice }).toEqual({ href, variable, bypassReason });
  });

  it.each([
    [
      HTTPS,
      { ALL_PROXY: 'p' },
      'set HTTPS_PROXY to the HTTP proxy, as ALL_PROXY is not read for https://',
    ],
    [
      HTTPS,
      { http_proxy: 'p' },
      'set HTTPS_PROXY to the HTTP proxy, as http_proxy is not read for https://',
    ],
    [
      PLAIN_SERVICE,
      { HTTPS_PROXY: 'p' },
      'set HTTP_PROXY to the HTTP proxy, as HTTPS_PROXY is not read for http://',
    ],
    ['https://127.0.0.1', { ALL_PROXY: 'p' }, undefined],
    [HTTPS, { ALL_PROXY: 'p', NO_PROXY: 'example.com' }, undefined],
    [HTTPS, { HTTPS_PROXY: 'p', ALL_PROXY: 'q' }, undefined],
  ])('says for %s with %j what to set: %s', (url, env, unused) => {
    expect(chooseProxy(new URL(url), env as Env).proxyAdvice).toBe(unused);
  });

  it.each([
    ...rows(HTTPS, 'images.example.com', 'IMAGES.Example.com', 'example.com'),
    ...rows(HTTPS, '.example.com', '*.example.com', 'images.example.com:443'),
    ...rows(HTTPS, 'other, images.example.com', 'other images.example.com', '*'),
    ...rows(HTTPS, 'example.com.'),
    ...rows('https://10.1.2.3', '10.1.2.3', '0.0.0.0/0'),
    ...rows('https://example.com:8443', 'example.com:8443'),
    ...rows('https://[fd00::1]', 'fd00::1', '[fd00::1]', 'FD00:0::1'),
    ...rows('https://[fd00::1]:8443', '[fd00::1]:8443'),
    ...rows('https://[fe80::1]', 'fe80::1%eth0'),
    ...rows('https://images.example.com.', 'example.com'),
    ...rows('https://10.200.3.4', '10.0.0.0/8'),
    ...rows('https://10.1.2.3:8443', '10.1.2.3/32'),
    ...rows('https://172.31.255.255', '172.16.0.0/12,'),
    ...rows('https://[fd12:3456::1]', 'fd00::/8', '[fd00::]/8'),
  ])('matches NO_PROXY=%s with %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', NO_PROXY: noProxy };
    expect(chooseProxy(new URL(url), env).proxy).toBeUndefined();
  });

  it.each([
    ...rows(HTTPS, '', ',', 'ample.com', 'images.example.com:8443'),
    ...rows(HTTPS, 'images.example.com.evil.org', 'x.images.example.com'),
    ...rows(HTTPS, 'fe80::1%eth0, fe80::%eth0/10', 'images.example.com/24'),
    ...rows('https://[fd00::2]', 'fd00::1'),
    ...rows('https://[fd00::1]:8443', 'fd00::1:8443'),
    ...rows(
      'https://10.0.0.1',
      '10.0.0.0/8x',
      '0.0.1',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0/8',
      '::/0',
    ),
    ...rows('https://11.0.0.1', '10.0.0.0/8'),
    ...rows('https://[fd00::1]', '0.0.0.0/0', 'fd00::/129'),
    ...rows('https://10.example.com', '10.0.0.0/8'),
  ])('does not match NO_PROXY=%s with %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', no_proxy: noProxy };
    expect(chooseProxy(new URL(url), env).proxy?.url.href).toBe('http://proxy/');
  });

  const ESCAPES = ' (in a user name or password, write / as %2F, # as %23 and \\ as %5C)';
  it.each([
    ...rows('is a SOCKS proxy, which is not supported', 'socks5://proxy', 'SOCKS5H://a:secret@b'),
    ...rows('is a SOCKS proxy, which is not supported', 'socks5h://a:se#cret@b:1080'),
    ...rows(
      'is a SOCKS proxy, which is not supported',
      'socks5://a:x/secret@b',
      'socks://d\\a:x@b',
    ),
    ...rows('is not an http or https URL', 'ftp://user:secret@proxy', 'http://', 'proxy:99999'),
    ...rows('is not an http or https URL', 'http://a:secret@bad host', 'a:secret/x@proxy:3128'),
    ...rows('is not an http or https URL', 'http://dom\\user:secret@proxy:3128'),
  ])('rejects %s without its password: it %s', (text, problem) => {
    const error = thrownBy(() => chooseProxy(new URL(HTTPS), { HTTPS_PROXY: text }));
    expect(error).toMatchObject({ code: 'config', message: `HTTPS_PROXY ${problem}` });
    const escapes = text.includes('@') ? ESCAPES : '';
    expect(hintOf(error)).toBe(
      `use the HTTP port of the proxy, such as http://proxy.example.com:3128${escapes}, or add images.example.com to NO_PROXY`,
    );
  });
});

it.each([
  ['user:p%61ss', ['p%61ss', 'pass', 'dXNlcjpwYXNz']],
  ['k%65y', ['k%65y', 'key', 'a2V5Og==']],
  ['', []],
])('the secrets of a proxy with the credentials %j are %j', (credentials, secrets) => {
  const proxy = parseProxy(`http://${credentials}@proxy:3128`, 'HTTPS_PROXY');
  expect(proxySecrets(proxy)).toEqual(secrets);
});

/** A client of a service behind a proxy that sends these responses. */
async function through(
  script: Parameters<typeof scriptedServer>[0],
  service = PLAIN_SERVICE,
  user = 'user:secret',
) {
  const proxy = await scriptedServer(script);
  const url = proxy.baseUrl.replace('//', `//${user}@`);
  const options = { proxy: proxyFor(service, url), connections: 1 };
  return { server: proxy, ...clientOf(service, options) };
}

const OK = { json: 1 };
const PAIR = Buffer.from('us@er:p%ss').toString('base64');
const CHECK = /^check HTTPS?_PROXY, or add images\.example\.com to NO_PROXY$/;

describe('a request for plain http through a proxy', () => {
  it.each([
    [PLAIN_SERVICE, GET, 'us%40er:p%ss', `Basic ${PAIR}`],
    [PLAIN_SERVICE, PATCH, 'us%40er:p%ss', `Basic ${PAIR}`],
    [`${PLAIN_SERVICE}:8080/api`, { method: 'GET', path: '/v2/image?page=2' }, '', undefined],
    ['http://[fd00::1]:81', { method: 'GET', path: '/v2?x=%20#part' }, '', undefined],
  ])('has the whole URL, the token and the credentials of the proxy: %s, %j', async (...row) => {
    const [service, request, user, proxyAuthorization] = row;
    const { client, server } = await through(() => OK, service, user);
    expect((await client.send(request)).status).toBe(200);
    const { method, path } = request;
    expect(requestsTo(server)).toEqual([`${method} ${service}${path.replace('#part', '')}`]);
    const { host, authorization, ...headers } = server.requests[0]?.headers ?? {};
    expect({ host, authorization }).toEqual({
      host: new URL(service).host,
      authorization: 'Bearer T1',
    });
    expect(headers['proxy-authorization']).toBe(proxyAuthorization);
  });

  it('fails without a retry if the proxy refuses the connection', async () => {
    const { baseUrl } = await unusedPort();
    const { client, sleeps } = clientOf(PLAIN_SERVICE, { proxy: proxyFor(PLAIN_SERVICE, baseUrl) });
    const error = await failure(client.send(GET));
    const message = `the proxy ${new URL(baseUrl).host} failed: the connection was refused`;
    expect(error).toMatchObject({ code: 'proxy', message, cause: { code: 'ECONNREFUSED' } });
    expect(hintOf(error)).toMatch(CHECK);
    expect(sleeps).toEqual([]);
  });

  it('is retried if the connection is lost after a response, and after 503', async () => {
    const { client, server } = await through({ 'GET /v2': [OK, RESET, { status: 503 }, OK] });
    for (const _ of [1, 2]) expect(await client.serviceRoot()).toBe(1);
    expect(server.requests).toHaveLength(4);
  });

  it('passes on a 401 of the service', async () => {
    const { client, tokens } = await through(() => ({ status: 401, json: {} }));
    expect((await failure(client.send(GET))).code).toBe('token-refused');
    expect(tokens.refusals).toEqual([['T1', false]]);
  });

  it.each([
    [200, 'bad-answer'],
    [403, 'bad-answer'],
    [404, 'not-found'],
    [503, 'server-error'],
  ])('blames the proxy for a page with status %i only perhaps', async (status, code) => {
    const page = { status, body: '<html>Blocked</html>' };
    const { client, server } = await through(() => page);
    const error = await failure(client.serviceRoot());
    const { host } = new URL(server.baseUrl);
    expect(error.code).toBe(code);
    const blame = `with HTML instead of JSON, perhaps from the proxy ${host}$`;
    expect(error.message).toMatch(new RegExp(`${status}.* ${blame}`));
    expect(hintOf(error)).toMatch(CHECK);
    const direct = await connect({ 'GET /v2': page });
    expect((await failure(direct.client.serviceRoot())).message).not.toContain('proxy');
  });

  it('keeps the error of a response that is too large', async () => {
    const { client } = await through({ 'GET /v2': { body: Buffer.alloc(2 ** 20 + 1) } });
    expect((await failure(client.send(GET))).code).toBe('bad-answer');
  });
});

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
    const options = { proxy: withUser(proxy, 'us%40er:p%ss'), ca: THERE.cert, connections: 1 };
    const { client } = clientOf(SERVICE, options);
    expect(await client.serviceRoot()).toBe(1);
    expect(await client.serviceRoot()).toBe(1);
    expect(proxy.heads).toHaveLength(1);
    expect(proxy.heads[0]).toMatch(/^CONNECT images\.example\.com:443 HTTP\/1\.1\r\n/);
    expect(proxy.heads[0]).toMatch(new RegExp(`proxy-authorization: basic ${PAIR}`, 'i'));
    expect(proxy.heads[0]).not.toContain('T1');
    const { host, authorization, ...headers } = server.requests[0]?.headers ?? {};
    expect({ host, authorization }).toEqual({
      host: 'images.example.com',
      authorization: 'Bearer T1',
    });
    expect(headers).not.toHaveProperty('proxy-authorization');
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
    expect(error.message).toMatch(/^the proxy 127\.0\.0\.1:\d+ failed: self-signed certificate$/);
    expect(proxy.heads).toHaveLength(1);
  });
});

describe('a proxy', () => {
  const CREDENTIALS = /^check user name and password in HTTPS?_PROXY \(write @ as %40\)$/;
  const LOCAL = /^set HTTPS?_PROXY to a proxy that accepts Basic, such as a local cntlm$/;
  const NTLM = 'proxy-authenticate: Negotiate\r\nproxy-authenticate: NTLM';
  const responds = (status: number, header = 'x: y') =>
    `HTTP/1.1 ${status} No\r\n${header}\r\ncontent-length: 2\r\n\r\nno`;

  it.each<[string, string | undefined, RegExp, RegExp]>([
    ['responds 407', responds(407), /PROXY refused the user user: 407$/, CREDENTIALS],
    [
      'requires NTLM',
      responds(407, NTLM),
      /PROXY requires Negotiate or NTLM \(407\); imgctl can only send Basic$/,
      LOCAL,
    ],
    [
      'requires ntlm',
      responds(407, 'proxy-authenticate: ntlm'),
      /PROXY requires ntlm \(407\); imgctl can only send Basic$/,
      LOCAL,
    ],
    [
      'takes basic',
      responds(407, 'proxy-authenticate: ntlm, basic'),
      /PROXY refused the user user: 407$/,
      CREDENTIALS,
    ],
    [
      'responds 401',
      responds(401, 'server: tinyproxy/1.11.1'),
      /PROXY refused the user user: 401$/,
      CREDENTIALS,
    ],
    [
      'responds 403',
      responds(403, 'x-squid-error: ERR_DENIED 0'),
      /PROXY refused to connect to TARGET: 403$/,
      CHECK,
    ],
    [
      'responds 502',
      responds(502, 'proxy-status: p; error=x'),
      /PROXY got no response from TARGET: 502$/,
      CHECK,
    ],
    [
      'responds 504',
      responds(504, 'proxy-status: p;error=x'),
      /PROXY got no response from TARGET: 504$/,
      CHECK,
    ],
    [
      'responds 500',
      responds(500, 'server: tinyproxy'),
      /PROXY got no response from TARGET: 500$/,
      CHECK,
    ],
    ['hangs up', undefined, /PROXY failed: the connection was closed$/, CHECK],
    ['has another protocol', 'SSH-2.0-SSH\r\n', /PROXY failed: its response is not HTTP$/, CHECK],
  ])('that %s fails requests and tunnels without a retry', async (_, response, message, hint) => {
    for (const service of [PLAIN_SERVICE, SERVICE]) {
      for (const request of [GET, PATCH]) {
        const proxy = await tunnelTo(response);
        const url = proxy.baseUrl.replace('//', '//user:secret@');
        const { client, sleeps } = clientOf(service, { proxy: proxyFor(service, url) });
        const error = await failure(client.send(request));
        // Below 500 the proxy refused to forward the request.
        const isSent = service === PLAIN_SERVICE && !/40\d/.test(`${response}`);
        const isUnknown = isSent && request === PATCH;
        expect(error).toMatchObject({ code: isUnknown ? 'outcome-unknown' : 'proxy', exitCode: 3 });
        const port = service === SERVICE ? 443 : 80;
        const said = error.message
          .replace(/the proxy 127\.0\.0\.1:\d+ /, 'PROXY ')
          .replace(`images.example.com:${port}: `, 'TARGET: ');
        expect(said).toMatch(message);
        if (!isUnknown) {
          expect(said).toMatch(/^PROXY /);
          expect(hintOf(error)).toMatch(hint);
        }
        expect(`${error.message}${hintOf(error)}`).not.toContain('secret');
        expect({ heads: proxy.heads.length, sleeps }).toEqual({ heads: 1, sleeps: [] });
        if (service === SERVICE) await expect.poll(() => proxy.open.size).toBe(0);
      }
    }
  });

  it('that responds 407 to a request without a user name says where to add one', async () => {
    const proxy = await tunnelTo(responds(407));
    const { client } = clientOf(SERVICE, { proxy: proxyFor(SERVICE, proxy.baseUrl) });
    const error = await failure(client.send(GET));
    const { host } = new URL(proxy.baseUrl);
    const message = `the proxy ${host} refused to connect to images.example.com:443: 407`;
    expect(error).toMatchObject({ code: 'proxy', message, status: 407, transient: false });
    const hint = 'add user name and password to HTTPS_PROXY: http://user:password@host:port';
    expect(hintOf(error)).toBe(hint);
  });

  const once: ScriptedResponse = { json: 1, headers: { connection: 'close' } };
  const outage = [ESTABLISHED, responds(502), responds(503), responds(504), undefined];
  const token = tokenResponse('T2');

  it('gets 15 s to reach a service that restarts, also for a token request', async () => {
    const script = { 'GET /v2': once, 'POST /auth/request-token': token };
    const server = await scriptedServer(script, THERE);
    const proxy = await tunnelTo(
      [...outage, ESTABLISHED, ...outage.slice(1), ESTABLISHED],
      server.baseUrl,
    );
    const { client, sleeps } = clientOf(SERVICE, { proxy: withUser(proxy), ca: THERE.cert });
    for (const _ of [1, 2]) expect(await client.serviceRoot()).toBe(1);
    expect(sleeps).toEqual([300, 1_200, 4_800, 12_000]);
    expect((await client.requestToken('ann', 'p:w')).token).toBe('T2');
    expect(sleeps).toHaveLength(8);
    expect(requestsTo(server)).toEqual(['GET /v2', 'GET /v2', 'POST /auth/request-token']);
  });

  it.each([
    ['200 and early data', `${ESTABLISHED}SSH-2.0-SSH\r\n`],
    ['407', responds(407)],
    ['403', responds(403)],
    ['500', responds(500)],
    ['another protocol', 'SSH-2.0-SSH\r\n'],
  ])(
    'gets no retry if it responds with %s after a response of the service',
    async (_, response) => {
      const server = await scriptedServer({ 'GET /v2': once }, THERE);
      const proxy = await tunnelTo([ESTABLISHED, response], server.baseUrl);
      const { client, sleeps } = clientOf(SERVICE, { proxy: withUser(proxy), ca: THERE.cert });
      expect(await client.serviceRoot()).toBe(1);
      const error = await failure(client.serviceRoot());
      expect(error.code).toBe('proxy');
      const isEarly = error.message.endsWith(
        ' sent data instead of a connection to images.example.com:443: 200',
      );
      expect({ isEarly, sleeps }).toEqual({
        isEarly: response.startsWith(ESTABLISHED),
        sleeps: [],
      });
    },
  );

  it('that forwards gets 15 s too, if it says that the service restarts', async () => {
    const page = { status: 503, headers: { 'proxy-status': 'p; error=connection_refused' } };
    const { client, sleeps } = await through({ 'GET /v2': [OK, page, RESET, page, OK] });
    for (const _ of [1, 2]) expect(await client.serviceRoot()).toBe(1);
    expect(sleeps).toEqual([300, 1_200, 4_800]);
  });
});
