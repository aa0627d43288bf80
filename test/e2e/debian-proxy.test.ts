// Through a proxy that others wrote: tinyproxy, as Debian packages it. Skipped where it is not installed.

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

/** This machine as others see it: what is loopback never goes through a proxy. */
const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const isInstalled = spawnSync('tinyproxy', ['-v']).status === 0;
const MISSING = !isInstalled
  ? ' (skipped: tinyproxy is not installed)'
  : ADDRESS === undefined
    ? ' (skipped: this machine has loopback addresses alone)'
    : '';

const TOKEN = 'canary-of-a-token';
const PASSWORD = 'canary-of-a-proxy-password';

interface Proxy {
  readonly url: string;
  /** The request lines that it was sent. */
  requests(): string[];
  kill(): void;
}

/** tinyproxy on a port that was free a moment ago: it cannot be told to let the system choose. */
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
  `%s through tinyproxy${MISSING}`,
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
    const seen = () => requestsTo(server);

    it('goes by a tunnel, which hides the request from it', async () => {
      const proxy = await startProxy();
      const { stdout, stderr, exitCode } = await call(proxy.url);
      expect([stdout, stderr, exitCode]).toEqual(['{"version":"v2"}\n', '', 0]);
      expect(proxy.requests()).toEqual([`CONNECT ${target()} HTTP/1.1`]);
      expect(seen()).toEqual(['GET /v2']);
      const { headers } = server.requests[0] ?? {};
      expect(headers).toMatchObject({ host: target(), authorization: `Bearer ${TOKEN}` });
      expect(Object.keys(headers ?? {})).not.toContain('via');
    });

    it('goes past it to a host in NO_PROXY', async () => {
      const proxy = await startProxy();
      home = { ...home, NO_PROXY: `other.example.com, ${ADDRESS}` };
      expect((await call(proxy.url)).exitCode).toBe(0);
      expect(proxy.requests()).toEqual([]);
      expect(seen()).toEqual(['GET /v2']);
    });

    it('shows the proxy its own credentials, and the service none of them', async () => {
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
    ])('ends once where the proxy gets %s', async (_, proxyUrl, status) => {
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
      expect(seen()).toEqual([]);
    });

    it('ends once where the proxy may not reach the service', async () => {
      const proxy = await startProxy('ConnectPort 9');
      const { stderr, exitCode } = await call(proxy.url);
      expect(stderr).toMatch(/^imgctl: the proxy \S+ refused to connect to \S+: 403\nhint: .*\n$/);
      expect([exitCode, proxy.requests().length]).toEqual([3, 1]);
    });

    it('ends once where the proxy is gone', async () => {
      const { baseUrl } = await unusedPort();
      const { stderr, exitCode } = await call(withCredentials(baseUrl));
      expect(stderr).toMatch(
        /^imgctl: the proxy \S+ failed: the connection was refused\nhint: .*NO_PROXY\n$/,
      );
      expect(stderr).not.toContain(PASSWORD);
      expect([exitCode, seen()]).toEqual([3, []]);
    });

    it('ends with one message where the proxy dies under the request', async () => {
      const proxy = await startProxy();
      handler = () => {
        proxy.kill();
        return { raw: () => {} };
      };
      const { stderr, exitCode } = await call(proxy.url);
      expect(stderr).toMatch(
        /^imgctl: the proxy \S+ failed: the connection was refused\nhint: .*NO_PROXY\n$/,
      );
      expect([exitCode, seen()]).toEqual([3, ['GET /v2']]);
    });

    it('does not submit again where the proxy dies under a PATCH', async () => {
      const proxy = await startProxy();
      handler = () => {
        proxy.kill();
        return { raw: () => {} };
      };
      const { stderr, exitCode } = await call(proxy.url, '-X', 'PATCH');
      expect(stderr).toMatch(
        /^imgctl: PATCH \S+ was sent, but no usable answer came: .*\nhint: .*\n$/,
      );
      expect([exitCode, seen()]).toEqual([3, ['PATCH /v2']]);
    });
  },
);
