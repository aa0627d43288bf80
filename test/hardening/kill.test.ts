// SIGKILL at 200 random moments of a login.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { account, type EmulatorProcess, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { HOMES, kill200Logins } from './killed-logins.ts';

const PASSWORD = randomBytes(12).toString('hex');

let emulator: EmulatorProcess;
beforeAll(async () => {
  emulator = await startEmulatorProcess('--token-limit', '1000', '--user', `alice:${PASSWORD}`);
});
afterAll(async () => {
  await emulator.stop();
});

it('200 killed logins leave a valid token cache and no other files', async () => {
  const users = Array.from({ length: HOMES }, () => account(emulator.baseUrl, 'alice', PASSWORD));
  for (const env of users) expect((await runBuilt(['login'], { env })).exitCode).toBe(0);
  await kill200Logins(users, { baseUrl: emulator.baseUrl, writable: true });
});
