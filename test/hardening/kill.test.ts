// SIGKILL at 200 random moments of a login: what is cached can be read and used, and nothing else stays.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seededRandom } from '../../src/emulator/random.ts';
import { account, type EmulatorProcess, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { report } from './home.ts';
import { killLogins, type Toll } from './victims.ts';

const PASSWORD = randomBytes(12).toString('hex');
const KILLS = 200;
/** Users of one machine each, who wait for the locks of the dead side by side. */
const HOMES = 20;

let emulator: EmulatorProcess;
beforeAll(async () => {
  emulator = await startEmulatorProcess('--token-limit', '1000', '--user', `alice:${PASSWORD}`);
});
afterAll(async () => {
  await emulator.stop();
});

it('200 logins killed at random moments leave a cache that works and nothing beside it', async () => {
  const seed = Number(process.env.IMGCTL_TEST_SEED) || Date.now() % 2 ** 31;
  const { baseUrl } = emulator;
  const random = seededRandom(seed);
  const tolls = await Promise.all(
    Array.from({ length: HOMES }, async () => {
      const env = account(baseUrl, 'alice', PASSWORD);
      expect((await runBuilt(['login'], { env })).exitCode).toBe(0);
      return killLogins({ baseUrl, env, random, writable: true }, KILLS / HOMES);
    }),
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
});
