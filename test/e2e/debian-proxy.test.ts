// imgctl through tinyproxy of Debian; skipped if it is not installed.

import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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

const isInstalled = spawnSync('tinyproxy', ['-v']).status === 0;
const MISSING = !isInstalled
  ? ' (skipped: tinyproxy is not installed)'
  : ADDRESS === undefined
    ? ' (skipped: this machine has only loopback addresses)'
    : '';

const TOKEN = 'canary-of-a-token';
const PASSWORD = 'canary-of-a-proxy-password';

interface Proxy {
  readonly url: string;
  /** The request lines so far. */
  requests(): string[];
  kill(): void;
}

/** Starts tinyproxy on a port that was just free, since it cannot choose one. */
async function startProxy(...settings: string[]): Promise<Proxy> {
  const { baseUrl: url } = await unusedPort();
  const file = path.join(temporaryDirectory(), 'tinyproxy.conf');
  const { port } = new URL(url);
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'LogLevel Info', 'MaxClients 20', ...settings];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn('tinyproxy', ['-d', '-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  onTestFinished(() => {
    kill();
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('close', () => reject(new Error(`tinyproxy ended: ${log}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        log += text;
        if (log.includes('Accepting connections')) resolve();
      });
    }
  });
  const requests = () =>
    [...log.matchAll(/Request \(file descriptor \d+\): (.*)/g)].map(([, line = '']) => line);
  return { url, requests, kill };
}

function withCredentials(url: string, password = PASSWORD): string {
  return url.replace('//', `//user:${password}@`);
}

describe.skipIf(MISSING !== '').each(['https', 'http'])(
  `imgctl api through tinyproxy over %s${MISSING}`,
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

    it('tunnels a request, so that the proxy does not see it', async () => {
      const proxy = await startProxy();
      const { stdout, stderr, exitCode } = await call(proxy.url);
      expect([stdout, stderr, exitCode]).toEqual(['{"version":"v2"}\n', '', 0]);
      expect(proxy.requests()).toEqual([`CONNECT ${target()} HTTP/1.1`]);
      expect(requestsTo(server)).toEqual(['GET /v2']);
      const { headers } = server.requests[0] ?? {};
      expect(headers).toMatchObject({ host: target(), authorization: `Bearer ${TOKEN}` });
      expect(Object.keys(headers ?? {})).not.toContain('via');
    });

    it('sends the credentials of the proxy to the proxy only', async () => {
      const proxy = await startProxy(`BasicAuth user ${PASSWORD}`);
      const { stderr, exitCode } = await call(withCredentials(proxy.url), '--debug');
      expect(exitCode).toBe(0);
      expect(stderr).not.toContain(PASSWORD);
      expect(proxy.requests()).toEqual([`CONNECT ${target()} HTTP/1.1`]);
      expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain('proxy-authorization');
    });

    it.each([
      ['no credentials', (url: string) => url, 407],
      ['wrong ones', (url: string) => withCredentials(url, 'canary-of-another'), 401],
    ])('exits 3 after one request with %s for the proxy', async (_, proxyUrl, status) => {
      const proxy = await startProxy(`BasicAuth user ${PASSWORD}`);
      for (const argv of [[], ['-X', 'PATCH']]) {
        const { stderr, exitCode } = await call(proxyUrl(proxy.url), ...argv);
        expect(stderr).toBe(
          `imgctl: the proxy ${new URL(proxy.url).host} refused to connect to ${target()}: ${status}\n` +
            'hint: add user name and password to the proxy variable: http://user:password@host:port\n',
        );
        expect(exitCode).toBe(3);
      }
      expect(proxy.requests()).toHaveLength(2);
      expect(requestsTo(server)).toEqual([]);
    });

    it.each([
      ['GET', /^imgctl: the proxy \S+ failed: the connection was refused\nhint: .*NO_PROXY\n$/],
      ['PATCH', /^imgctl: cannot reach .*\nhint: the PATCH may have taken effect: .*\n$/],
    ])('sends %s once if the proxy dies', async (method, message) => {
      const proxy = await startProxy();
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
