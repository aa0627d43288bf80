// Passwords that are available without a prompt, and standard input.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { passwordOfStdin, secretOfCommand } from '../../src/session/secrets.ts';
import { unattendedPassword } from '../../src/session/session.ts';
import { Settings } from '../../src/session/settings.ts';
import { FakeInput, fakeIo, fakeTerminal, temporaryDirectory } from '../support/io.ts';
import { unixOnlySuite } from '../support/platform.ts';

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
    [
      { IMGCTL_PASSWORD: 'of-variable', ...FILE },
      'IMGCTL_PASSWORD',
      'IMGCTL_PASSWORD',
      'of-variable',
    ],
    [FILE, 'IMGCTL_PASSWORD_FILE', 'the password file secret', 'of-file'],
    [
      { IMGCTL_PASSWORD_COMMAND: 'echo of-env' },
      ofCommand('IMGCTL_PASSWORD_COMMAND'),
      undefined,
      'of-env',
    ],
    [{}, ofCommand('profile work'), undefined, 'of-command'],
    [
      { IMGCTL_PASSWORD: '', IMGCTL_PASSWORD_FILE: '' },
      ofCommand('profile work'),
      undefined,
      'of-command',
    ],
  ])('with %j comes from %s', async (env, origin, what, password) => {
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'secret'), 'of-file\nrest\n');
    const source = sourceWith(env, { 'password-command': 'echo of-command' }, cwd);
    expect([source?.origin, await source?.read()]).toEqual([origin, password]);
    expect(source?.hint).toBe(
      `check ${what ?? origin} and the user name: imgctl config list --profile work`,
    );
  });

  it('is undefined without a source', () => {
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
    ['is a directory', '.', /^cannot read the password file \.: EISDIR$/],
    ['is missing', 'none', /^cannot read the password file none: ENOENT$/],
    ['is empty', 'empty', /^the password file empty gave no password$/],
    ['starts with an empty line', 'late', /^the password file late gave no password$/],
    ['is too long', 'long', /^the password file long gave a line too long /],
    ['is in Latin-1', 'latin1', /^the password file latin1 gave a password that is not UTF-8$/],
    ['is in UTF-16', 'utf16', /^the password file utf16 gave a password that is not UTF-8$/],
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

  it('sees the environment without the password and the token', async () => {
    const env = { IMGCTL_PASSWORD: 'p4ss', IMGCTL_TOKEN: 't0ken', IMGCTL_USERNAME: 'demo' };
    const line = await run('env | sort | tr "\\n" ","', env);
    expect(line).toContain('IMGCTL_USERNAME=demo,');
    expect(line).not.toMatch(/p4ss|t0ken|IMGCTL_PASSWORD|IMGCTL_TOKEN/);
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

  it('ends at an interrupt before or after its start', async () => {
    const io = fakeIo({ env: { PATH } });
    const running = secretOfCommand('exec sleep 60', io);
    io.interrupt();
    await expect(running).rejects.toMatchObject({ code: 'interrupted' });
    await expect(secretOfCommand('exec sleep 60', io)).rejects.toMatchObject({
      code: 'interrupted',
    });
  });
});

unixOnlySuite('/dev is Unix')('a password file that is no regular file', () => {
  it('is read up to the maximum length', async () => {
    await expect(sourceWith({ IMGCTL_PASSWORD_FILE: '/dev/zero' })?.read()).rejects.toMatchObject({
      message: 'the password file /dev/zero gave a line too long for a password',
    });
  });

  it.each([
    ['is read when its writer writes', 'secret\n', 'secret'],
    ['may end without a line break', 'secret', 'secret'],
  ])('and is a pipe %s', async (_what, written, password) => {
    const pipe = path.join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: pipe })?.read();
    await writeFile(pipe, written);
    expect(await reading).toBe(password);
  });
});

describe('a password on standard input', () => {
  it.each(['secret\nrest', 'secret'])('is the first line of %j', async (stdin) => {
    expect(await passwordOfStdin(fakeIo({ stdin }))).toBe('secret');
  });

  it('is decoded across chunks', async () => {
    const stdin = new FakeInput(false);
    const reading = passwordOfStdin(fakeIo({ stdin }));
    for (const byte of Buffer.from('pässwörd\n')) {
      stdin.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect(await reading).toBe('pässwörd');
  });

  it('must not be empty nor come from a terminal', async () => {
    await expect(passwordOfStdin(fakeIo())).rejects.toMatchObject({ code: 'config' });
    await expect(passwordOfStdin(fakeIo({ stdin: fakeTerminal() }))).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('ends at an interrupt', async () => {
    const io = fakeIo({ stdin: new FakeInput(false) });
    const reading = passwordOfStdin(io);
    io.interrupt();
    await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
    await expect(passwordOfStdin(io)).rejects.toMatchObject({ code: 'interrupted' });
  });
});
