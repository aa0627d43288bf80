// Logins that are killed at random moments of their life, and what is found after each.

import { watch } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Random, seededRandom } from '../../src/emulator/catalog.ts';
import { runBuilt, startCli, type User } from '../support/cli.ts';
import {
  AFTER_LOGIN,
  cachedToken,
  entriesOf,
  filesHolding,
  isTaken,
  report,
  tokensOf,
} from './home.ts';

const KILLS = 200;
/** Users of one machine each, who wait for the locks of the dead side by side. */
export const HOMES = 20;

/** A lock's mtime may lie up to 1 s ahead; 5 s after it the lock of a dead holder falls. */
const LOCK_STALENESS = 6_000;
/** What one run may need besides on two busy cores. */
const ONE_RUN = 20_000;

interface World {
  readonly baseUrl: string;
  readonly prelude?: string | undefined;
  /** Whether a run can write; where it cannot, the old token is all there is to keep. */
  readonly writable: boolean;
}

interface Victims extends World {
  readonly env: User;
  readonly random: Random;
}

interface Toll {
  /** Kills that hit a living process, and those that came too late. */
  hits: number;
  misses: number;
  /** Hits that left a lock, and those that left a half-written file. */
  locks: number;
  leftovers: number;
  /** The longest run after a kill, milliseconds. */
  longest: number;
}

/** Kills 200 logins at random moments, shared among users who are logged in, and looks at what each has left. */
export async function kill200Logins(users: readonly User[], world: World): Promise<void> {
  const seed = Number(process.env.IMGCTL_TEST_SEED) || Date.now() % 2 ** 31;
  const random = seededRandom(seed);
  const tolls = await Promise.all(
    users.map((env) => killLogins({ ...world, env, random }, KILLS / users.length)),
  ).catch((error: unknown) => {
    throw new Error(`with IMGCTL_TEST_SEED=${seed}`, { cause: error });
  });
  const sum = (count: (toll: Toll) => number) => tolls.reduce((all, toll) => all + count(toll), 0);
  const hits = sum((toll) => toll.hits);
  expect(hits).toBeGreaterThanOrEqual(KILLS);
  report(
    `${hits} logins killed alive (${sum((toll) => toll.misses)} too late), ` +
      `${sum((toll) => toll.locks)} left a lock, ${sum((toll) => toll.leftovers)} a half-written file; ` +
      `the longest run after: ${Math.round(Math.max(...tolls.map((toll) => toll.longest)))} ms; seed ${seed}`,
  );
}

/** Kills one user's logins until as many as wanted were hit alive. */
async function killLogins(victims: Victims, wanted: number): Promise<Toll> {
  const { env, random } = victims;
  const toll: Toll = { hits: 0, misses: 0, locks: 0, leftovers: 0, longest: 0 };
  const life = await measure(victims);
  while (toll.hits < wanted) {
    const aimed = random.below(2) === 0;
    const killed = aimed
      ? await killAtChange(victims, 1 + random.below(life.changes))
      : await killAfter(victims, (life.milliseconds * random.below(1_000)) / 1_000);
    if (!killed) {
      toll.misses += 1;
      continue;
    }
    toll.hits += 1;
    const left = entriesOf(env.HOME);
    if (left.some((name) => name.endsWith('.lock'))) toll.locks += 1;
    if (left.some((name) => name.includes('.new'))) toll.leftovers += 1;
    expect(await isTaken(victims.baseUrl, cachedToken(env.HOME))).toBe(true);
    toll.longest = Math.max(toll.longest, await runAfter(victims));
  }
  return toll;
}

/** The time that a login takes here and now, and the changes it makes in the folder of the tokens. */
async function measure({
  env,
  prelude,
}: Victims): Promise<{ milliseconds: number; changes: number }> {
  let changes = 0;
  const watcher = watch(tokensOf(env.HOME), () => {
    changes += 1;
  });
  const started = performance.now();
  expect((await runBuilt(['login'], { env, prelude })).exitCode).toBe(0);
  const milliseconds = performance.now() - started;
  watcher.close();
  return { milliseconds, changes };
}

async function killAfter({ env, prelude }: Victims, milliseconds: number): Promise<boolean> {
  const login = startCli(['login'], { env, prelude });
  await Promise.race([wait(milliseconds), login.ended]);
  login.child.kill('SIGKILL');
  return (await login.ended).exitCode === -1;
}

async function killAtChange({ env, prelude }: Victims, number: number): Promise<boolean> {
  let changes = 0;
  const login = startCli(['login'], { env, prelude });
  const watcher = watch(tokensOf(env.HOME), () => {
    changes += 1;
    if (changes === number) login.child.kill('SIGKILL');
  });
  const { exitCode } = await login.ended;
  watcher.close();
  return exitCode === -1;
}

/**
 * Another run by one of two ways: one that only needs the token, or a login.
 * @returns milliseconds it took
 */
async function runAfter({ env, prelude, random, writable }: Victims): Promise<number> {
  const argv = random.pick([['whoami', '--check', '-q'], ['login']]);
  const started = performance.now();
  expect(await runBuilt(argv, { env, prelude })).toMatchObject({ exitCode: 0 });
  const milliseconds = performance.now() - started;
  expect(milliseconds).toBeLessThan(LOCK_STALENESS + ONE_RUN);
  // The guard of a takeover that was killed holds nothing, and the next takeover finds it stale.
  const left = entriesOf(env.HOME).filter((name) => !name.endsWith('.takeover.lock'));
  if (argv[0] === 'login' && writable) expect(left).toEqual(AFTER_LOGIN);
  // Whatever ran, it took away what may hold a secret.
  expect(left.filter((name) => name.startsWith('tokens/.default.'))).toEqual([]);
  expect(filesHolding(env.HOME, [env.IMGCTL_PASSWORD])).toEqual([]);
  return milliseconds;
}
