// A full disk: old files stay complete and in use, and the responses of the service are used.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Emulator } from '../../src/emulator/service.ts';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { DISKS } from './disks.ts';
import { AFTER_LOGIN, cachedToken, entriesOf } from './home.ts';
import { HOMES, KILLS, killLogins } from './killed-logins.ts';

const USER = { name: 'alice', password: 'unlike-any-name' };
const LIST = ['images', 'list', '--limit', '1', '-q'];
const LISTED = { stdout: expect.stringMatching(/^\d+\n$/), exitCode: 0 };
const NOT_STORED = /^imgctl: warning: cannot store the access token \((ENOSPC|EFBIG)\); it is used/;

const contentOf = (home: string) => ({
  entries: entriesOf(home),
  settings: readFileSync(path.join(home, '.config/imgctl/config.json'), 'utf8'),
  token: cachedToken(home),
});

describe.each(DISKS)('on $title', ({ prelude, skipped, folder, fill }) => {
  /** Returns a user who logged in before the disk was full. */
  async function loggedIn() {
    const emulator = await serve({ tokenLimit: 1_000, users: [USER] });
    return { emulator, ...(await loggedInTo(emulator)) };
  }

  async function loggedInTo(emulator: Emulator) {
    const home = folder();
    const env = { ...account(emulator.baseUrl, USER.name, USER.password), HOME: home };
    expect(await runBuilt(['login'], { env })).toMatchObject({ exitCode: 0 });
    const before = contentOf(home);
    expect(before.entries).toEqual(AFTER_LOGIN);
    fill(home);
    return { home, env, before, withoutPassword: { ...env, IMGCTL_PASSWORD: '' } };
  }

  it.skipIf(skipped)(
    'login warns that it cannot store its token, and the old one stays in use',
    async () => {
      const { env, withoutPassword, home, before } = await loggedIn();
      const login = await runBuilt(['login'], { env, prelude });
      expect(login).toMatchObject({ stdout: '', exitCode: 0 });
      expect(login.stderr).toMatch(NOT_STORED);
      expect(login.stderr).toContain('imgctl: logged in to');
      expect(contentOf(home)).toEqual(before);
      const listed = await runBuilt(LIST, { env: withoutPassword, prelude });
      expect(listed).toMatchObject({ ...LISTED, stderr: '' });
    },
  );

  it.skipIf(skipped)('images list uses a renewed token for the run', async () => {
    const { emulator, withoutPassword, home, before } = await loggedIn();
    emulator.expireTokens();
    const env = { ...withoutPassword, IMGCTL_PASSWORD_COMMAND: `echo ${USER.password}` };
    const listed = await runBuilt(LIST, { env, prelude });
    expect(listed).toMatchObject(LISTED);
    expect(listed.stderr).toMatch(NOT_STORED);
    expect(contentOf(home)).toEqual(before);
  });

  it.skipIf(skipped)('config set exits 2 and leaves the settings complete', async () => {
    const { env, home, before } = await loggedIn();
    const set = await runBuilt(['config', 'set', 'timeout', '5s'], { env, prelude });
    expect(set).toMatchObject({ stdout: '', exitCode: 2 });
    expect(set.stderr).toMatch(/^imgctl: cannot write \S+config\.json: (ENOSPC|EFBIG)\nhint: /);
    expect(contentOf(home)).toEqual(before);
  });

  it.skipIf(skipped)(`${KILLS / 2} killed logins leave the old tokens in use`, async () => {
    const emulator = await serve({ tokenLimit: 1_000, users: [USER] });
    const users: Awaited<ReturnType<typeof loggedInTo>>[] = [];
    for (let count = 0; count < HOMES; count += 1) users.push(await loggedInTo(emulator));
    await killLogins(
      KILLS / 2,
      users.map(({ env }) => env),
      { baseUrl: emulator.baseUrl, prelude, writable: false },
    );
    for (const { home, before } of users) expect(cachedToken(home)).toBe(before.token);
  });
});
