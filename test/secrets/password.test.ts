// Passwords that are available without a prompt, standard input, and the programs that imgctl runs.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Settings } from '../../src/config/settings.ts';
import { tryOr } from '../../src/errors.ts';
import { advice } from '../../src/facts.ts';
import { takeEnvironment } from '../../src/process-io.ts';
import { runChild } from '../../src/secrets/child.ts';
import { unattendedPassword } from '../../src/secrets/passwords.ts';
import { passwordOfStdin } from '../../src/secrets/secrets.ts';
import { openFilesBelow, silentPipe } from '../support/files.ts';
import { FakeInput, fakeIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly, unixOnlySuite } from '../support/platform.ts';

const PATH = process.env.PATH;

type Texts = Readonly<Record<string, string>>;

/** @param given options of the command line, by their setting */
function sourceWith(env: Texts, stored: Texts = {}, cwd = '/', given: Texts = {}) {
  const io = fakeIo({ env: { PATH, ...env }, cwd });
  const config = { profile: 'work', profiles: new Map([['work', stored]]) };
  return unattendedPassword(new Settings(config, 'work', io.env).with(given), io);
}

describe('the unattended password', () => {
  const FILE = { IMGCTL_PASSWORD_FILE: 'secret' };
  const NO_FILE = { IMGCTL_PASSWORD: '', IMGCTL_PASSWORD_FILE: '' };
  const ofCommand = (origin: string) => `the password command (${origin})`;

  it.each([
    [{ IMGCTL_PASSWORD: 'of-variable', ...FILE }, 'IMGCTL_PASSWORD', 'of-variable'],
    [FILE, 'the file secret (IMGCTL_PASSWORD_FILE)', 'of-file'],
    [{ IMGCTL_PASSWORD_COMMAND: 'echo x' }, ofCommand('IMGCTL_PASSWORD_COMMAND'), 'x'],
    [NO_FILE, ofCommand('profile work'), 'of-command'],
  ])('with %j comes from %s', async (env, origin, password) => {
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'secret'), 'of-file\nrest\n');
    const source = sourceWith(env, { 'password-command': 'echo of-command' }, cwd);
    expect([source?.origin, await source?.read()]).toEqual([origin, password]);
    expect(source?.factsIfRefused).toMatchObject({ kind: 'password-refused', origin });
  });

  it('is undefined without a source, even if the base URL is invalid', () => {
    expect(sourceWith({}, { 'base-url': 'ftp://images.example' })).toBeUndefined();
  });

  it.each(['password-file', 'password-command'])(
    'is not looked for behind an empty %s',
    async (key) => {
      const source = sourceWith({}, { 'password-command': 'echo x', [key]: '' });
      const message = `${key} must not be empty (from profile work)`;
      await expect(source?.read()).rejects.toMatchObject({ code: 'config', message });
    },
  );

  it.each([undefined, ''])('of a file that holds %j for a moment is waited for', async (before) => {
    const cwd = temporaryDirectory();
    if (before !== undefined) writeFileSync(path.join(cwd, 'secret'), before);
    const io = fakeIo({ env: FILE, cwd, time: 0 });
    const { sleep } = io;
    io.sleep = (milliseconds, signal) => {
      writeFileSync(path.join(cwd, 'secret'), 'rotated\n');
      return sleep(milliseconds, signal);
    };
    const settings = new Settings({ profile: undefined, profiles: new Map() }, 'default', FILE);
    expect(await unattendedPassword(settings, io)?.read()).toBe('rotated');
    expect(io.sleeps).toEqual([1_000]);
  });

  it.each([
    ['of-variable\n', 'of-variable'],
    ['of-variable\r\n', 'of-variable'],
    ['of-variable\n\n', 'IMGCTL_PASSWORD gave a control character (U+000A)'],
    ['of\rvariable', 'IMGCTL_PASSWORD gave a control character (U+000D)'],
    ['\u0085', 'IMGCTL_PASSWORD gave a control character (U+0085)'],
    ['\n', 'IMGCTL_PASSWORD gave an empty line'],
  ])('of the variable %j is, or fails with: %s', async (IMGCTL_PASSWORD, expected) => {
    const reading = sourceWith({ IMGCTL_PASSWORD })?.read();
    const result = await reading?.catch(({ code, message, facts }) => [code, message, facts]);
    const facts = advice('set IMGCTL_PASSWORD to the secret alone, on one line');
    const isError = expected.includes(' gave ');
    expect(result).toEqual(isError ? ['config', expected, facts] : expected);
  });

  it('has at most 8 KiB', async () => {
    const read = async (length: number) =>
      sourceWith({ IMGCTL_PASSWORD: 'x'.repeat(length) })?.read();
    expect(await read(8_192)).toHaveLength(8_192);
    await expect(read(8_193)).rejects.toThrow('IMGCTL_PASSWORD gave a line that is too long');
  });

  it.each([
    ['password-command', 'echo of-option'],
    ['password-file', 'secret'],
  ])('comes from the option --%s before the variables', async (option, value) => {
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'secret'), 'of-option\n');
    const env = { IMGCTL_PASSWORD: 'of-variable', IMGCTL_PASSWORD_FILE: 'other' };
    expect(await sourceWith(env, {}, cwd, { [option]: value })?.read()).toBe('of-option');
  });

  it.each([
    ['secret', 'utf8', 'secret'],
    ['secret\r\nrest', 'utf8', 'secret'],
    ['\ufeffsecret\n', 'utf8', 'secret'],
    ['', 'utf8', 'gave an empty line'],
    ['\nsecret\n', 'utf8', 'gave an empty line'],
    ['secret\u001b[0m\n', 'utf8', 'gave a control character (U+001B)'],
    ['sec\0ret\n', 'utf8', 'gave a control character (U+0000)'],
    ['s\u00e9cret\n', 'latin1', 'gave text that is not UTF-8'],
    ['\ufeffsecret\n', 'utf16le', 'gave text that is not UTF-8'],
  ] as const)('of a file with %j in %s is: %s', async (text, encoding, result) => {
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'file'), text, encoding);
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: 'file' }, {}, cwd)?.read();
    if (result === 'secret') expect(await reading).toBe(result);
    else {
      const message = `the file file (IMGCTL_PASSWORD_FILE) ${result}`;
      const facts = advice('put the secret alone on its first line');
      await expect(reading).rejects.toMatchObject({ code: 'config', message, facts });
    }
  });

  it.each([
    ['.', 'cannot read the file . (NAME): it is a folder', 'check NAME', { code: 'EISDIR' }],
    ['none', 'none does not exist', 'create it, or check NAME', { code: 'ENOENT' }],
    ...(process.platform === 'linux'
      ? [
          [
            ...['/dev/ptmx', 'cannot read the file /dev/ptmx (NAME): it is a terminal'],
            ...['check NAME', { message: 'it is a terminal' }],
          ] as const,
        ]
      : []),
    [
      '/dev/zero',
      'the file /dev/zero (NAME) gave a line that is too long',
      'put the secret alone on its first line',
      undefined,
    ],
  ] as const)('is a config error if the file is %s', async (file, message, hint, cause) => {
    const cwd = temporaryDirectory();
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: file }, {}, cwd)?.read();
    const named = (text: string) => text.replace('NAME', 'IMGCTL_PASSWORD_FILE');
    const error = { code: 'config', message: named(message), facts: advice(named(hint)), cause };
    await expect(reading).rejects.toMatchObject(error);
    if (file.startsWith('/dev')) await expect.poll(() => openFilesBelow(file)).toEqual([]);
  });

  unixOnly('named pipes are Unix')('may come from a named pipe', async () => {
    const pipe = path.join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: pipe })?.read();
    await writeFile(pipe, 'secret');
    expect(await reading).toBe('secret');
  });

  unixOnly('named pipes are Unix').each([
    ['without a writer', 'sleep 60 # ', /^cannot read the file \S+ \(\S+\): no line within 30 s$/],
    ['whose line never ends', 'exec sleep 60 > ', /: no line within 30 s$/],
    ['that is closed without a line', 'true > ', /gave an empty line$/],
  ])('is an error if the file is a pipe %s', async (_what, command, message) => {
    const pipe = path.join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const limit = new AbortController();
    const spy = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
    onTestFinished(() => spy.mockRestore());
    const reading = sourceWith({ IMGCTL_PASSWORD_FILE: pipe })?.read();
    const writer = spawn('sh', ['-c', command + pipe]);
    onTestFinished(() => void writer.kill());
    expect(spy).toHaveBeenCalledWith(30_000);
    if (command.includes('sleep')) limit.abort();
    const error = { code: 'config', message: expect.stringMatching(message) };
    await expect(reading).rejects.toMatchObject(error);
  });

  unixOnly('named pipes are Unix')('is not waited for after an interrupt', async () => {
    const pipe = silentPipe();
    const io = fakeIo({ env: { IMGCTL_PASSWORD_FILE: pipe } });
    const reading = unattendedPassword(
      new Settings({ profile: 'work', profiles: new Map() }, 'work', io.env),
      io,
    )?.read();
    io.interrupt();
    await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
  });
});

