// Two hundred machines share a token in Redis, and the store fails in every way.

import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import {
  endOf,
  expectComplete,
  expectCompleteOrLimited,
  fleetService,
  runMachines,
  startMachines,
} from '../support/fleet.ts';
import { temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, type RedisServer, startRedis } from '../support/redis.ts';
import { listen } from '../support/sockets.ts';
import { report } from './home.ts';

const MACHINES = 200;
/** More on one machine would take longer to start than the store may take to reply. */
const AT_A_TIME = 20;
const FEW = 10;

const WARNING = /cannot use the token store redis:\/\/(imgctl@)?127\.0\.0\.1:\d+/;

function secure(redis: RedisServer) {
  return { ...redis.env, NODE_EXTRA_CA_CERTS: redis.caFile };
}

describe.skipIf(NO_REDIS)(`a fleet with a token store${REDIS_REASON}`, () => {
  it('sends one token request in all, and one more after the token is revoked', async () => {
    const redis = await startRedis({ tls: true });
    const service = await fleetService();
    const started = performance.now();
    const run = () => runMachines(MACHINES, AT_A_TIME, service.baseUrl, secure(redis));
    const results = await run();
    expect(results).toHaveLength(MACHINES);
    expectComplete(results);
    expect(service.tokenRequests()).toBe(1);
    service.expireTokens();
    expectComplete(await run());
    expect(service.tokenRequests()).toBe(2);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    report(`2 x ${MACHINES} machines listed with 2 token requests in ${seconds} s`);
  });

  it('sends one more token request if it is revoked in the middle of the lists', async () => {
    const redis = await startRedis();
    let lists = 0;
    let requests = 0;
    let revoke = () => {};
    const service = await fleetService({
      onRequest: ({ method }) => {
        if (method === 'POST') requests += 1;
        else lists += 1;
        if (lists === FEW) revoke();
      },
    });
    revoke = () => service.expireTokens();
    expectComplete(await endOf(startMachines(4 * FEW, service.baseUrl, redis.env)));
    expect(requests).toBe(2);
  });

  it('sends one more token request if the machine that sends the first is killed', async () => {
    const redis = await startRedis();
    let requests = 0;
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const service = await fleetService({
      faults: [parseFault('POST /auth/request-token=stall,first=1')],
      onRequest: ({ method }) => {
        if (method !== 'POST') return;
        requests += 1;
        arrived();
      },
    });
    const holders = path.join(temporaryDirectory(), 'holders');
    const IMGCTL_PASSWORD_COMMAND = `echo $PPID >>${holders}; echo demo`;
    const env = { ...redis.env, IMGCTL_PASSWORD: '', IMGCTL_PASSWORD_COMMAND };
    const machines = startMachines(2 * FEW, service.baseUrl, env);
    await arrival;
    const [id] = readFileSync(holders, 'utf8').split('\n');
    const holder = machines.find(({ child }) => String(child.pid) === id);
    expect(holder?.child.kill('SIGKILL')).toBe(true);
    expectComplete(await endOf(machines.filter((machine) => machine !== holder)));
    expect(requests).toBe(2);
  });

  it('never gives a token to another user', async () => {
    const redis = await startRedis();
    const service = await fleetService();
    const machines = ['demo', 'alice'].flatMap((name) =>
      startMachines(FEW, service.baseUrl, redis.env, name),
    );
    expectComplete(await endOf(machines));
    expect(service.tokenRequests()).toBe(2);
    expect(redis.cli('keys', '*token').split('\n')).toHaveLength(2);
  });

  it.each([
    ['before', 0],
    ['during', 300],
  ])('lists, or says that the limit is reached, if the store is stopped %s', async (_, delay) => {
    const redis = await startRedis();
    const service = await fleetService();
    if (delay === 0) await redis.stop();
    const machines = startMachines(FEW, service.baseUrl, redis.env);
    await wait(delay);
    await redis.stop();
    const results = await endOf(machines);
    expectCompleteOrLimited(results, WARNING);
    expect(results.some(({ exitCode }) => exitCode === 0)).toBe(true);
  });

  it('does not notice that the store is stopped after the machines have a token', async () => {
    const redis = await startRedis();
    const service = await fleetService();
    const env = { ...redis.env, HOME: temporaryDirectory() };
    expectComplete(await endOf(startMachines(1, service.baseUrl, env)));
    await redis.stop();
    expectComplete(await endOf(startMachines(FEW, service.baseUrl, env)));
    expect(service.tokenRequests()).toBe(1);
  });

  it('shares a new token after the store restarted empty', async () => {
    const redis = await startRedis();
    const service = await fleetService();
    expectComplete(await endOf(startMachines(FEW, service.baseUrl, redis.env)));
    await redis.stop();
    await redis.start();
    expectComplete(await endOf(startMachines(FEW, service.baseUrl, redis.env)));
    expect(service.tokenRequests()).toBe(2);
  });

  it.each([
    ['full', ['config', 'set', 'maxmemory', '1']],
    ['read-only', ['replicaof', '127.0.0.1', '1']],
    ['in need of another password', ['acl', 'setuser', 'imgctl', 'resetpass']],
  ])('lists, or says that the limit is reached, if the store is %s', async (_, command) => {
    const redis = await startRedis();
    const service = await fleetService();
    redis.cli(...command);
    const results = await endOf(startMachines(FEW, service.baseUrl, redis.env));
    expectCompleteOrLimited(results, WARNING);
    expect(results.some(({ exitCode }) => exitCode === 0)).toBe(true);
  });

  it('sends one token request if each reply of the store takes 300 ms', async () => {
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
    expectComplete(await endOf(startMachines(FEW, service.baseUrl, env)));
    expect(service.tokenRequests()).toBe(1);
  });

  it.each([
    ['garbage', (socket: net.Socket) => socket.write(Buffer.alloc(4_096, 0xa5))],
    ['other values', (socket: net.Socket) => socket.on('data', () => socket.write(':7\r\n+X\r\n'))],
    ['nothing', () => {}],
  ])('lists, or says that the limit is reached, if the store sends %s', async (_, serve) => {
    const service = await fleetService();
    const broken = net.createServer((socket) => serve(socket.on('error', () => {})));
    const { baseUrl } = await listen(broken);
    const env = { IMGCTL_TOKEN_STORE: baseUrl.replace('http', 'redis') };
    const results = await endOf(startMachines(FEW, service.baseUrl, env));
    expectCompleteOrLimited(results, WARNING);
    expect(results.some(({ exitCode }) => exitCode === 0)).toBe(true);
  });
});
