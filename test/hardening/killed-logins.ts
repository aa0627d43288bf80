// Kills logins at random moments and checks what each has left.

import { watch } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Random, seededRandom } from '../../src/emulator/catalog.ts';
import { runBuilt, startCli, type User } from '../support/cli.ts';
import {
  AFTER_LOGIN,
  ageLeftovers,
  cachedToken,
  entriesOf,
  filesHolding,
  isAccepted,
  tokensOf,
} from './home.ts';

export const KILLS = Number(process.env.HARDENING_KILLS || 40);
/** Users with a home each, who wait for stale locks at the same time. */
export const HOMES = 20;

/** A login takes two locks, of the token and of the settings. Each is stale if it does not change for 5 s. */
const LOCK_STALENESS = 12_000;
/** Time for one run on two busy cores. */
const MAX_RUN = 20_000;

interface World {
  readonly baseUrl: string;
  readonly prelude?: string | undefined;
  /** True if a run can write. */
  readonly writable: boolean;
}

/** Calls the action with random numbers, whose seed is named if it fails. */
export async function withRandom(action: (random: Random) => Promise<unknown>): Promise<void> {
  const seed = Number(process.env.IMGCTL_TEST_SEED) || Date.now() % 2 ** 31;
  await action(seededRandom(seed)).catch((error: unknown) => {
    throw new Error(`with IMGCTL_TEST_SEED=${seed}`, { cause: error });
  });
}

/** Kills this many logins of these users at random moments and checks what each has left. */
export function killLogins(kills: number, users: readonly User[], world: World): Promise<void> {
  return withRandom((random) =>
    Promise.all(users.map((env) => killLoginsOf(env, world, random, kills / users.length))),
  );
}

/** Kills logins of one user until enough were hit while running. */
async function killLoginsOf(env: User, world: World, random: Random, wanted: number) {
  const { baseUrl, prelude, writable } = world;
  let changes = 0;
  let atChange = Number.POSITIVE_INFINITY;
  let kill = () => {};
  const watcher = watch(tokensOf(env.HOME), () => {
    changes += 1;
    if (changes === atChange) kill();
  });
  const started = performance.now();
  expect((await runBuilt(['login'], { env, prelude })).exitCode).toBe(0);
  const life = { milliseconds: performance.now() - started, changes };
  for (let hits = 0; hits < wanted; ) {
    const isTimed = random.below(2) === 0;
    const moment = (life.milliseconds * random.below(1_000)) / 1_000;
    changes = 0;
    atChange = isTimed ? Number.POSITIVE_INFINITY : 1 + random.below(life.changes);
    const login = startCli(['login'], { env, prelude });
    kill = () => login.child.kill('SIGKILL');
    if (isTimed) await Promise.race([wait(moment), login.ended]).then(kill);
    if ((await login.ended).exitCode !== -1) continue;
    hits += 1;
    atChange = Number.POSITIVE_INFINITY;
    expect(await isAccepted(baseUrl, cachedToken(env.HOME))).toBe(true);
    const argv = random.below(2) === 0 ? ['whoami', '--check', '-q'] : ['login'];
    ageLeftovers(env.HOME);
    const rerun = performance.now();
    expect(await runBuilt(argv, { env, prelude })).toMatchObject({ exitCode: 0 });
    expect(performance.now() - rerun).toBeLessThan(LOCK_STALENESS + MAX_RUN);
    if (argv[0] === 'login' && writable) expect(entriesOf(env.HOME)).toEqual(AFTER_LOGIN);
    expect(filesHolding(env.HOME, [env.IMGCTL_PASSWORD])).toEqual([]);
  }
  watcher.close();
}
