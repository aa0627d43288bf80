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
  report,
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

interface Target extends World {
  readonly env: User;
  readonly random: Random;
}

interface Counts {
  /** Kills that hit a running process, and kills that were too late. */
  hits: number;
  misses: number;
  /** Hits that left a lock, and hits that left a partial file. */
  locks: number;
  leftovers: number;
  /** The longest run after a kill, milliseconds. */
  longest: number;
}

/** Kills logins of these users at random moments and checks what each has left. */
export async function killLogins(users: readonly User[], world: World): Promise<void> {
  const seed = Number(process.env.IMGCTL_TEST_SEED) || Date.now() % 2 ** 31;
  const random = seededRandom(seed);
  const all = await Promise.all(
    users.map((env) => killLoginsOf({ ...world, env, random }, KILLS / users.length)),
  ).catch((error: unknown) => {
    throw new Error(`with IMGCTL_TEST_SEED=${seed}`, { cause: error });
  });
  const sum = (name: keyof Counts) => all.reduce((total, counts) => total + counts[name], 0);
  const hits = sum('hits');
  expect(hits).toBeGreaterThanOrEqual(KILLS);
  report(
    `${hits} running logins killed (${sum('misses')} too late), ` +
      `${sum('locks')} left a lock, ${sum('leftovers')} a partial file; ` +
      `the longest run after: ${Math.round(Math.max(...all.map(({ longest }) => longest)))} ms; seed ${seed}`,
  );
}

/** Kills logins of one user until enough were hit while running. */
async function killLoginsOf(target: Target, wanted: number): Promise<Counts> {
  const { env, random } = target;
  const counts: Counts = { hits: 0, misses: 0, locks: 0, leftovers: 0, longest: 0 };
  const life = await measure(target);
  while (counts.hits < wanted) {
    const aimed = random.below(2) === 0;
    const killed = aimed
      ? await killAtChange(target, 1 + random.below(life.changes))
      : await killAfter(target, (life.milliseconds * random.below(1_000)) / 1_000);
    if (!killed) {
      counts.misses += 1;
      continue;
    }
    counts.hits += 1;
    const left = entriesOf(env.HOME);
    if (left.some((name) => name.endsWith('.lock'))) counts.locks += 1;
    if (left.some((name) => name.includes('.new'))) counts.leftovers += 1;
    expect(await isAccepted(target.baseUrl, cachedToken(env.HOME))).toBe(true);
    counts.longest = Math.max(counts.longest, await runAfter(target));
  }
  return counts;
}

/** Returns the time of a login and its changes in the folder of the tokens. */
async function measure({
  env,
  prelude,
}: Target): Promise<{ milliseconds: number; changes: number }> {
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

async function killAfter({ env, prelude }: Target, milliseconds: number): Promise<boolean> {
  const login = startCli(['login'], { env, prelude });
  await Promise.race([wait(milliseconds), login.ended]);
  login.child.kill('SIGKILL');
  return (await login.ended).exitCode === -1;
}

async function killAtChange({ env, prelude }: Target, number: number): Promise<boolean> {
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

/** Runs a command that needs the token, or a login, and returns the milliseconds. */
async function runAfter({ env, prelude, random, writable }: Target): Promise<number> {
  const argv = random.pick([['whoami', '--check', '-q'], ['login']]);
  ageLeftovers(env.HOME);
  const started = performance.now();
  expect(await runBuilt(argv, { env, prelude })).toMatchObject({ exitCode: 0 });
  const milliseconds = performance.now() - started;
  expect(milliseconds).toBeLessThan(LOCK_STALENESS + MAX_RUN);
  if (argv[0] === 'login' && writable) expect(entriesOf(env.HOME)).toEqual(AFTER_LOGIN);
  expect(filesHolding(env.HOME, [env.IMGCTL_PASSWORD])).toEqual([]);
  return milliseconds;
}
