// images changes: twenty processes, kills at random moments and a full disk.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueByName, testImages } from '../support/catalogue-page.ts';
import { programUser, runProgram } from '../support/program.ts';
import type { Environment } from '../support/users.ts';
import { DISKS } from './disks.ts';
import { ageLeftovers, HOMES, KILLS, killRuns } from './kills.ts';

const CHANGES = ['images', 'changes', '-o', 'ndjson'];

/** A service whose images a test changes, and the environment of its user. */
async function watched(count: number) {
  const service = { images: testImages(count) };
  const { env } = await programUser((request, index) =>
    catalogueByName(service.images)(request, index),
  );
  return { service, env };
}

/** The ids in complete lines: a killed process may have written part of one. */
const idsIn = (stdout: string): number[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).id);

const changesIn = async (env: Environment, prelude?: string) => {
  const result = await runProgram(CHANGES, { env, prelude });
  return { ...result, ids: idsIn(result.stdout) };
};

it('twenty processes with one cursor report each change once', async () => {
  const { service, env } = await watched(120);
  await changesIn(env);
  service.images = testImages(170, 51);
  const results = await Promise.all(Array.from({ length: 20 }, () => changesIn(env)));
  expect(results.map(({ exitCode }) => exitCode)).toEqual(Array(20).fill(0));
  const all = results.flatMap(({ ids }) => ids).sort((a, b) => a - b);
  const changed = [...testImages(50), ...testImages(100, 121)];
  expect(all).toEqual(changed.map(({ id }) => id));
});

it(`${KILLS} kills at random moments lose no change, and a complete run is never repeated`, async () => {
  await Promise.all(Array.from({ length: HOMES }, killInHome));
});

async function killInHome() {
  let newest = 150;
  const { service, env } = await watched(newest);
  const folder = path.join(env.HOME, '.local/state/imgctl/changes');
  const before = () => {
    newest += 1;
    service.images = testImages(newest);
  };
  const check = async ({ stdout, exitCode }: { stdout: string; exitCode: number }) => {
    const first = idsIn(stdout);
    ageLeftovers(folder);
    const { ids: second, ...complete } = await changesIn(env);
    expect(complete).toMatchObject({ stderr: '', exitCode: 0 });
    // A killed run reports it at least once; it may have stored its state.
    const reported = exitCode === 0 ? [...first, ...second] : [...new Set([...first, ...second])];
    expect(reported).toEqual([newest]);
  };
  await changesIn(env);
  await killRuns(KILLS / HOMES, { argv: CHANGES, env, folder, before, check });
  expect((await changesIn(env)).ids).toEqual([]);
  expect(fs.readdirSync(folder)).toEqual([expect.stringMatching(/^default\.[0-9a-f]{16}\.json$/)]);
}

describe.each(DISKS)('on $title', ({ prelude, skipped, folder, fill }) => {
  it.skipIf(skipped)('images changes keeps its state and reports the changes again', async () => {
    const home = folder();
    const { service, env: user } = await watched(3);
    const env = { ...user, HOME: home };
    await changesIn(env);
    service.images = testImages(4);
    fill(home);
    for (let run = 0; run < 2; run += 1) {
      const { stderr, exitCode } = await changesIn(env, prelude);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        /"cannot write the file \S+: (no space left on device|file too large)"/,
      );
    }
    fs.rmSync(path.join(home, 'filler'), { force: true });
    expect((await changesIn(env)).ids).toEqual([4]);
    expect((await changesIn(env)).ids).toEqual([]);
  });
});
