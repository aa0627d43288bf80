// imgctl through tinyproxy and squid of Debian; each is skipped if it is not installed.

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { type Environment, freshHome, runBuilt } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import {
  type Handler,
  requestsTo,
  type ScriptedServer,
  scriptedServer,
} from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';

/** An address that is not loopback, since loopback never goes through a proxy. */
const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** Returns why tests of the program are skipped, for their title. */
function reasonToSkip(program: string): string {
  if (spawnSync(program, ['-v']).status !== 0) return ` (skipped: ${program} is not installed)`;
  return ADDRESS === undefined ? ' (skipped: this machine has only loopback addresses)' : '';
}

const NO_TINYPROXY = reasonToSkip('tinyproxy');
const NO_SQUID = reasonToSkip('squid');

const TOKEN = 'canary-of-a-token';
const PASSWORD = 'canary-of-a-proxy-password';

interface Proxy {
  readonly url: string;
  /** The request lines so far. */
  requests(): string[];
  kill(): void;
}

/** Starts a proxy and waits until its log contains a text. */
async function startProgram(ready: string, program: string, ...argv: string[]) {
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  onTestFinished(() => {
    kill();
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error(`${program} ended: ${log}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (log.includes(ready)) resolve();
      });
    }
  });
  return { kill, log: () => log };
}

/** Starts tinyproxy on a port that was just free, since it cannot choose one. */
async function startTinyproxy(...settings: string[]): Promise<Proxy> {
  const { baseUrl: url } = await unusedPort();
  const file = path.join(temporaryDirectory(), 'tinyproxy.conf');
  const { port } = new URL(url);
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'LogLevel Info', 'MaxClients 20', ...settings];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { kill, log } = await startProgram('Accepting connections', 'tinyproxy', '-d', '-c', file);
  const requests = () =>
    [...log().matchAll(/Request \(file descriptor \d+\): (.*)/g)].map(([, line = '']) => line);
  return { url, requests, kill };
}

/** Starts squid, which tunnels to port 443 only and knows one user. */
async function startSquid(): Promise<string> {
  const { baseUrl: url } = await unusedPort();
  const directory = temporaryDirectory();
  // squid gives up the rights of root before it reads them.
  chmodSync(directory, 0o755);
  const users = path.join(directory, 'users.sh');
  const check = `[ "$pair" = "user ${PASSWORD}" ] && echo OK || echo ERR`;
  writeFileSync(users, `while read -r pair; do ${check}; done\n`);
  const file = path.join(directory, 'squid.conf');
  const settings = `
    http_port 127.0.0.1:${new URL(url).port}
    pid_filename none
    pinger_enable off
    cache_log /dev/null
    access_log none
    cache deny all
    auth_param basic program /bin/sh ${users}
    auth_param basic children 1
    acl known proxy_auth REQUIRED
    acl tls port 443
    http_access deny CONNECT !tls
    http_access allow known
    http_access deny all
  `;
  writeFileSync(file, settings.replaceAll(/^ +/gm, ''));
  await startProgram('Accepting HTTP Socket connections', 'squid', '-N', '-d', '1', '-f', file);
  return url;
}

function withCredentials(url: string, password = PASSWORD): string {
  return url.replace('//', `//user:${password}@`);
}

describe.skipIf(NO_TINYPROXY !== '').each(['https', 'http'])(
  `imgctl api through tinyproxy over %s${NO_TINYPROXY}`,
  (scheme) => {
    let server: ScriptedServer;
    let handler: Handler;
    let home: Environment;

    beforeEach(async () => {
      handler = () => ({ json: { version: 'v2' } });
      const tls = scheme === 'https' ? selfSigned(ADDRESS ?? '') : undefined;
      server = await scriptedServer((...request) => handler(...request), tls, ADDRESS);
      const user = freshHome();
      home = { ...user, IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: TOKEN };
      if (tls) {
        const ca = path.join(user.HOME, 'ca.pem');
        writeFileSync(ca, tls.cert);
        home = { ...home, NODE_EXTRA_CA_CERTS: ca };
      } else {
        await runBuilt(['config', 'set', 'allow-http', 'true'], { env: home });
      }
    });

    const call = (proxy: string, ...argv: string[]) =>
      runBuilt(['api', '/v2', ...argv], {
        env: { ...home, [`${scheme.toUpperCase()}_PROXY`]: proxy },
      });
    const target = () => new URL(server.baseUrl).host;
    /** What the proxy sees: nothing of a request that it tunnels. */
    const seen = () =>
      scheme === 'https' ? `CONNECT ${target()} HTTP/1.1` : `GET ${server.baseUrl}/v2 HTTP/1.1`;

    it('tunnels a request for https and forwards one for http', async () => {
      const proxy = await startTinyproxy();
      const { stdout, stderr, exitCode } = await call(proxy.url);
      expect([stdout, stderr, exitCode]).toEqual(['{"version":"v2"}', '', 0]);
      expect(proxy.requests()).toEqual([seen()]);
      expect(requestsTo(server)).toEqual(['GET /v2']);
      const { headers } = server.requests[0] ?? {};
      expect(headers).toMatchObject({ host: target(), authorization: `Bearer ${TOKEN}` });
      expect('via' in (headers ?? {})).toBe(scheme === 'http');
    });

    it('sends the credentials of the proxy to the proxy only', async () => {
      const proxy = await startTinyproxy(`BasicAuth user ${PASSWORD}`);
      const { stderr, exitCode } = await call(withCredentials(proxy.url), '--debug');
      expect(exitCode).toBe(0);
      expect(stderr).not.toContain(PASSWORD);
      expect(proxy.requests()).toEqual([seen()]);
      expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain('proxy-authorization');
    });

    it.each([
      ['no credentials', (url: string) => url, 407],
      ['wrong ones', (url: string) => withCredentials(url, 'canary-of-another'), 401],
    ])('exits 3 after one request with %s for the proxy', async (_, proxyUrl, status) => {
      const proxy = await startTinyproxy(`BasicAuth user ${PASSWORD}`);
      for (const argv of [[], ['-X', 'PATCH']]) {
        const { stderr, exitCode } = await call(proxyUrl(proxy.url), ...argv);
        expect(stderr).toBe(
          `imgctl: the proxy ${new URL(proxy.url).host} refused to connect to ${target()}: ${status}\n` +
            `hint: add user name and password to ${scheme.toUpperCase()}_PROXY: http://user:password@host:port\n`,
        );
        expect(exitCode).toBe(3);
      }
      expect(proxy.requests()).toHaveLength(2);
      expect(requestsTo(server)).toEqual([]);
    });

    it.each([
      [
        'GET',
        /^imgctl: the proxy \S+ failed: the connection was (refused|closed)\nhint: .*NO_PROXY\n$/,
      ],
      [
        'PATCH',
        /^imgctl: (cannot reach|the proxy) .*\nhint: the PATCH may have taken effect: .*\n$/,
      ],
    ])('sends %s once if the proxy dies', async (method, message) => {
      const proxy = await startTinyproxy();
      handler = () => {
        proxy.kill();
        return { raw: () => {} };
      };
      const { stderr, exitCode } = await call(proxy.url, '-X', method);
      expect(stderr).toMatch(message);
      expect([exitCode, requestsTo(server)]).toEqual([3, [`${method} /v2`]]);
    });
  },
);

describe.skipIf(NO_SQUID !== '')(`imgctl api through squid over http${NO_SQUID}`, () => {
  /** Calls a service through squid, with the variable in lower case. */
  async function call(baseUrl: string, proxy: string) {
    const env = {
      ...freshHome(),
      IMGCTL_BASE_URL: baseUrl,
      IMGCTL_TOKEN: TOKEN,
      http_proxy: proxy,
    };
    await runBuilt(['config', 'set', 'allow-http', 'true'], { env });
    return runBuilt(['api', '/v2', '--debug'], { env });
  }

  it('forwards a request without the credentials of the proxy', async () => {
    const server = await scriptedServer(() => ({ json: 1 }), undefined, ADDRESS);
    const result = await call(server.baseUrl, withCredentials(await startSquid()));
    expect(result).toMatchObject({ stdout: '1', exitCode: 0 });
    expect(result.stderr).not.toContain(PASSWORD);
    const { headers = {} } = server.requests[0] ?? {};
    expect(headers).toMatchObject({
      host: new URL(server.baseUrl).host,
      authorization: `Bearer ${TOKEN}`,
      via: expect.stringContaining('squid'),
    });
    expect(Object.keys(headers)).not.toContain('proxy-authorization');
  });

  it.each([
    ['no credentials', undefined],
    ['wrong credentials', 'canary-of-another'],
  ])('exits 3 with a hint for %s', async (_, password) => {
    const server = await scriptedServer(() => ({ json: 1 }), undefined, ADDRESS);
    const url = await startSquid();
    const proxy = password === undefined ? url : withCredentials(url, password);
    const { stderr, exitCode } = await call(server.baseUrl, proxy);
    expect(stderr).toMatch(/ refused to connect to \S+: 407\nhint: add .* to http_proxy: /);
    expect([exitCode, requestsTo(server)]).toEqual([3, []]);
  });

  it('exits 3 with one line if the service is down', async () => {
    const { port } = new URL((await unusedPort()).baseUrl);
    const proxy = withCredentials(await startSquid());
    const { stderr, exitCode } = await call(`http://${ADDRESS}:${port}`, proxy);
    expect(stderr.match(/^imgctl: (?!debug)/gm)).toHaveLength(1);
    expect(stderr).toMatch(/^imgctl: the proxy \S+ got no response from \S+: 503\nhint: /m);
    expect(exitCode).toBe(3);
  });
});
