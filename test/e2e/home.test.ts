// Files in a home, and the processes that share it.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { serve } from '../support/emulator.ts';
import { modeOf } from '../support/files.ts';
import { failed } from '../support/io.ts';
import {
  COMMAND,
  programUser,
  runProgram,
  startProgram,
  withClockAhead,
  withHook,
} from '../support/program.ts';
import { account } from '../support/users.ts';

// The single executable ignores NODE_OPTIONS.
const withNodeOptions = it.skipIf(COMMAND.length === 1);

/** A script for --require that reports the mode of each staging file as it is created. */
const REPORT_MODES = `
  const fs = require('node:fs');
  const { openSync, writeFileSync } = fs;
  const report = (file, { size, mode }) => {
    if (size > 0 || !/\\.new/.test(file)) return;
    process.stderr.write('created ' + (mode & 0o777).toString(8) + '\\n');
  };
  fs.openSync = (file, ...rest) => {
    const descriptor = openSync(file, ...rest);
    report(file, fs.fstatSync(descriptor));
    return descriptor;
  };
  // Newer versions of Node open the file in it without openSync.
  fs.writeFileSync = (file, text, options) => {
    writeFileSync(file, '', options);
    if (typeof file === 'string') report(file, fs.statSync(file));
    writeFileSync(file, text);
  };`;

withNodeOptions(
  'login creates files with mode 600 and folders with 700, whatever the umask and even in a snap (only with Node)',
  async () => {
    const user = account((await serve()).baseUrl);
    const env = withHook({ ...user, SNAP: '/snap/imgctl/1' }, REPORT_MODES);
    const { stderr, exitCode } = await runProgram(['login'], { env, prelude: 'umask 0' });
    expect(exitCode).toBe(0);
    const modes = stderr.match(/created .*/g) ?? [];
    expect(modes.length).toBeGreaterThan(2);
    expect(new Set(modes)).toEqual(new Set(['created 600']));
    const folder = path.join(user.HOME, '.config/imgctl');
    expect([folder, path.join(folder, 'tokens')].map(modeOf)).toEqual(['700', '700']);
  },
);

withNodeOptions(
  'twenty processes whose clocks are 10 s apart send one token request, and lose no lock and no setting (only with Node)',
  async () => {
    const { baseUrl, requests } = await serve();
    const { IMGCTL_PASSWORD, ...user } = account(baseUrl);
    // The others look at the lock of the token meanwhile.
    const env = { ...user, IMGCTL_PASSWORD_COMMAND: `sleep 0.5; echo ${IMGCTL_PASSWORD}` };
    const envs = [env, withClockAhead(env, 10_000), withClockAhead(env, -10_000)];
    const file = path.join(user.HOME, 'images.lock.json');
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const results = await Promise.all(
      names.flatMap((name, index) => {
        const own = { env: envs[index % 3] ?? env };
        const add = ['images', 'lock', 'add', name, 'ubuntu', '22.04', 'server', '--file', file];
        const set = ['config', 'set', 'username', name, '--profile', name];
        return [runProgram(add, own), runProgram(set, own)];
      }),
    );
    expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).images).sort()).toEqual(names);
    const config = path.join(user.HOME, '.config/imgctl/config.json');
    const { profiles } = JSON.parse(readFileSync(config, 'utf8'));
    expect(Object.keys(profiles).sort()).toEqual(names);
    expect(modeOf(config)).toBe('600');
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  },
);

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('login releases its lock at %s', async (signal, exitCode) => {
  const { baseUrl } = await serve({ faults: ['POST /auth/request-token=stall'] });
  const env = account(baseUrl);
  const entries = () => readdirSync(env.HOME, { recursive: true, encoding: 'utf8' });
  const locks = () => entries().filter((name) => name.endsWith('.lock'));
  const login = startProgram(['login'], { env });
  await expect.poll(locks).toHaveLength(1);
  login.child.kill(signal);
  expect((await login.ended).exitCode).toBe(exitCode);
  expect(locks()).toEqual([]);
});

it('images lock add in a folder that was removed writes nothing', async () => {
  const { IMGCTL_PASSWORD, ...user } = account((await serve()).baseUrl);
  const env = { ...user, IMGCTL_PASSWORD_COMMAND: `echo ${IMGCTL_PASSWORD}` };
  const prelude = 'mkdir "$HOME/gone"; cd "$HOME/gone"; rmdir "$HOME/gone"';
  const result = await runProgram(['images', 'lock', 'add', 'web', 'ubuntu'], { env, prelude });
  const text =
    /cannot write the lock file images\.lock\.json: no such file or directory\nhint: create its folder/;
  expect(result).toEqual(failed(1, text));
});

it('images snapshot /dev/stdout into a pipe says that it is no file', async () => {
  const { env } = await programUser(catalogueOf(testImages(1)));
  const result = await runProgram(['images', 'snapshot', '/dev/stdout'], { env });
  const text =
    'cannot write the snapshot /dev/stdout: it is not a regular file\nhint: use the name of a regular file\n';
  expect(result).toEqual(failed(1, text));
});
