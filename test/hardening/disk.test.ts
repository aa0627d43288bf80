// Full disks and killed logins: old files stay complete and in use, and the responses of the service are used.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { serve } from '../support/emulator.ts';
import { filesHolding, tokensOf } from '../support/files.ts';
import { failed, temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { skipped } from '../support/requirements.ts';
import { account } from '../support/users.ts';
import { DISKS, type Disk, mountTmpfs, NO_TMPFS } from './disks.ts';
import { ageLeftovers, HOMES, KILLS, killRuns } from './kills.ts';

const USER = { name: 'alice', password: 'unlike-any-name' };
const LIST = ['images', 'list', '--limit', '1', '-q'];
const LISTED = { stdout: expect.stringMatching(/^\d+\n$/), exitCode: 0 };
const NOT_STORED =
  /^imgctl: warning: cannot store the access token or its request limit \((no space left on device|file too large)\); it is used/;

const ROOM = 'a disk with room';

/** The entries after a login: settings, the token request limit and the token. */
const AFTER_LOGIN = [
  'config.json',
  'tokens',
  expect.stringMatching(/^tokens\/_limit\.[0-9a-f]{16}\.json$/),
  expect.stringMatching(/^tokens\/_token\.[0-9a-f]{16}\.json$/),
];

/** Returns every file and folder of the configuration. */
const entriesOf = (home: string) =>
  readdirSync(path.dirname(tokensOf(home)), { recursive: true, encoding: 'utf8' }).sort();

/** Returns the cached token. */
function cachedToken(home: string): string {
  const folder = tokensOf(home);
  const name = readdirSync(folder).find((entry) => /^_token\.[0-9a-f]{16}\.json$/.test(entry));
  const { token } = JSON.parse(readFileSync(path.join(folder, `${name}`), 'utf8'));
  expect(token).toMatch(/^\S+$/);
  return token;
}

const contentOf = (home: string) => ({
  entries: entriesOf(home),
  settings: readFileSync(path.join(home, '.config/imgctl/config.json'), 'utf8'),
  token: cachedToken(home),
});

/** Returns a user who logged in before the disk was full. */
async function loggedIn({ folder, fill }: Disk, emulator?: Emulator) {
  const service = emulator ?? (await serve({ tokenLimit: 1_000, users: [USER] }));
  const home = folder();
  const env = { ...account(service.baseUrl, USER.name, USER.password), HOME: home };
  expect(await runProgram(['login'], { env })).toMatchObject({ exitCode: 0 });
  const before = contentOf(home);
  expect(before.entries).toEqual(AFTER_LOGIN);
  fill(home);
  return { service, home, env, before, withoutPassword: { ...env, IMGCTL_PASSWORD: '' } };
}

describe.each(DISKS)('on $title', (disk) => {
  const { prelude, skipped } = disk;

  it.skipIf(skipped)('login fails, doctor warns, and the old token stays in use', async () => {
    const { env, withoutPassword, home, before } = await loggedIn(disk);
    const login = await runProgram(['login'], { env, prelude });
    expect(login).toEqual(
      failed(
        1,
        /^imgctl: cannot store the access token \((no space left on device|file too large)\)\n/,
      ),
    );
    // A token may have 8 KiB.
    for (const limit of [prelude, 'ulimit -f 8']) {
      const doctor = await runProgram(['doctor', '--json'], { env, prelude: limit });
      expect(doctor.stdout).toMatch(
        /"cannot write to \S+: (no space left on device|file too large)"/,
      );
    }
    expect(contentOf(home)).toEqual(before);
    const listed = await runProgram(LIST, { env: withoutPassword, prelude });
    expect(listed).toMatchObject({ ...LISTED, stderr: '' });
  });

  it.skipIf(skipped)('images list uses a renewed token for the run', async () => {
    const { service, withoutPassword, home, before } = await loggedIn(disk);
    service.expireTokens();
    const env = { ...withoutPassword, IMGCTL_PASSWORD_COMMAND: `echo ${USER.password}` };
    const listed = await runProgram(LIST, { env, prelude });
    expect(listed).toMatchObject(LISTED);
    expect(listed.stderr).toMatch(NOT_STORED);
    expect(contentOf(home)).toEqual(before);
  });

  it.skipIf(skipped)('config set exits 2 and leaves the settings complete', async () => {
    const { env, home, before } = await loggedIn(disk);
    const set = await runProgram(['config', 'set', 'timeout', '5s'], { env, prelude });
    expect(set).toMatchObject({ stdout: '', exitCode: 2 });
    expect(set.stderr).toMatch(
      /^imgctl: cannot write \S+config\.json: (no space left on device|file too large)\nhint: /,
    );
    expect(contentOf(home)).toEqual(before);
  });
});

it.skipIf(NO_TMPFS !== '')(`in a read-only home, errors say so${skipped(NO_TMPFS)}`, async () => {
  const home = mountTmpfs('64k');
  expect(spawnSync('mount', ['-o', 'remount,ro', home]).status).toBe(0);
  const env = { ...account('http://127.0.0.1:9'), HOME: home };
  const set = await runProgram(['config', 'set', 'timeout', '5s'], { env });
  expect(set).toEqual(failed(2, 'config.json: read-only file system\n'));
  const login = await runProgram(['login'], { env });
  expect(login).toEqual(failed(1, 'cannot store the access token (read-only file system)\n'));
});

describe.each([
  ...DISKS.map((disk) => ({ ...disk, kills: KILLS / 2 })),
  { title: ROOM, folder: temporaryDirectory, fill: () => {}, kills: KILLS },
])('on $title', (disk) => {
  it.skipIf(disk.skipped)(`${disk.kills} killed logins leave a token in use`, async () => {
    const service = await serve({ tokenLimit: 1_000, users: [USER] });
    const users: Awaited<ReturnType<typeof loggedIn>>[] = [];
    for (let count = 0; count < HOMES; count += 1) users.push(await loggedIn(disk, service));
    await Promise.all(users.map((user) => killLogins(user, disk, disk.kills / HOMES)));
  });
});

type LoggedIn = Awaited<ReturnType<typeof loggedIn>>;

/** Kills logins of one user; a full disk lets none of them write. */
async function killLogins(
  { env, home, before }: LoggedIn,
  { prelude, title }: Disk,
  kills: number,
) {
  const check = async () => {
    const Authorization = `Bearer ${cachedToken(home)}`;
    const { status } = await fetch(`${env.IMGCTL_BASE_URL}/v2`, { headers: { Authorization } });
    expect(status).toBe(200);
    const argv = Math.random() < 0.5 ? ['whoami', '--check', '-q'] : ['login'];
    ageLeftovers(home);
    const exitCode = argv[0] === 'login' && title !== ROOM ? 1 : 0;
    expect(await runProgram(argv, { env, prelude })).toMatchObject({ exitCode });
    if (title !== ROOM) expect(cachedToken(home)).toBe(before.token);
    else if (argv[0] === 'login') expect(entriesOf(home)).toEqual(AFTER_LOGIN);
    expect(filesHolding(home, [env.IMGCTL_PASSWORD])).toEqual([]);
  };
  await killRuns(kills, { argv: ['login'], env, prelude, folder: tokensOf(home), check });
}
