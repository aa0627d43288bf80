// Passwords that are available without a prompt, standard input, and the programs that imgctl runs.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { environmentOf } from '../../src/io.ts';
import { runChild } from '../../src/session/child.ts';
import { passwordOfStdin, secretOfCommand } from '../../src/session/secrets.ts';
import { unattendedPassword } from '../../src/session/session.ts';
import { Settings } from '../../src/session/settings.ts';
import { FakeInput, fakeIo, fakeTerminal, temporaryDirectory } from '../support/io.ts';
import { unixOnly, unixOnlySuite } from '../support/platform.ts';

const PATH = process.env.PATH;
const ACCOUNT = { profile: 'work', baseUrl: 'https://images.example', username: 'demo' };

function sourceWith(env: Record<string, string>, stored: Record<string, string> = {}, cwd = '/') {
  const io = fakeIo({ env: { PATH, ...env }, cwd });
  return unattendedPassword(new Settings('work', {}, io.env, stored), io, ACCOUNT);
}

describe('the unattended password', () => {
  const FILE = { IMGCTL_PASSWORD_FILE: 'secret' };
  const ofCommand = (origin: string) => `the password command (${origin})`;

  it.each([
    [{ IMGCTL_PASSWORD: 'of-variable', ...FILE }, 'IMGCTL_PASSWORD', 'of-variable'],
    [FILE, 'the file secret (IMGCTL_PASSWORD_FILE)', 'of-file'],
    [{ IMGCTL_PASSWORD_COMMAND: 'echo x' }, ofCommand('IMGCTL_PASSWORD_COMMAND'), 'x'],
    [{ IMGCTL_PASSWORD: '', IMGCTL_PASSWORD_FILE: '' }, ofCommand('profile work'), 'of-command'],
  ])('with %j comes from %s', async (env, origin, password) => {
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'secret'), 'of-file\nrest\n');
    const source = sourceWith(env, { 'password-command': 'echo of-command' }, cwd);
    expect([source?.origin, await source?.read()]).toEqual([origin, password]);
    const list = 'imgctl config list --profile work';
    expect(source?.hint).toBe(`check ${origin} and the user name: ${list}`);
    expect(sourceWith({})).toBeUndefined();
  });

  it.each(['secret', 'secret\n', 'secret\r\nrest', '\ufeffsecret\n'])(
    'is the first line of a file that holds %j',
    async (text) => {
      const cwd = temporaryDirectory();
      writeFileSync(path.join(cwd, 'file'), text, { mode: 0o644 });
      expect(await sourceWith({ IMGCTL_PASSWORD_FILE: 'file' }, {}, cwd)?.read()).toBe('secret');
    },
  );

  it.each([
    ['is a directory', '.', /^cannot read the file \. \(IMGCTL_PASSWORD_FILE\): EISDIR$/],
    ['is missing', 'none', /^cannot read the file none \(\S+\): ENOENT$/],
    ['is empty', 'empty', /^the file empty \(\S+\) gave no password$/],
    ['starts with an empty line', 'late', /^the file late \(\S+\) gave no password$/],
    ['is too long', 'long', /^the file long \(\S+\) gave a line too long /],
    ['is in Latin-1', 'latin1', /^the file latin1 \(\S+\) gave a password that is not UTF-8$/],
    ['is in UTF-16', 'utf16', /^the file utf16 \(\S+\) gave a password that is not UTF-8$/],
  ])('is a config error if the file %s', async (_what, file, message) => {
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'empty'), '');
    writeFileSync(path.join(cwd, 'late'), '\nsecret\n');
    writeFileSync(path.join(cwd, 'long'), '€'.repeat(100_000));
    writeFileSync(path.join(cwd, 'latin1'), 's\u00e9cret\n', 'latin1');
    writeFileSync(path.join(cwd, 'utf16'), '\ufeffsecret\n', 'utf16le');
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: file }, {}, cwd)?.read();
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toMatchObject({ code: 'config' });
  });
});

unixOnlySuite('sh is Unix')('the password command', () => {
  const run = (command: string, env: Record<string, string> = {}) =>
    secretOfCommand(command, fakeIo({ env: { PATH, ...env }, cwd: temporaryDirectory() }));

  it.each([
    ['no line end', 'printf secret', 'secret'],
    ['several lines', 'printf "secret\\nrest\\n"', 'secret'],
    ['spaces, which belong to the password', 'printf " a b \\n"', ' a b '],
    ['letters beyond ASCII', 'printf "p\\303\\244ss\\n"', 'päss'],
  ])('may print %s', async (_what, command, password) => {
    expect(await run(command)).toBe(password);
  });

  it.each([
    ['fails', 'echo secret; exit 3', 'the password command ended with exit code 3'],
    ['is killed', 'echo secret; kill -9 $$', 'the password command ended with SIGKILL'],
    ['prints nothing', 'true', 'the password command gave no password'],
  ])('is a config error if it %s', async (_what, command, message) => {
    await expect(run(command)).rejects.toMatchObject({ code: 'config', message });
  });

  it.each(['echo secret', 'printf secret'])(
    'is not waited for if its child holds the pipe: %s',
    async (print) => {
      const pid = path.join(temporaryDirectory(), 'pid');
      onTestFinished(() => {
        process.kill(Number(readFileSync(pid, 'utf8')));
      });
      expect(await run(`sleep 60 & echo $! > ${pid}; ${print}`)).toBe('secret');
    },
  );
});

