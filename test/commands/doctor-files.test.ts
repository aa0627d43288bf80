// doctor: files that others can read or write. Each hint is run as it is.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { emulatorUser, PASSWORD } from '../support/users.ts';
import { diagnose, type Row } from './doctor-harness.ts';

/** Returns a user who is logged in and the paths of the files. */
async function loggedIn() {
  const { env, imgctl } = await emulatorUser();
  const directory = path.join(env.IMGCTL_CONFIG_DIR, "it's here");
  const own = { ...env, IMGCTL_CONFIG_DIR: directory };
  await imgctl(['login'], { env: { ...own, ...PASSWORD } });
  const tokens = path.join(directory, 'tokens');
  const token = fs.readdirSync(tokens).find((name) => name.startsWith('_token.')) ?? '';
  const config = path.join(directory, 'config.json');
  return { env: own, directory, config, tokens, token: path.join(tokens, token) };
}

const isOfFiles = ({ check }: Row) => check === 'files';

type Place = Omit<Awaited<ReturnType<typeof loggedIn>>, 'env'>;

describe.skipIf(process.platform === 'win32')('doctor', () => {
  const mode = (file: keyof Place, bits: number) => (place: Place) =>
    fs.chmodSync(place[file], bits);

  it.each<[string, (place: Place) => void, RegExp]>([
    ['a token that others can read', mode('token', 0o644), /^readable by other users: /],
    [
      'settings that others can read',
      mode('config', 0o640),
      /^readable by other users: .*config\.json$/,
    ],
    ['tokens in the open', mode('tokens', 0o755), /^accessible to other users/],
    [
      'tokens behind a link in the open',
      ({ tokens, directory }) => {
        fs.renameSync(tokens, path.join(directory, 'elsewhere'));
        fs.chmodSync(path.join(directory, 'elsewhere'), 0o755);
        fs.symlinkSync('elsewhere', tokens);
      },
      /^accessible to other users: .*elsewhere$/,
    ],
    ['a shared folder', mode('directory', 0o777), /^writable by other users/],
  ])('prints a hint that helps against %s', async (_, spoil, expected) => {
    const place = await loggedIn();
    spoil(place);
    const before = (await diagnose({ env: place.env })).rows.filter(isOfFiles);
    expect(before.map(({ state }) => state)).toEqual(['warning']);
    expect(before[0]?.finding).toMatch(expected);
    const hint = before[0]?.hint ?? 'false';
    // doctor reads the token, which already repairs its mode.
    if (hint.startsWith('chmod 600')) spoil(place);
    execFileSync('sh', ['-c', hint]);
    const after = (await diagnose({ env: place.env })).rows.filter(isOfFiles);
    expect(after.map(({ state, hint }) => [state, hint])).toEqual([['ok', null]]);
  });

  it.skipIf(process.getuid?.() === 0)('reports a read-only folder (not as root)', async () => {
    const { env, directory } = await loggedIn();
    fs.chmodSync(directory, 0o500);
    const { of, exitCode } = await diagnose({ env });
    fs.chmodSync(directory, 0o700);
    expect(of('files')).toMatch(/^warning: cannot write in .*: EACCES -> set IMGCTL_CONFIG_DIR/);
    expect(exitCode).toBe(0);
  });

  it('reports an invalid token file without its content', async () => {
    const { env, token } = await loggedIn();
    fs.writeFileSync(token, '{"token": "canary');
    const { rows, exitCode } = await diagnose({ env });
    const found = rows.filter(({ check }) => check === 'token');
    expect(found).toMatchObject([
      { state: 'failed', hint: 'run: imgctl login' },
      { state: 'warning', finding: expect.stringMatching(/^cannot read .*: not valid JSON at/) },
    ]);
    expect([JSON.stringify(rows).includes('canary'), exitCode]).toEqual([false, 4]);
  });

  it('reports a file in place of the folder', async () => {
    const { env, token } = await loggedIn();
    const { of } = await diagnose({ env: { ...env, IMGCTL_CONFIG_DIR: path.join(token, 'x') } });
    expect(of('files')).toMatch(
      /^warning: cannot write to .*\.json: not a directory -> set IMGCTL_CONFIG_DIR/,
    );
  });

  it('reports a missing password file', async () => {
    const { env, directory } = await loggedIn();
    const file = path.join(directory, 'password');
    const withFile = { ...env, IMGCTL_PASSWORD_FILE: file };
    expect((await diagnose({ env: withFile })).of('password')).toMatch(
      /^failed: cannot read .*ENOENT/,
    );
    fs.writeFileSync(file, 'demo\n');
    expect((await diagnose({ env: withFile })).of('password')).toBe(
      'ok: from IMGCTL_PASSWORD_FILE; not tested',
    );
  });
});
