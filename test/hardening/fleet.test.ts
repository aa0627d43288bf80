// A whole fleet starts at once and shares a token in Redis, while the store fails in every way.

import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import type { EmulatorOptions } from '../../src/emulator/service-options.ts';
import {
  account,
  type CliProcess,
  type Environment,
  LIST,
  startCli,
  type User,
} from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { type CliResult, temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, startRedis } from '../support/redis.ts';
import { listen } from '../support/sockets.ts';
import { cachedToken } from './home.ts';

/** Their number is 200 in `npm run test:fleet`. */
const MACHINES = Number(process.env.FLEET_MACHINES || 20);

const WARNING = /cannot use the token store rediss?:\/\/(imgctl@)?127\.0\.0\.1:\d+/;

const IMAGES = 20;
/** Token requests that the service allows. */
const ALLOWED = 5;

interface Counts {
  tokenRequests: number;
  lists: number;
}

/** A service that counts its requests; `onCount` is called after each. */
async function fleetService(
  options: Partial<EmulatorOptions> = {},
  onCount: (counts: Counts) => void = () => {},
) {
  const counts: Counts = { tokenRequests: 0, lists: 0 };
  const service = await serve({
    images: IMAGES,
    tokenLimit: ALLOWED,
    users: ['demo', 'alice'].map((name) => ({ name, password: name })),
    onRequest: ({ method }) => {
      counts[method === 'POST' ? 'tokenRequests' : 'lists'] += 1;
      onCount(counts);
    },
    ...options,
  });
  return { ...service, tokenRequests: () => counts.tokenRequests };
}

/** Returns the environments of `count` new machines. */
function machinesOf(
  count: number,
  baseUrl: string,
  env: Environment,
  name = 'demo',
): (User & Environment)[] {
  return Array.from({ length: count }, () => ({ ...account(baseUrl, name), ...env }));
}

/** Lists all images on all machines at once: each waits until the last one is started. */
function listOn(machines: readonly Environment[]): CliProcess[] {
  const barrier = { prelude: 'read -r _', stdin: { open: true } } as const;
  const processes = machines.map((env) => startCli(LIST, { env, ...barrier }));
  for (const { child } of processes) child.stdin?.end('\n');
  return processes;
}

function endOf(processes: readonly CliProcess[]): Promise<CliResult[]> {
  return Promise.all(processes.map(({ ended }) => ended));
}

/** Expects that each printed the complete list and nothing else. */
function expectComplete(results: readonly CliResult[]): void {
  for (const { stdout, stderr, exitCode } of results) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveLength(IMAGES);
  }
}

/** Expects what the service allows: complete lists, the others limited, each with one clear line; and perhaps one warning. */
function expectSomeComplete(results: readonly CliResult[]): void {
  for (const { stdout, stderr, exitCode } of results) {
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('hint: '));
    const rest = lines.filter((line) => !WARNING.test(line));
    expect(lines.length - rest.length).toBeLessThanOrEqual(1);
    if (exitCode === 0) {
      expect(rest).toEqual([]);
      expect(JSON.parse(stdout)).toHaveLength(IMAGES);
    } else {
      const line = expect.stringMatching(/too many requests|token request limit reached/);
      expect({ exitCode, rest, stdout }).toEqual({ exitCode: 6, rest: [line], stdout: '' });
    }
  }
  const complete = results.filter(({ exitCode }) => exitCode === 0);
  expect(complete.length).toBeGreaterThanOrEqual(ALLOWED);
}

async function startStore() {
  const redis = await startRedis({ tls: true });
  return { redis, env: { ...redis.env, NODE_EXTRA_CA_CERTS: redis.caFile } };
}