unixOnlySuite('sh is Unix')('the password command', () => {
  const run = async (command: string) =>
    sourceWith({ IMGCTL_PASSWORD_COMMAND: command }, {}, temporaryDirectory())?.read();

  it.each([
    ['printf "secret\\nrest\\n"', 'secret'],
    ['printf " a p\\303\\244ss"', ' a päss'],
    ['echo secret; exit 3', 'the password command failed with exit code 3'],
    ['echo secret; exec >&-; exit 3', 'the password command failed with exit code 3'],
    ['echo secret; kill -9 $$', 'the password command was killed by SIGKILL'],
    ['true', 'the password command gave an empty line'],
  ])('%j gives the password or an error: %s', async (command, expected) => {
    const result = await run(command).catch(({ code, message }) => ({ code, message }));
    const isError = expected.startsWith('the password');
    expect(result).toEqual(isError ? { code: 'config', message: expected } : expected);
  });

  it('that cannot be started is an error with its cause', async () => {
    const message = 'the password command could not be started';
    const error = { code: 'config', message, cause: { code: 'E2BIG' } };
    await expect(run(`: ${'x'.repeat(2_000_000)}`)).rejects.toMatchObject(error);
  });

  it('is ended 2 s after its line, within 30 s', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    expect(await run('echo secret')).toBe('secret');
    const limits = timers.mock.calls.map(([, milliseconds]) => milliseconds);
    expect(limits).toEqual(expect.arrayContaining([30_000, 2_000]));
  });
});

