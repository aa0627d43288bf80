// SIGKILL at 200 random moments of a login: what is cached can be read and used, and nothing else stays.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { account, type EmulatorProcess, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { HOMES, kill200Logins } from './victims.ts';

const PASSWORD = randomBytes(12).toString('hex');

let emulator: EmulatorProcess;
beforeAll(async () => {
  emulator = await startEmulatorProcess('--token-limit', '1000', '--user', `alice:${PASSWORD}`);
});
afterAll(async () => {
  await emulator.stop();
});

it('200 logins killed at random moments leave a cache that works and nothing beside it', async () => {
  const users = Array.from({ length: HOMES }, () => account(emulator.baseUrl, 'alice', PASSWORD));
  for (const env of users) expect((await runBuilt(['login'], { env })).exitCode).toBe(0);
  await kill200Logins(users, { baseUrl: emulator.baseUrl, writable: true });
});
