// imgctl through tinyproxy of Debian; skipped if it is not installed.

import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { freshHome, runBuilt } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import { requestsTo, scriptedServer } from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';

/** An address that is not loopback, since loopback never goes through a proxy. */
const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const IS_SKIPPED = ADDRESS === undefined || spawnSync('tinyproxy', ['-v']).status !== 0;

const TOKEN = 'canary-of-a-token';
const PASSWORD = 'canary-of-a-proxy-password';

/** Starts tinyproxy on a port that was just free, since it cannot choose one, and waits until it listens. */
async function startTinyproxy() {
  const { baseUrl: url } = await unusedPort();
  const file = path.join(temporaryDirectory(), 'tinyproxy.conf');
  const setting = `BasicAuth user ${PASSWORD}\nListen 127.0.0.1\nLogLevel Info\nMaxClients 20`;
  writeFileSync(file, `Port ${new URL(url).port}\n${setting}\n`);
  const child = spawn('tinyproxy', ['-d', '-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
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
  /** The request lines so far. */
  const requests = () => log.match(/(?<=Request \(file descriptor \d+\): ).*/g) ?? [];
  return { url, requests };
}

describe.skipIf(IS_SKIPPED).each(['https', 'http'])(
  'imgctl api through tinyproxy over %s (skipped without it or with only loopback addresses)',
  (scheme) => {
    const isTunnel = scheme === 'https';

    /** A service that only a proxy with a password reaches, and its user. */
    async function world() {
      const tls = isTunnel ? selfSigned(ADDRESS ?? '') : undefined;
      const server = await scriptedServer(() => ({ json: { version: 'v2' } }), tls, ADDRESS);
      const proxy = await startTinyproxy();
      const user = freshHome();
      const ca = path.join(user.HOME, 'ca.pem');
      writeFileSync(ca, tls?.cert ?? '');
      const service = { IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: TOKEN };
      const home = { ...user, ...service, ...(isTunnel ? { NODE_EXTRA_CA_CERTS: ca } : {}) };
      if (!isTunnel) await runBuilt(['config', 'set', 'allow-http', 'true'], { env: home });
      const call = (password: string, ...argv: string[]) => {
        const url = proxy.url.replace('//', password === '' ? '//' : `//user:${password}@`);
        const env = { ...home, [`${scheme.toUpperCase()}_PROXY`]: url };
        return runBuilt(['api', '/v2', ...argv], { env });
      };
      return { server, proxy, call, target: new URL(server.baseUrl).host };
    }

    it('tunnels https and forwards http, and only the proxy gets its credentials', async () => {
      const { server, proxy, call, target } = await world();
      const { stdout, stderr, exitCode } = await call(PASSWORD, '--debug');
      expect([stdout, exitCode]).toEqual(['{"version":"v2"}', 0]);
      expect(stderr).not.toContain(PASSWORD);
      const seen = isTunnel ? `CONNECT ${target} HTTP/1.1` : `GET ${server.baseUrl}/v2 HTTP/1.1`;
      expect(proxy.requests()).toEqual([seen]);
      expect(requestsTo(server)).toEqual(['GET /v2']);
      const { headers = {} } = server.requests[0] ?? {};
      expect(headers).toMatchObject({ host: target, authorization: `Bearer ${TOKEN}` });
      expect('via' in headers).toBe(!isTunnel);
      expect(Object.keys(headers)).not.toContain('proxy-authorization');
    });
  },
);