/** Returns a promise, and what resolves it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe.skipIf(NO_REDIS)(`${MACHINES} machines with a token store${REDIS_REASON}`, () => {
  it('send one token request in all, and one more after the token is revoked', async () => {
    const { env } = await startStore();
    const service = await fleetService();
    expectComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
    expect(service.tokenRequests()).toBe(1);
    service.expireTokens();
    expectComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
    expect(service.tokenRequests()).toBe(2);
  });

  it('send one more token request if the token is revoked in the middle of their lists', async () => {
    const { env } = await startStore();
    const service = await fleetService({}, ({ lists }) => {
      if (lists === MACHINES / 2) service.expireTokens();
    });
    expectComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
    expect(service.tokenRequests()).toBe(2);
  });

  it('send one more token request if the machine that sends the first is killed', async () => {
    const { env } = await startStore();
    const { open, opened } = gate();
    const faults = [parseFault('POST /auth/request-token=stall,first=1')];
    const service = await fleetService({ faults }, open);
    const holders = path.join(temporaryDirectory(), 'holders');
    const IMGCTL_PASSWORD_COMMAND = `echo $PPID >>${holders}; echo demo`;
    const command = { IMGCTL_PASSWORD: '', IMGCTL_PASSWORD_COMMAND };
    const machines = listOn(machinesOf(MACHINES, service.baseUrl, { ...env, ...command }));
    await opened;
    const [id] = readFileSync(holders, 'utf8').split('\n');
    const holder = machines.find(({ child }) => String(child.pid) === id);
    expect(holder?.child.kill('SIGKILL')).toBe(true);
    expectComplete(await endOf(machines.filter((machine) => machine !== holder)));
    expect(service.tokenRequests()).toBe(2);
  });

  it('of two users never get the token of the other one', async () => {
    const { redis, env } = await startStore();
    const service = await fleetService();
    const [demo, alice] = ['demo', 'alice'].map((name) =>
      machinesOf(MACHINES / 2, service.baseUrl, env, name),
    );
    expectComplete(await endOf(listOn([...(demo ?? []), ...(alice ?? [])])));
    expect(service.tokenRequests()).toBe(2);
    expect(redis.cli('keys', '*token').split('\n')).toHaveLength(2);
    const tokens = [demo, alice].map((machines) => [
      ...new Set(machines?.map(({ HOME }) => cachedToken(HOME))),
    ]);
    expect(tokens.map((own) => own.length)).toEqual([1, 1]);
    expect(tokens[0]).not.toEqual(tokens[1]);
  });

  const OK = 'list, or say that the limit is reached, if the store';

  it.each<[string, (counts: Counts) => boolean, after?: 'restart']>([
    ['is stopped before they start', ({ lists }) => lists < 0],
    ['is stopped while one requests the token', ({ tokenRequests }) => tokenRequests === 1],
    ['is stopped while they list', ({ lists }) => lists === MACHINES / 4],
    ['restarts empty meanwhile', ({ lists }) => lists === 1, 'restart'],
  ])(`${OK} %s`, async (when, isTime, after) => {
    const { redis, env } = await startStore();
    const { open, opened } = gate();
    const service = await fleetService({}, (counts) => {
      if (isTime(counts)) open();
    });
    if (when.endsWith('before they start')) await redis.stop().then(open);
    const machines = listOn(machinesOf(MACHINES, service.baseUrl, env));
    await opened;
    await redis.stop();
    if (after) await redis.start();
    expectSomeComplete(await endOf(machines));
  });

  it('do not notice that the store is stopped after they have a token', async () => {
    const { redis, env } = await startStore();
    const service = await fleetService();
    const machines = machinesOf(MACHINES, service.baseUrl, env);
    expectComplete(await endOf(listOn(machines)));
    await redis.stop();
    expectComplete(await endOf(listOn(machines)));
    expect(service.tokenRequests()).toBe(1);
  });

  it('send one more token request if the store restarted empty', async () => {
    const { redis, env } = await startStore();
    const service = await fleetService();
    expectComplete(await endOf(listOn(machinesOf(1, service.baseUrl, env))));
    await redis.stop();
    await redis.start();
    expectComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
    expect(service.tokenRequests()).toBe(2);
  });

  it.each([
    ['is full', 'config set maxmemory 1'],
    ['is read-only', 'replicaof 127.0.0.1 1'],
    ['needs another password', 'acl setuser imgctl resetpass'],
  ])(`${OK} %s`, async (_what, command) => {
    const { redis, env } = await startStore();
    const service = await fleetService();
    redis.cli(...command.split(' '));
    expectSomeComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
  });

  it('send one token request if each reply of the store takes 300 ms', async () => {
    const redis = await startRedis();
    const service = await fleetService();
    const { port } = new URL(redis.url);
    const slow = net.createServer((socket) => {
      const upstream = net.connect(Number(port), '127.0.0.1');
      const pass = (from: net.Socket, to: net.Socket, delay: number) =>
        from
          .on('error', () => to.destroy())
          .on('close', () => to.destroy())
          .on('data', (data) => {
            setTimeout(() => to.write(data), delay);
          });
      pass(socket, upstream, 0);
      pass(upstream, socket, 300);
    });
    const { baseUrl } = await listen(slow);
    const IMGCTL_TOKEN_STORE = `redis://imgctl@127.0.0.1:${new URL(baseUrl).port}/0`;
    const env = { ...redis.env, IMGCTL_TOKEN_STORE };
    expectComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
    expect(service.tokenRequests()).toBe(1);
  });

  it.each([
    ['sends garbage', (socket: net.Socket) => socket.write(Buffer.alloc(4_096, 0xa5))],
    [
      'sends other values',
      (socket: net.Socket) => socket.on('data', () => socket.write(':7\r\n+X\r\n')),
    ],
    ['sends nothing', () => {}],
  ])(`${OK} %s`, async (_, serve) => {
    const service = await fleetService();
    const broken = net.createServer((socket) => serve(socket.on('error', () => {})));
    const { baseUrl } = await listen(broken);
    const env = { IMGCTL_TOKEN_STORE: baseUrl.replace('http', 'redis') };
    expectSomeComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, env))));
  });
});