it('a password on standard input is the first line, decoded across chunks, until an interrupt', async () => {
  const io = fakeIo({ stdin: new FakeInput(false) });
  const interrupted = passwordOfStdin(io);
  io.interrupt();
  await expect(interrupted).rejects.toMatchObject({ code: 'interrupted' });
  const stdin = new FakeInput(false);
  const reading = passwordOfStdin(fakeIo({ stdin }));
  for (const byte of Buffer.from('pässwörd')) {
    stdin.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  stdin.end('\nrest');
  expect(await reading).toBe('pässwörd');
});

unixOnlySuite('sh is Unix')('a program', () => {
  const io = () => fakeIo({ env: { PATH } });

  it('gets its arguments unchanged, and input that it need not read', async () => {
    const args = ['-c', 'echo "$0"; cat; echo said >&2; exit 3', '$(x) "'];
    const options = { command: 'sh', args, input: 'given\n', stderr: 'pipe' } as const;
    const texts = { stdout: '$(x) "\ngiven\n', stderr: 'said\n' };
    const ended = { ...texts, exitCode: 3, failure: 'failed with exit code 3' };
    expect(await runChild(io(), options)).toMatchObject(ended);
    const unread = { ...options, command: 'true', args: [], input: 'x'.repeat(1_000_000) };
    expect(await runChild(io(), unread)).toMatchObject({ exitCode: 0, failure: undefined });
  });

  it.each([
    ['linux', { IMGCTL_PASSWORD: 's3cret', IMGCTL_TOKEN: 's3cret' }],
    ['win32', { imgctl_Password: 's3cret', Imgctl_Token: 's3cret' }],
  ] as const)('does not see the password and the token on %s: %j', async (platform, secrets) => {
    const env = takeEnvironment({ platform, env: { PATH, ...secrets, Other: 'x' } });
    const result = await runChild(fakeIo({ env }), { command: 'env', stderr: 'pipe' });
    expect(result.stdout).toMatch(/^other=x$/im);
    expect(result.stdout).not.toMatch(/imgctl_|s3cret/i);
  });

  const ENDS = ['takes too long', 'goes on after its line', 'is interrupted'];
  it.each(ENDS)('that %s is killed with its children', async (how) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isOver = false;
    onTestFinished(() => {
      vi.useRealTimers();
      isOver = true;
    });
    const used = io();
    const file = path.join(temporaryDirectory(), 'child');
    const line = how.includes('line') ? 'echo secret; ' : '';
    const command = `${line}sleep 60 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`;
    const limits = { limit: line === '' ? 1_000 : 1e9, limitAfterLine: 1_000 };
    const ended = runChild(used, { command, stderr: 'inherit', ...limits })
      .then(
        () => 'ended',
        ({ code }) => code,
      )
      .finally(() => (isOver = true));
    while (!existsSync(file)) await new Promise(setImmediate);
    const child = readFileSync(file, 'utf8').trim();
    // A dead process may still wait for its parent to notice. Small systems have no ps.
    const stateOf = existsSync('/proc/self/stat')
      ? () => tryOr(() => readFileSync(`/proc/${child}/stat`, 'utf8').split(') ')[1], '')
      : () => spawnSync('ps', ['-o', 'stat=', '-p', child], { encoding: 'utf8' }).stdout;
    const isRunning = () => /^[^Z]/.test(stateOf() ?? '');
    expect(isRunning()).toBe(true);
    if (how === 'is interrupted') used.interrupt();
    while (!isOver) {
      vi.advanceTimersByTime(1_000);
      await new Promise(setImmediate);
    }
    expect(await ended).toBe(how === 'is interrupted' ? 'interrupted' : 'ended');
    await expect.poll(isRunning).toBe(false);
  });

  it('that has ended is not waited for if a child of it holds its pipes', async () => {
    const pid = path.join(temporaryDirectory(), 'pid');
    onTestFinished(() => void process.kill(Number(readFileSync(pid, 'utf8'))));
    const pipes = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    const before = pipes();
    const command = `sleep 600 & echo $! > ${pid}; printf secret`;
    const { stdout } = await runChild(io(), { command, stderr: 'pipe' });
    expect(stdout).toBe('secret');
    // An open one would keep the process from ending.
    await expect.poll(pipes).toBeLessThanOrEqual(before);
  });

  it.each(['', 'echo secret; '])(
    'that has ended after %j has its exit code, although a child holds its pipes',
    async (line) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const file = path.join(temporaryDirectory(), 'pids');
      const command = `sleep 600 & echo $$ $! > ${file}.new; mv ${file}.new ${file}; ${line}exit 3`;
      const limits = { limit: 500, limitAfterLine: 500 };
      const ended = runChild(io(), { command, stderr: 'pipe', ...limits });
      while (!existsSync(file)) await new Promise(setImmediate);
      const [program = 0, child = 0] = readFileSync(file, 'utf8').split(' ').map(Number);
      onTestFinished(() => void process.kill(child));
      const isRunning = () => tryOr(() => process.kill(program, 0), false);
      while (isRunning()) await new Promise(setImmediate);
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      vi.advanceTimersByTime(1_000);
      expect(await ended).toMatchObject({ exitCode: 3, failure: 'failed with exit code 3' });
    },
  );

  it('that has ended leaves no timer and no listener', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const used = io();
    for (const command of ['true', 'exit 3', '/none']) {
      await runChild(used, { command, args: [], stderr: 'pipe', limitAfterLine: 1 });
      expect([vi.getTimerCount(), getEventListeners(used.signal, 'abort')]).toEqual([0, []]);
    }
  });

  it('is not started after an interrupt', async () => {
    const used = io();
    used.interrupt();
    const file = path.join(temporaryDirectory(), 'started');
    const started = runChild(used, { command: `touch ${file}`, stderr: 'pipe' });
    await expect(started).rejects.toMatchObject({ code: 'interrupted' });
    expect(existsSync(file)).toBe(false);
  });

  it('that takes too long or does not start is reported', async () => {
    const slow = await runChild(io(), { command: 'exec sleep 60', stderr: 'pipe', limit: 50 });
    expect(slow).toMatchObject({ exitCode: undefined, failure: 'did not finish within 0.05 s' });
    const command = path.join(temporaryDirectory(), 'missing');
    const none = await runChild(io(), { command, args: [], stderr: 'pipe' });
    expect(none).toMatchObject({ failure: 'could not be started', cause: { code: 'ENOENT' } });
  });
});
