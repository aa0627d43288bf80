// Debian's redis-server for the running test, with an ACL user, over TLS or plain.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, onTestFinished } from 'vitest';
import { selfSigned } from './certificate.ts';
import { temporaryDirectory } from './io.ts';
import { missing, skipped } from './requirements.ts';
import { freePort } from './sockets.ts';

/** For `it.skipIf`, and the end of the title. */
export const NO_REDIS = skipped(missing('redis-server', 'redis-cli'));

export const STORE_PASSWORD = 'canary-of-a-store-password';
/** As docs/unattended.md has it. */
export const ACL = 'resetkeys ~imgctl:* resetchannels -@all +get +set +pttl +del +eval +select';

const USER = `on >${STORE_PASSWORD} ${ACL}`;

/** Starts a server for the running test. */
export async function startRedis(options?: Parameters<typeof launchRedis>[0]) {
  const redis = await launchRedis(options);
  onTestFinished(redis.stop);
  return redis;
}

/** For the tests of a file, one after the other: a server that is as new in each. */
export function sharedRedis() {
  let server: Awaited<ReturnType<typeof launchRedis>> | undefined;
  afterAll(() => server?.stop());
  return async () => {
    server ??= await launchRedis();
    server.reset();
    return server;
  };
}

/** Starts a server on a free port; `url` and `env` are those of the ACL user imgctl. */
async function launchRedis({ tls = false } = {}) {
  const folder = temporaryDirectory();
  const port = await freePort();
  const files = { key: path.join(folder, 'key.pem'), cert: path.join(folder, 'cert.pem') };
  const identity = selfSigned('127.0.0.1');
  writeFileSync(files.key, identity.key);
  writeFileSync(files.cert, identity.cert);
  const { key, cert } = files;
  const secure = `tls-auth-clients no\ntls-cert-file ${cert}\ntls-key-file ${key}\ntls-ca-cert-file ${cert}`;
  const config = path.join(folder, 'redis.conf');
  const settings = `bind 127.0.0.1
${tls ? `port 0\ntls-port ${port}\n${secure}` : `port ${port}`}
save ""
appendonly no
dir ${folder}
user default off
user admin on >admin ~* &* +@all
user imgctl ${USER}
`;
  writeFileSync(config, settings);
  let child: ChildProcess | undefined;
  /** Runs a command as the administrator. */
  const cli = (...words: string[]): string =>
    spawnSync('redis-cli', argsOf(...words), { encoding: 'utf8' }).stdout.trim();
  const argsOf = (...words: string[]): string[] => {
    const security = tls ? ['--tls', '--cacert', files.cert] : [];
    const access = ['-h', '127.0.0.1', '-p', port, '--user', 'admin', '--pass', 'admin'];
    return [...access, '--no-auth-warning', ...security, ...words];
  };
  const start = async () => {
    // It stands for another machine: a fleet that starts here must not slow it down, if that is permitted.
    child = spawn('nice', ['-n', '-15', 'redis-server', config], { stdio: 'ignore' });
    while (cli('ping') !== 'PONG') {
      if (child.exitCode !== null) throw new Error('redis-server ended');
      await wait(20);
    }
  };
  /** Kills it; it keeps nothing on the disk. */
  const stop = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const reset = () => {
    const lines = ['replicaof no one', 'config set maxmemory 0', `acl setuser imgctl ${USER}`];
    const { stdout } = spawnSync('redis-cli', argsOf(), {
      input: [...lines, 'flushall', ''].join('\n'),
      encoding: 'utf8',
    });
    if (stdout.trim() !== Array(4).fill('OK').join('\n')) throw new Error(`redis: ${stdout}`);
  };
  await start();
  const url = `redis${tls ? 's' : ''}://imgctl@127.0.0.1:${port}/0`;
  const env = { IMGCTL_TOKEN_STORE: url, IMGCTL_TOKEN_STORE_PASSWORD: STORE_PASSWORD };
  return { url, env, caFile: files.cert, cli, reset, start, stop };
}
