// Hazards of requests: another origin, proxies, TLS and repeated writes, against the built program.

import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { selfSigned } from '../support/certificate.ts';
import {
  freshHome,
  issue,
  LIST,
  runBuilt,
  scriptedService,
  TOKEN_REQUEST,
} from '../support/cli.ts';
import {
  errorResponse,
  RESET,
  type Script,
  type ScriptedResponse,
} from '../support/scripted-server.ts';
import { listen, tunnelTo } from '../support/sockets.ts';

const SYNC = 'PATCH /v2/user/image/vm';
const ONE_PAGE = { json: cataloguePage(new URL('http://x/v2/image?expand=1'), testImages(1)) };

describe('another origin', () => {
  it('gets no request for a next page', async () => {
    const elsewhere = await scriptedService({});
    const next = `${elsewhere.baseUrl}/v2/image?page=2&per_page=1`;
    const service = await scriptedService(({ url }) => {
      const last = url.searchParams.get('page') === '2';
      return { json: cataloguePage(url, testImages(2), { next_url: last ? null : next }) };
    });
    const list = await service.imgctl(...LIST, '--per-page', '1');
    expect(list).toMatchObject({ stderr: '', exitCode: 0 });
    expect(JSON.parse(list.stdout)).toHaveLength(2);
    const query = (page: number) => `per_page=1&page=${page}&expand=1&sort=id%2Casc`;
    expect(service.sent()).toEqual([1, 2].map((page) => `GET /v2/image?${query(page)}`));

    const raw = await service.imgctl('api', '/v2/image', '-f', 'per_page=1', '--paginate');
    expect(raw.exitCode).toBe(0);
    expect(service.sent().slice(2)).toEqual([
      'GET /v2/image?per_page=1',
      'GET /v2/image?page=2&per_page=1',
    ]);
    expect(elsewhere.sent()).toEqual([]);
  });

  it.each([
    [302, LIST, 'GET'],
    [307, LIST, 'GET'],
    [308, ['sync'], 'PATCH'],
    [301, ['login'], 'POST'],
  ])('gets no request after a redirect: %d', async (status, argv, method) => {
    const elsewhere = await scriptedService({});
    const headers = { location: `${elsewhere.baseUrl}/stolen` };
    const service = await scriptedService(() => ({ status, headers }));
    const env = argv[0] === 'login' ? service.user : service.env;
    const result = await runBuilt(argv, { env });
    expect(result).toMatchObject({ stdout: '', exitCode: 1 });
    expect(result.stderr).toContain(`was redirected to ${elsewhere.baseUrl}/stolen (${status})`);
    expect(service.requests.map((request) => request.method)).toEqual([method]);
    expect(elsewhere.sent()).toEqual([]);
  });

  it('is rejected as the URL of a raw request', async () => {
    const elsewhere = await scriptedService({});
    const service = await scriptedService({});
    const result = await service.imgctl('api', `${elsewhere.baseUrl}/v2`);
    expect(result).toMatchObject({ stdout: '', exitCode: 2 });
    expect([...elsewhere.sent(), ...service.sent()]).toEqual([]);
  });
});

