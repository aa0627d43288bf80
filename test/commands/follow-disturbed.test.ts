// sync --wait and sync-status --wait while the service, the connection or the token fails.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { sampleMembers } from '../../src/ovf/sample.ts';
import { packTar } from '../../src/ovf/tar.ts';
import { serve } from '../support/emulator.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import {
  DROP,
  requestsTo,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import {
  beforeSleep,
  DONE,
  followed,
  images,
  START,
  SUBMIT,
  SUBMITTED,
  userOf,
} from './sync-harness.ts';

describe('sync-status --wait', () => {
  it.each<[string, ScriptedResponse]>([
    ['500', { status: 500, json: { message: 'Oops.' } }],
    ['a closed connection', DROP],
    ['HTML', { body: '<html>maintenance</html>' }],
    ['null', { json: null }],
  ])('keeps waiting after %s', async (_what, response) => {
    const many = Array.from({ length: 12 }, () => response);
    const { stderr, exitCode } = await followed([...many, DONE]);
    expect(stderr).toMatch(/^sync 41: .+; retrying\nsync 41: PROCESSED\n$/);
    expect(exitCode).toBe(0);
  });
});

describe('sync --wait', () => {
  it('survives 30 s of 503', async () => {
    let now = () => START;
    const service = await scriptedServer(({ method, target }) => {
      if (method === 'PATCH') return SUBMITTED;
      if (target.startsWith('/v2/user')) return images();
      return now() - START < 30_000 ? { status: 503 } : DONE;
    });
    const io = userOf(service.baseUrl);
    now = io.now;
    const { stdout, exitCode } = await runCli(['sync', '--wait', '--json'], io);
    expect(JSON.parse(stdout)).toMatchObject({ id: 41, state: 'succeeded' });
    expect(io.now() - START).toBeGreaterThanOrEqual(30_000);
    expect(requestsTo(service).filter((request) => request === SUBMIT)).toHaveLength(1);
    expect(exitCode).toBe(0);
  });
});

/** Starts an emulator whose syncs take a minute. */
const emulate = (options: Partial<EmulatorOptions> = {}) =>
  serve({ syncDelay: 60_000, images: 0, ...options });

const ACCOUNT = { IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };

describe('sync --wait with the emulator', () => {
  it('prints the added images and the errors', async () => {
    const uploads = temporaryDirectory();
    let time = START;
    mkdirSync(join(uploads, 'demo'));
    writeFileSync(join(uploads, 'demo', 'good.ova'), packTar(sampleMembers('good')));
    writeFileSync(join(uploads, 'demo', 'bad.ova'), 'junk');
    const emulator = await emulate({ uploads, now: () => time });
    const user = beforeSleep(userOf(emulator.baseUrl, ACCOUNT), () => {
      time += 30_000;
    });
    const { stdout, exitCode } = await runCli(['sync', '--wait', '--json'], user);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'PROCESSED',
      added: ['good.ova'],
      deleted: [],
      errors: expect.arrayContaining([expect.stringMatching(/^bad\.ova: no-descriptor: /)]),
    });
    expect(exitCode).toBe(0);
  });

  it('survives a token that expires', async () => {
    const requests: string[] = [];
    let time = START;
    const emulator = await emulate({
      now: () => time,
      onRequest: ({ method, target }) => requests.push(`${method} ${target}`),
    });
    const user = beforeSleep(userOf(emulator.baseUrl, ACCOUNT), (count) => {
      if (count === 1) emulator.expireTokens();
      time += 20_000;
    });
    expect((await runCli(['sync', '--wait'], user)).exitCode).toBe(0);
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(2);
    expect(requests.filter((request) => request.startsWith('PATCH'))).toHaveLength(1);
  });

  it('exits 4 and names the command that resumes if it cannot renew the token', async () => {
    const emulator = await emulate();
    const token = (await runCli(['token'], userOf(emulator.baseUrl, ACCOUNT))).stdout.trim();
    const user = beforeSleep(userOf(emulator.baseUrl, { IMGCTL_TOKEN: token }), () =>
      emulator.expireTokens(),
    );
    const { stderr, exitCode } = await runCli(['sync', '--wait'], user);
    expect(stderr).toMatch(
      /has expired; sync request 1 continues\nhint: .*IMGCTL_TOKEN.*; then follow it with: imgctl sync-status 1 --wait\n$/,
    );
    expect(exitCode).toBe(4);
  });

  it('survives a restart of the service', async () => {
    const first = await emulate();
    let time = START;
    const restart = async () => {
      const second = await emulate({ port: first.port, now: () => time });
      // The new service knows no requests, so its first one is number 1 again.
      await runCli(['sync'], userOf(second.baseUrl, ACCOUNT));
    };
    const user = beforeSleep(userOf(first.baseUrl, ACCOUNT), async (count) => {
      if (count === 1) await first.close();
      if (count === 4) await restart();
      if (count > 4) time += 30_000;
    });
    const result = await runCli(['sync', '--wait', '--retries', '0'], user);
    expect(result.stderr).toMatch(
      /^sync 1: PENDING\nsync 1: cannot reach .*refused; retrying\n(sync 1: .*\n)*sync 1: PROCESSED\n/,
    );
    expect(result.exitCode).toBe(0);
  });
});
