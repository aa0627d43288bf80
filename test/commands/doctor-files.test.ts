// imgctl doctor: files that others can read or write, links, leftovers; and that each remedy, run as it stands, helps.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { emulatorUser, PASSWORD } from '../support/users.ts';
import { diagnose, type Row } from './doctor-harness.ts';

/** Somebody who is logged in, and the places of their files. */
async function loggedIn() {
  const { env, imgctl } = await emulatorUser();
  const directory = path.join(env.IMGCTL_CONFIG_DIR ?? '', "it's here");
  const own = { ...env, IMGCTL_CONFIG_DIR: directory };
  await imgctl(['login'], { env: { ...own, ...PASSWORD } });
  const tokens = path.join(directory, 'tokens');
  const token = fs.readdirSync(tokens).find((name) => name.startsWith('default.')) ?? '';
  return { env: own, directory, tokens, token: path.join(tokens, token) };
}

type Place = Awaited<ReturnType<typeof loggedIn>>;

const old = new Date(Date.now() - 3_600_000);

describe.skipIf(process.platform === 'win32')('imgctl doctor on files', () => {
  it.each<[string, (place: Place) => void, RegExp]>([
    [
      'a token that others can read',
      ({ token }) => fs.chmodSync(token, 0o644),
      /^others can read it: /,
    ],
    [
      'settings that others can read',
      ({ directory }) => fs.chmodSync(path.join(directory, 'config.json'), 0o640),
      /^others can read it: .*config\.json$/,
    ],
    ['tokens in the open', ({ tokens }) => fs.chmodSync(tokens, 0o755), /^others can look into it/],
    [
      'a shared folder',
      ({ directory }) => fs.chmodSync(directory, 0o777),
      /^others can write in it/,
    ],
    [
      'a link in place of a token',
      ({ token, directory }) => {
        fs.renameSync(token, path.join(directory, 'elsewhere'));
        fs.symlinkSync('../elsewhere', token);
      },
      /^a symbolic link, which is not followed: /,
    ],
    [
      'what a killed run left behind',
      ({ tokens, directory }) => {
        for (const folder of [tokens, directory]) {
          const file = path.join(folder, '.config.json.99.abc.new');
          fs.writeFileSync(file, '{"token": "half', { mode: 0o600 });
          fs.utimesSync(file, old, old);
        }
      },
      /^left behind by a run that was killed: .*, .*\.new$/,
    ],
  ])('%s: its remedy helps', async (_, spoil, expected) => {
    const place = await loggedIn();
    spoil(place);
    const before = (await diagnose({ env: place.env })).rows.filter(isOfFiles);
    expect(before.map(({ state }) => state)).toEqual(['warning']);
    expect(before[0]?.finding).toMatch(expected);
    // The diagnosis itself reads tokens, which tightens them: it is spoiled again for the remedy.
    spoilAgain(place, spoil, before[0]?.remedy ?? '');
    execFileSync('sh', ['-c', before[0]?.remedy ?? 'false']);
    const after = (await diagnose({ env: place.env })).rows.filter(isOfFiles);
    expect(after.map(({ state, remedy }) => [state, remedy])).toEqual([['ok', null]]);
  });

  it('leaves a write alone that is under way', async () => {
    const { env, tokens } = await loggedIn();
    fs.writeFileSync(path.join(tokens, '.x.json.99.abc.new'), '', { mode: 0o600 });
    expect((await diagnose({ env })).of('files')).toMatch(/^ok: /);
  });

  it.skipIf(process.getuid?.() === 0)(
    'tells of a place that cannot be written (not as root)',
    async () => {
      const { env, directory } = await loggedIn();
      fs.chmodSync(directory, 0o500);
      const { of, exitCode } = await diagnose({ env });
      fs.chmodSync(directory, 0o700);
      expect(of('files')).toMatch(/^warning: cannot write in .*: EACCES -> set IMGCTL_CONFIG_DIR/);
      expect(exitCode).toBe(0);
    },
  );

  it('tells of a token that cannot be read, without a word of it', async () => {
    const { env, token } = await loggedIn();
    fs.writeFileSync(token, '{"token": "canary');
    const { rows, exitCode } = await diagnose({ env });
    const found = rows.filter(({ check }) => check === 'token');
    expect(found).toMatchObject([
      { state: 'failed', remedy: 'run: imgctl login' },
      { state: 'warning', finding: expect.stringMatching(/^cannot read .*: not valid JSON at/) },
    ]);
    expect([JSON.stringify(rows).includes('canary'), exitCode]).toEqual([false, 4]);
  });

  it('tells of a file where the folder would be', async () => {
    const { env, token } = await loggedIn();
    const { of } = await diagnose({ env: { ...env, IMGCTL_CONFIG_DIR: path.join(token, 'x') } });
    expect(of('files')).toMatch(/^warning: .*\.json is no directory -> set IMGCTL_CONFIG_DIR/);
  });

  it('tells of a password file that everybody can read, or nobody', async () => {
    const { env, directory } = await loggedIn();
    const file = path.join(directory, 'password');
    const withFile = { ...env, IMGCTL_PASSWORD_FILE: file };
    expect((await diagnose({ env: withFile })).of('password')).toMatch(
      /^failed: cannot read .*ENOENT/,
    );
    fs.writeFileSync(file, 'demo\n', { mode: 0o644 });
    const { of } = await diagnose({ env: withFile });
    expect(of('password')).toMatch(/^warning: everybody can read .* -> chmod o= '/);
    fs.chmodSync(file, 0o640);
    expect((await diagnose({ env: withFile })).of('password')).toBe(
      'ok: from IMGCTL_PASSWORD_FILE; not tried here',
    );
  });
});

function isOfFiles({ check }: Row): boolean {
  return check === 'files';
}

function spoilAgain(place: Place, spoil: (place: Place) => void, remedy: string): void {
  if (remedy.startsWith('chmod 600')) spoil(place);
}
