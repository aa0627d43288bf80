// A disk that takes nothing more: what was there stays whole and in use, and the answers of the service count.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { AFTER_LOGIN, cachedToken, entriesOf } from './home.ts';
import { HOMES, kill200Logins } from './victims.ts';

const USER = { name: 'alice', password: 'unlike-any-name' };
const LIST = ['images', 'list', '--limit', '1', '-q'];
const LISTED = { stdout: expect.stringMatching(/^\d+\n$/), exitCode: 0 };
const NOT_KEPT = /^imgctl: warning: cannot store the access token \((ENOSPC|EFBIG)\); it is used/;

interface Disk {
  readonly title: string;
  /** What limits the program itself. */
  readonly prelude?: string;
  readonly skipped: boolean;
  /** A folder for the running test. */
  readonly folder: () => string;
  /** From now on nothing can be written there. */
  readonly fill: (folder: string) => void;
}

/** A file system of 64 KiB. */
function mountSmall(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'imgctl-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return folder;
}

function unmount(folder: string): void {
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
}

function mayMount(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    unmount(mountSmall());
    return true;
  } catch {
    return false;
  }
}

const DISKS: readonly Disk[] = [
  {
    title: 'a full tmpfs of 64 KiB (skipped where this user may not mount one)',
    skipped: !mayMount(),
    folder: () => {
      const folder = mountSmall();
      onTestFinished(() => unmount(folder));
      return folder;
    },
    fill: (folder) => {
      const filler = path.join(folder, 'filler');
      expect(() => {
        for (;;) appendFileSync(filler, Buffer.alloc(512));
      }).toThrow('ENOSPC');
    },
  },
  {
    title: 'a limit of 0 bytes for files',
    prelude: 'ulimit -f 0',
    skipped: false,
    folder: temporaryDirectory,
    fill: () => {},
  },
];

/** What is to stay as it is. */
const contentOf = (home: string) => ({
  entries: entriesOf(home),
  settings: readFileSync(path.join(home, '.config/imgctl/config.json'), 'utf8'),
  token: cachedToken(home),
});

describe.each(DISKS)('$title', ({ prelude, skipped, folder, fill }) => {
  /** A user who had logged in before the disk was full. */
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
    'a login says that its token cannot be kept, the old one goes on',
    async () => {
      const { env, withoutPassword, home, before } = await loggedIn();
      const login = await runBuilt(['login'], { env, prelude });
      expect(login).toMatchObject({ stdout: '', exitCode: 0 });
      expect(login.stderr).toMatch(NOT_KEPT);
      expect(login.stderr).toContain('imgctl: logged in to');
      expect(contentOf(home)).toEqual(before);
      const listed = await runBuilt(LIST, { env: withoutPassword, prelude });
      expect(listed).toMatchObject({ ...LISTED, stderr: '' });
    },
  );

  it.skipIf(skipped)('a token renewed in a run is used for that run', async () => {
    const { emulator, withoutPassword, home, before } = await loggedIn();
    emulator.expireTokens();
    const env = { ...withoutPassword, IMGCTL_PASSWORD_COMMAND: `echo ${USER.password}` };
    const listed = await runBuilt(LIST, { env, prelude });
    expect(listed).toMatchObject(LISTED);
    expect(listed.stderr).toMatch(NOT_KEPT);
    expect(contentOf(home)).toEqual(before);
  });

  it.skipIf(skipped)('a setting cannot be set: exit 2, the old ones whole', async () => {
    const { env, home, before } = await loggedIn();
    const set = await runBuilt(['config', 'set', 'timeout', '5s'], { env, prelude });
    expect(set).toMatchObject({ stdout: '', exitCode: 2 });
    expect(set.stderr).toMatch(/^imgctl: cannot write \S+config\.json: (ENOSPC|EFBIG)\nhint: /);
    expect(contentOf(home)).toEqual(before);
  });

  it.skipIf(skipped)(
    '200 logins killed at random moments leave the old tokens in use',
    async () => {
      const emulator = await serve({ tokenLimit: 1_000, users: [USER] });
      const users: Awaited<ReturnType<typeof loggedInTo>>[] = [];
      for (let count = 0; count < HOMES; count += 1) users.push(await loggedInTo(emulator));
      await kill200Logins(
        users.map(({ env }) => env),
        { baseUrl: emulator.baseUrl, prelude, writable: false },
      );
      for (const { home, before } of users) expect(cachedToken(home)).toBe(before.token);
    },
  );
});
