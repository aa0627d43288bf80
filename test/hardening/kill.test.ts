// SIGKILL at random moments of a login.

import { expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { HOMES, KILLS, killLogins } from './killed-logins.ts';

it(`${KILLS} killed logins leave a valid token cache and no other files`, async () => {
  const user = { name: 'alice', password: 'unlike-any-name' };
  const { baseUrl } = await serve({ tokenLimit: 1_000, users: [user] });
  const users = Array.from({ length: HOMES }, () => account(baseUrl, user.name, user.password));
  for (const env of users) expect((await runBuilt(['login'], { env })).exitCode).toBe(0);
  await killLogins(KILLS, users, { baseUrl, writable: true });
});
