// What only a process can show of its files: a write cut short, a wide umask, a snap, a signal under a lock.

import { linkSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { account, COMMAND, freshHome, runBuilt, startCli } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';

const SETTINGS = '{"profiles": {}}';

/** A user whose folder holds only settings. */
function userWithSettings() {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'config.json');
  writeFileSync(file, SETTINGS);
  return { directory, file, env: { ...freshHome(), IMGCTL_CONFIG_DIR: directory } };
}

it('config set leaves the settings whole if its write is cut short', async () => {
  const { directory, file, env } = userWithSettings();
  const argv = ['config', 'set', 'username', 'x'.repeat(4_000)];
  // One block of 1024 bytes: the write is cut short, as on a full disk.
  const result = await runBuilt(argv, { env, prelude: 'ulimit -f 1' });
  expect(result).toMatchObject({ stdout: '', exitCode: 2 });
  expect(result.stderr).toMatch(/^imgctl: cannot write \S+: it was written only in part\n/);
  expect(readFileSync(file, 'utf8')).toBe(SETTINGS);
  expect(readdirSync(directory)).toEqual(['config.json']);
});

it('config set replaces the settings file in a snap too', async () => {
  const { directory, file, env } = userWithSettings();
  const other = path.join(directory, 'other.json');
  linkSync(file, other);
  const argv = ['config', 'set', 'username', 'demo'];
  expect((await runBuilt(argv, { env: { ...env, SNAP: '/snap/any' } })).exitCode).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('username');
  expect(readFileSync(other, 'utf8')).toBe(SETTINGS);
  expect(readdirSync(directory).sort()).toEqual(['config.json', 'other.json']);
});

/** A script for --require that reports the mode of each staging file as it is created. */
const REPORT_MODES = `
  const fs = require('node:fs');
  const { openSync, writeFileSync } = fs;
  const report = (file, stat) => {
    if (stat.size === 0 && /\\.new/.test(file)) {
      process.stderr.write('created ' + (stat.mode & 0o777).toString(8) + '\\n');
    }
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

// The single executable ignores NODE_OPTIONS.
it.skipIf(COMMAND.length === 1)(
  'login creates settings and token with mode 600, whatever the umask',
  async () => {
    const { baseUrl } = await serve();
    const user = account(baseUrl);
    const script = path.join(user.HOME, 'report.cjs');
    writeFileSync(script, REPORT_MODES);
    const env = { ...user, NODE_OPTIONS: `--require ${script}` };
    const { stderr, exitCode } = await runBuilt(['login'], { env, prelude: 'umask 0' });
    expect(exitCode).toBe(0);
    const modes = stderr.match(/created .*/g) ?? [];
    expect(modes.length).toBeGreaterThan(2);
    expect(new Set(modes)).toEqual(new Set(['created 600']));
  },
);

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('login releases its lock at %s', async (signal, exitCode) => {
  const { baseUrl } = await serve({ faults: [parseFault('POST /auth/request-token=stall')] });
  const env = account(baseUrl);
  const locks = () =>
    readdirSync(env.HOME, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.lock'),
    );
  const login = startCli(['login'], { env });
  await expect.poll(locks).toHaveLength(1);
  login.child.kill(signal);
  expect((await login.ended).exitCode).toBe(exitCode);
  expect(locks()).toEqual([]);
});
