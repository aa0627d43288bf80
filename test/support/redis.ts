// Debian's redis-server for the running test, with an ACL user, over TLS or plain.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { selfSigned } from './certificate.ts';
import { temporaryDirectory } from './io.ts';

const isInstalled = ['redis-server', 'redis-cli'].every(
  (name) => spawnSync('which', [name]).status === 0,
);

/** For `it.skipIf`, and for the title of the test. */
export const NO_REDIS = !isInstalled;
export const REDIS_REASON = isInstalled ? '' : ' (skipped: redis-server is not installed)';

export const STORE_PASSWORD = 'canary-of-a-store-password';
/** As docs/fleet.md has it. */
export const ACL =
  'resetkeys ~imgctl:* resetchannels -@all +get +set +pttl +del +eval +time +select';

interface RedisServer {
  /** With the ACL user imgctl. */
  readonly url: string;
  /** The environment of a user of this store. */
  readonly env: Readonly<Record<string, string>>;
  /** The certificate of a TLS server. */
  readonly caFile: string;
  /** Runs a command as the administrator. */
  cli(...words: string[]): string;
  start(): Promise<void>;
  /** Kills it; it keeps nothing on the disk. */
  stop(): Promise<void>;
}

/** Starts a server on a free port. */
export async function startRedis({ tls = false } = {}): Promise<RedisServer> {
  const folder = temporaryDirectory();
  const port = await freePort();
  const files = { key: path.join(folder, 'key.pem'), cert: path.join(folder, 'cert.pem') };
  const identity = selfSigned('127.0.0.1');
  writeFileSync(files.key, identity.key);
  writeFileSync(files.cert, identity.cert);
  const listening = tls
    ? `port 0\ntls-port ${port}\ntls-auth-clients no\ntls-cert-file ${files.cert}\ntls-key-file ${files.key}\ntls-ca-cert-file ${files.cert}`
    : `port ${port}`;
  const config = path.join(folder, 'redis.conf');
  writeFileSync(
    config,
    `bind 127.0.0.1\n${listening}\nsave ""\nappendonly no\ndir ${folder}
user default off
user admin on >admin ~* &* +@all
user imgctl on >${STORE_PASSWORD} ${ACL}
`,
  );
  let child: ChildProcess | undefined;
  const cli = (...words: string[]): string => {
    const security = tls ? ['--tls', '--cacert', files.cert] : [];
    const access = ['-h', '127.0.0.1', '-p', `${port}`, '--user', 'admin', '--pass', 'admin'];
    const args = [...access, '--no-auth-warning', ...security, ...words];
    return spawnSync('redis-cli', args, { encoding: 'utf8' }).stdout.trim();
  };
  const start = async () => {
    // It stands for another machine: a fleet that starts here must not slow it down, if that is permitted.
    child = spawn('nice', ['-n', '-15', 'redis-server', config], { stdio: 'ignore' });
    while (cli('ping') !== 'PONG') await wait(20);
  };
  const stop = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(stop);
  await start();
  const url = `redis${tls ? 's' : ''}://imgctl@127.0.0.1:${port}/0`;
  return {
    url,
    env: { IMGCTL_TOKEN_STORE: url, IMGCTL_TOKEN_STORE_PASSWORD: STORE_PASSWORD },
    caFile: files.cert,
    cli,
    start,
    stop,
  };
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