describe('imgctl', () => {
  /** Returns a proxy for all requests, and its user. */
  async function proxied(response: string | undefined, baseUrl: string) {
    const proxy = await tunnelTo(response);
    const url = proxy.baseUrl.replace('//', '//user:secret@');
    const env = { ...freshHome(), HTTPS_PROXY: url, HTTP_PROXY: url };
    return { proxy, env: { ...env, IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: 'T1' } };
  }

  it('rejects plain http to another host without a request', async () => {
    const { proxy, env } = await proxied('', 'http://images.example');
    for (const argv of [LIST, ['sync']]) {
      const result = await runBuilt(argv, { env });
      expect(result).toMatchObject({ stdout: '', exitCode: 2 });
      expect(result.stderr).toContain('use https://images.example');
    }
    expect(proxy.heads).toEqual([]);
  });

  it('rejects an unknown certificate and trusts one in ca-file', async () => {
    const identity = selfSigned('127.0.0.1');
    const service = await scriptedService({ 'GET /v2/image': ONE_PAGE }, identity);
    const refused = await service.imgctl(...LIST);
    expect(refused).toMatchObject({ stdout: '', exitCode: 3 });
    expect(refused.stderr).toMatch(/^\{"error":.*imgctl config set ca-file.*\}\n$/);
    expect(service.sent()).toEqual([]);

    const file = path.join(service.env.HOME, 'ca.pem');
    writeFileSync(file, identity.cert);
    expect((await service.imgctl('config', 'set', 'ca-file', file)).exitCode).toBe(0);
    expect(await service.imgctl(...LIST)).toMatchObject({ stderr: '', exitCode: 0 });
  });

  it('ignores NODE_TLS_REJECT_UNAUTHORIZED=0 with one warning', async () => {
    const service = await scriptedService({}, selfSigned('127.0.0.1'));
    const env = { ...service.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const result = await runBuilt(['api', '/v2'], { env });
    expect(result).toMatchObject({ stdout: '', exitCode: 3 });
    const [warning, hint, error] = result.stderr.split('\n');
    expect(warning).toBe(
      'imgctl: warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
    );
    expect(hint).toMatch(/^hint: .*ca-file/);
    expect(error).toMatch(/^imgctl: no trusted TLS connection to .*: DEPTH_ZERO_SELF_SIGNED_CERT$/);
    expect(result.stderr.match(/NODE_TLS_REJECT_UNAUTHORIZED/g)).toHaveLength(1);
    expect(service.sent()).toEqual([]);
  });

  it.each([
    ['answers 407', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', /: 407\nhint: add user/],
    ['hangs up', undefined, /failed: the connection was closed\nhint: check HTTPS_PROXY/],
  ])('sends one request to a proxy that %s', async (_what, response, message) => {
    const { proxy, env } = await proxied(response, 'https://images.example');
    const result = await runBuilt(['images', 'list'], { env });
    expect(result).toMatchObject({ stdout: '', exitCode: 3 });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toContain('secret');
    expect(proxy.heads).toEqual([expect.stringMatching(/^CONNECT images\.example:443 /)]);
  });

  it('uses no proxy for loopback and the hosts in NO_PROXY', async () => {
    const service = await scriptedService({ 'GET /v2/image': ONE_PAGE });
    const here = await proxied('', service.baseUrl);
    expect(await runBuilt(LIST, here)).toMatchObject({ stderr: '', exitCode: 0 });
    const there = await proxied('', 'https://images.invalid');
    const env = { ...there.env, NO_PROXY: '.invalid' };
    expect((await runBuilt(LIST, { env })).stderr).toContain('images.invalid');
    expect([...here.proxy.heads, ...there.proxy.heads]).toEqual([]);
  });

  it('stops reading a slow response at --timeout', async () => {
    const service = await listen(
      net.createServer((socket) => {
        socket.on('error', () => {});
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
        const timer = setInterval(() => socket.write(' '), 20);
        socket.once('close', () => clearInterval(timer));
      }),
    );
    const env = { ...freshHome(), IMGCTL_BASE_URL: service.baseUrl, IMGCTL_TOKEN: 'T1' };
    const result = await runBuilt(['images', 'list', '--timeout', '300ms'], { env });
    expect(result).toMatchObject({ stdout: '', exitCode: 3 });
    expect(result.stderr).toContain('no complete response within 0.3 s');
  });
});

describe('imgctl', () => {
  const busy: ScriptedResponse = { status: 503, json: { message: 'Busy.' } };
  const expired = errorResponse(401, 'Valid token, but has expired.');
  const accepted: ScriptedResponse = { status: 202, json: { request: { id: 41 } } };
  const tokens: Script = { [TOKEN_REQUEST]: [issue('T1'), issue('T2')] };

  it.each<[string, string[], Script, number, string[]]>([
    ['a submit that is reset', ['sync'], { [SYNC]: RESET }, 3, [TOKEN_REQUEST, SYNC]],
    ['a submit that fails', ['sync'], { [SYNC]: busy }, 1, [TOKEN_REQUEST, SYNC]],
    [
      'a submit refused for its token',
      ['sync'],
      { [SYNC]: [expired, accepted] },
      0,
      [TOKEN_REQUEST, SYNC, TOKEN_REQUEST, SYNC],
    ],
    [
      'a submit refused for good',
      ['sync'],
      { [SYNC]: expired },
      4,
      [TOKEN_REQUEST, SYNC, TOKEN_REQUEST, SYNC],
    ],
    ['a token request that is reset', ['login'], { [TOKEN_REQUEST]: RESET }, 3, [TOKEN_REQUEST]],
    ['a token request that fails', ['login'], { [TOKEN_REQUEST]: busy }, 1, [TOKEN_REQUEST]],
    [
      'a raw POST that is reset',
      ['api', '/v2/x', '-X', 'POST'],
      { 'POST /v2/x': RESET },
      3,
      [TOKEN_REQUEST, 'POST /v2/x'],
    ],
  ])('sends %s only as often as is safe', async (_what, argv, script, exitCode, expected) => {
    const service = await scriptedService({ ...tokens, ...script });
    // A new token that is refused is not renewed, so this one comes from an earlier run.
    if (argv[0] !== 'login') await runBuilt(['token'], { env: service.user });
    const result = await runBuilt(argv, { env: service.user });
    expect(result).toMatchObject({ exitCode });
    expect(service.sent()).toEqual(expected);
  });
});
