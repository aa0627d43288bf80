// images changes: twenty processes, kills at random moments, a full disk and a reader that closes early.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import type { Random } from '../../src/emulator/catalog.ts';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import {
  type Environment,
  runBuilt,
  SHELL_COMMAND,
  scriptedService,
  startCli,
} from '../support/cli.ts';
import { DISKS } from './disks.ts';
import { ageLeftovers } from './home.ts';
import { HOMES, KILLS, withRandom } from './killed-logins.ts';

const CHANGES = ['images', 'changes', '-o', 'ndjson'];

/** A service whose images a test changes, and the environment of a user with this home. */
async function watched(images: readonly Image[]) {
  const service = { images };
  const { env } = await scriptedService((request, index) =>
    catalogueOf(service.images)(request, index),
  );
  const userAt = (home: string): Environment => ({ ...env, HOME: home });
  return { service, env, userAt };
}

/** The ids in complete lines: a killed process may have written part of one. */
const idsIn = (stdout: string): number[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).id);

const changesIn = async (env: Environment, prelude?: string) => {
  const result = await runBuilt(CHANGES, { env, prelude });
  return { ...result, ids: idsIn(result.stdout) };
};

it('twenty processes with one cursor report each change once', async () => {
  const { service, env } = await watched(testImages(120));
  await changesIn(env);
  service.images = testImages(170, 51);
  const results = await Promise.all(Array.from({ length: 20 }, () => changesIn(env)));
  expect(results.map(({ exitCode }) => exitCode)).toEqual(Array(20).fill(0));
  const all = results.flatMap(({ ids }) => ids).sort((a, b) => a - b);
  const upTo = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  expect(all).toEqual([...upTo(1, 50), ...upTo(121, 220)]);
});

it(`${KILLS} kills at random moments lose no change, and a complete run is never repeated`, async () => {
  await withRandom((random) =>
    Promise.all(Array.from({ length: HOMES }, () => killRuns(random, KILLS / HOMES))),
  );
});

async function killRuns(random: Random, wanted: number) {
  const { service, env } = await watched(testImages(150));
  const folder = path.join(env.HOME, '.local/state/imgctl/changes');
  await changesIn(env);
  const started = performance.now();
  await changesIn(env);
  const life = performance.now() - started;
  let hits = 0;
  let newest = 150;
  while (hits < wanted) {
    newest += 1;
    service.images = testImages(newest);
    const killed = startCli(CHANGES, { env });
    const kill = () => killed.child.kill('SIGKILL');
    if (random.below(2) === 0) {
      await Promise.race([wait((life * random.below(1_000)) / 1_000), killed.ended]);
      kill();
    } else {
      let left = 1 + random.below(12);
      const watcher = fs.watch(folder, () => {
        left -= 1;
        if (left === 0) kill();
      });
      await killed.ended;
      watcher.close();
    }
    const { stdout, exitCode } = await killed.ended;
    const first = idsIn(stdout);
    ageLeftovers(folder);
    const { ids: second, ...complete } = await changesIn(env);
    expect(complete).toMatchObject({ stderr: '', exitCode: 0 });
    if (exitCode === 0) {
      expect([first, second]).toEqual([[newest], []]);
      continue;
    }
    hits += 1;
    // Reported at least once; the killed run may have stored its state.
    expect([...new Set([...first, ...second])]).toEqual([newest]);
  }
  expect((await changesIn(env)).ids).toEqual([]);
  expect(fs.readdirSync(folder)).toEqual([expect.stringMatching(/^default\.[0-9a-f]{16}\.json$/)]);
}

describe.each(DISKS)('on $title', ({ prelude, skipped, folder, fill }) => {
  it.skipIf(skipped)('images changes keeps its state and reports the changes again', async () => {
    const home = folder();
    const { service, userAt } = await watched(testImages(3));
    const env = userAt(home);
    await changesIn(env);
    service.images = testImages(4);
    fill(home);
    for (let run = 0; run < 2; run += 1) {
      const { stderr, exitCode } = await changesIn(env, prelude);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/"cannot write the state \S+: (ENOSPC|EFBIG)"/);
    }
    fs.rmSync(path.join(home, 'filler'), { force: true });
    expect((await changesIn(env)).ids).toEqual([4]);
    expect((await changesIn(env)).ids).toEqual([]);
  });
});

it('a reader that closes early leaves the changes to the next run', async () => {
  const { service, env } = await watched([]);
  await changesIn(env);
  service.images = testImages(3_000);
  const line = `${SHELL_COMMAND} ${CHANGES.join(' ')} | head -c 1; echo " \${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', line], { env });
  expect({ stdout, stderr }).toEqual({ stdout: '{ 0\n', stderr: '' });
  expect((await changesIn(env)).ids).toHaveLength(3_000);
  expect((await changesIn(env)).ids).toEqual([]);
});
