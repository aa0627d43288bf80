// A whole fleet starts at once and shares a token in Redis, while the store or a machine fails.

import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve } from '../support/emulator.ts';
import { type CliResult, temporaryDirectory } from '../support/io.ts';
import { type RunningProgram, startProgram } from '../support/program.ts';
import { NO_REDIS, startRedis } from '../support/redis.ts';
import { listen } from '../support/sockets.ts';
import { account, type Environment, LIST } from '../support/users.ts';

/** Their number is 200 in `npm run test:fleet`. */
const MACHINES = Number(process.env.FLEET_MACHINES || 5);
const WARNING = /cannot use the token store rediss?:\/\/imgctl@127\.0\.0\.1:\d+/;
const IMAGES = 20;
/** Token requests that the service allows. */
const ALLOWED = 5;

interface Counts {
  tokenRequests: number;
  lists: number;
}

type Moment = (counts: Counts) => boolean;

/** A store, and a service that counts its requests; `reached` resolves at the moment. */
async function startFleet(isMoment: Moment = () => false, faults: readonly string[] = []) {
  const redis = await startRedis({ tls: true });
  const counts: Counts = { tokenRequests: 0, lists: 0 };
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const service = await serve({
    images: IMAGES,
    tokenLimit: ALLOWED,
    faults,
    onRequest: ({ method }) => {
      counts[method === 'POST' ? 'tokenRequests' : 'lists'] += 1;
      if (isMoment(counts)) reach();
    },
  });
  const env = { ...redis.env, NODE_EXTRA_CA_CERTS: redis.caFile };
  const machinesOf = (count: number, own: Environment = {}) =>
    Array.from({ length: count }, () => ({ ...account(service.baseUrl), ...env, ...own }));
  return { redis, service, counts, reached, machinesOf };
}

/** Lists all images on all machines at once: each waits until the last one is started. */
function listOn(machines: readonly Environment[]): RunningProgram[] {
  const barrier = { prelude: 'read -r _', stdin: { open: true } } as const;
  const processes = machines.map((env) => startProgram(LIST, { env, ...barrier }));
  for (const { child } of processes) child.stdin?.end('\n');
  return processes;
}

const endOf = (processes: readonly RunningProgram[]): Promise<CliResult[]> =>
  Promise.all(processes.map(({ ended }) => ended));

/** Expects that each printed the complete list and nothing else. */
function expectComplete(results: readonly CliResult[]): void {
  for (const { stdout, stderr, exitCode } of results) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveLength(IMAGES);
  }
}

/** Expects what the service allows: complete lists, the others limited, each with at most one warning. */
function expectSomeComplete(results: readonly CliResult[]): void {
  for (const { stdout, stderr, exitCode } of results) {
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('hint: '));
    const rest = lines.filter((line) => !WARNING.test(line));
    expect(lines.length - rest.length).toBeLessThanOrEqual(1);
    const isLimited = expect.stringMatching(/too many requests|token request limit reached/);
    expect([exitCode, ...rest]).toEqual(exitCode === 0 ? [0] : [6, isLimited]);
    if (exitCode === 0) expect(JSON.parse(stdout)).toHaveLength(IMAGES);
    else expect(stdout).toBe('');
  }
  const complete = results.filter(({ exitCode }) => exitCode === 0);
  expect(complete.length).toBeGreaterThanOrEqual(ALLOWED);
}

describe.skipIf(NO_REDIS)(`${MACHINES} machines with a token store${NO_REDIS}`, () => {
  it('send one token request in all, one more if the token is revoked, and need no store then', async () => {
    const { service, redis, counts, machinesOf } = await startFleet();
    expectComplete(await endOf(listOn(machinesOf(MACHINES))));
    expect(counts.tokenRequests).toBe(1);
    service.expireTokens();
    const machines = machinesOf(MACHINES);
    expectComplete(await endOf(listOn(machines)));
    await redis.stop();
    expectComplete(await endOf(listOn(machines)));
    expect(counts.tokenRequests).toBe(2);
  });

  it('send one more token request if the machine that sends the first is killed', async () => {
    const faults = ['POST /auth/request-token=stall,first=1'];
    const { counts, reached, machinesOf } = await startFleet(() => true, faults);
    const holders = path.join(temporaryDirectory(), 'holders');
    const IMGCTL_PASSWORD_COMMAND = `echo $PPID >>${holders}; echo demo`;
    const machines = listOn(machinesOf(MACHINES, { IMGCTL_PASSWORD: '', IMGCTL_PASSWORD_COMMAND }));
    await reached;
    const [id] = readFileSync(holders, 'utf8').split('\n');
    const holder = machines.find(({ child }) => String(child.pid) === id);
    expect(holder?.child.kill('SIGKILL')).toBe(true);
    const others = await endOf(machines.filter((machine) => machine !== holder));
    // The lock lasts 30 s, after which those that wait for it may say so.
    const note = /^\{"note":\{"message":"waiting for another imgctl .*"\}\}\n$/;
    expectComplete(others.map((each) => ({ ...each, stderr: each.stderr.replace(note, '') })));
    expect(counts.tokenRequests).toBe(2);
  });

  it.each<[string, Moment]>([
    ['is stopped while one requests the token', ({ tokenRequests }) => tokenRequests === 1],
    ['restarts empty meanwhile', ({ lists }) => lists === 1],
  ])('list, or say that the limit is reached, if the store %s', async (when, isMoment) => {
    const { redis, reached, machinesOf } = await startFleet(isMoment);
    const machines = listOn(machinesOf(MACHINES));
    await reached;
    await redis.stop();
    if (when.startsWith('restarts')) await redis.start();
    expectSomeComplete(await endOf(machines));
  });

  it('send one token request if each reply of the store takes 300 ms', async () => {
    const { redis, counts, machinesOf } = await startFleet();
    const port = Number(new URL(redis.url).port);
    const slow = net.createServer((socket) => {
      const upstream = net.connect(port, '127.0.0.1', () => socket.pipe(upstream));
      upstream.on('data', (data) => setTimeout(() => socket.write(data), 300));
      for (const each of [socket, upstream]) each.on('error', () => {});
      socket.on('close', () => upstream.destroy());
    });
    const { baseUrl } = await listen(slow);
    const IMGCTL_TOKEN_STORE = redis.url.replace(`${port}`, new URL(baseUrl).port);
    expectComplete(await endOf(listOn(machinesOf(MACHINES, { IMGCTL_TOKEN_STORE }))));
    expect(counts.tokenRequests).toBe(1);
  });
});