unixOnly('named pipes are Unix')('a password file may be a pipe or a device', async () => {
  const reading = sourceWith({ IMGCTL_PASSWORD_FILE: '/dev/zero' })?.read();
  await expect(reading).rejects.toThrow('gave a line too long for a password');
  for (const written of ['secret\n', 'secret']) {
    const pipe = path.join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: pipe })?.read();
    await writeFile(pipe, written);
    expect(await reading).toBe('secret');
  }
});

describe('a password on standard input', () => {
  it('is the first line, decoded across chunks', async () => {
    expect(await passwordOfStdin(fakeIo({ stdin: 'secret\nrest' }))).toBe('secret');
    const stdin = new FakeInput(false);
    const reading = passwordOfStdin(fakeIo({ stdin }));
    for (const byte of Buffer.from('pässwörd')) {
      stdin.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    stdin.end();
    expect(await reading).toBe('pässwörd');
  });

  it('must not be empty nor come from a terminal, and ends at an interrupt', async () => {
    await expect(passwordOfStdin(fakeIo())).rejects.toMatchObject({ code: 'config' });
    const terminal = passwordOfStdin(fakeIo({ stdin: fakeTerminal() }));
    await expect(terminal).rejects.toMatchObject({ code: 'usage' });
    const io = fakeIo({ stdin: new FakeInput(false) });
    const reading = passwordOfStdin(io);
    io.interrupt();
    await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
  });
});

const io = () => fakeIo({ env: { PATH: process.env.PATH } });

describe('a program', () => {
  unixOnly('sh is Unix')(
    'gets its arguments unchanged, and input that it need not read',
    async () => {
      const args = ['-c', 'echo "$0"; cat; echo said >&2; exit 3', '$(x) "'];
      const options = { command: 'sh', args, input: 'given\n', stderr: 'pipe' } as const;
      expect(await runChild(io(), options)).toMatchObject({
        stdout: '$(x) "\ngiven\n',
        stderr: 'said\n',
        exitCode: 3,
        failure: 'ended with exit code 3',
      });
      const unread = { ...options, command: 'true', args: [], input: 'x'.repeat(1_000_000) };
      expect(await runChild(io(), unread)).toMatchObject({ exitCode: 0, failure: undefined });
    },
  );

  unixOnly('sh is Unix').each([
    ['linux', { IMGCTL_PASSWORD: 's3cret', IMGCTL_TOKEN: 's3cret' }],
    ['win32', { imgctl_Password: 's3cret', Imgctl_Token: 's3cret' }],
  ] as const)('does not see the password and the token on %s: %j', async (platform, secrets) => {
    const env = environmentOf({
      platform,
      env: { PATH: process.env.PATH, ...secrets, Other: 'x' },
    });
    const result = await runChild(fakeIo({ env }), { command: 'env', stderr: 'pipe' });
    expect(result.stdout).toMatch(/^other=x$/im);
    expect(result.stdout).not.toMatch(/imgctl_|s3cret/i);
  });

  unixOnly('process groups are Unix').each([
    ['takes too long', async () => {}],
    ['is interrupted', async (interrupt: () => void) => interrupt()],
  ])('that %s is killed with its children', async (_how, stop) => {
    const used = io();
    const file = path.join(temporaryDirectory(), 'child');
    const command = `sleep 60 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`;
    const ended = runChild(used, { command, stderr: 'inherit', limit: 1_000 }).catch(() => {});
    while (!existsSync(file)) await new Promise(setImmediate);
    const child = Number(readFileSync(file, 'utf8'));
    // A dead process may still wait for its parent to notice.
    const isRunning = () => {
      const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${child}`], { encoding: 'utf8' });
      return /^[^Z]/.test(stdout);
    };
    expect(isRunning()).toBe(true);
    await stop(() => used.interrupt());
    await ended;
    await expect.poll(isRunning, { timeout: 5_000 }).toBe(false);
  });

  it('that takes too long or does not start is reported', async () => {
    const slow = await runChild(io(), { command: 'exec sleep 60', stderr: 'pipe', limit: 50 });
    expect(slow).toMatchObject({ exitCode: undefined, failure: 'did not end within 0.05 s' });
    const none = await runChild(io(), { command: '/nonexistent', args: [], stderr: 'pipe' });
    expect(none).toMatchObject({ failure: 'could not be started', cause: { code: 'ENOENT' } });
  });
});
