// The built program on a pseudo terminal and in pipes: keys, readers, and how it leaves the terminal.

import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorCode } from '../../src/errors.ts';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { screenOf } from '../support/memory-sink.ts';
import { programUser, type RunningProgram, startProgram } from '../support/program.ts';
import { NO_SCRIPT, onTerminal } from '../support/pseudo-terminal.ts';
import type { Handler } from '../support/scripted-server.ts';
import { type Environment, freshHome } from '../support/users.ts';

const CTRL_C = '\u0003';
const CTRL_Q = '\u0011';
const CTRL_S = '\u0013';
const CTRL_Z = '\u001a';

const images = catalogueOf(testImages(3));

/** Starts a service that sends only the first page until `release` is called, and whose syncs stay PENDING. */
async function slowService() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script: Handler = async (request, index) => {
    const { method, url } = request;
    if (url.pathname === '/v2/image') {
      if (url.searchParams.has('filter')) await released;
      return images(request, index);
    }
    if (method === 'PATCH')
      return { status: 202, json: { request: { id: 41, status: 'PENDING' } } };
    if (url.pathname === '/v2/user/image/vm') return { json: { data: [], meta: { count: 0 } } };
    return { json: { data: { id: 41, status: 'PENDING' } } };
  };
  return { ...(await programUser(script)), release };
}

/** Starts a command of the program, between two lines with the modes of the terminal. */
function startCommand(env: Environment, command: string, setup = 'stty cols 80') {
  const modes = 'echo "modes $(stty -g)"';
  return onTerminal(env, `${setup}; trap : INT; ${modes}; ${command}; echo "code $?"; ${modes}`);
}

/** Fails if the terminal has other modes than before, or if its cursor was hidden. */
function expectSameModes(stdout: string): void {
  expect(stdout).not.toContain('\u001b[?25');
  const [before, ...after] = [...stdout.matchAll(/modes (\d\S+)/g)].map(([, modes]) => modes);
  expect(after).toEqual([before]);
}

/** Returns what is left on the screen at the end; fails if there is garbage. */
async function endOf(started: RunningProgram): Promise<string> {
  const { stdout } = await started.ended;
  expectSameModes(stdout);
  const screen = screenOf(stdout).replaceAll(/\u001b\[\d*m/g, '');
  expect(screen).not.toMatch(/\u001b|[\u2800-\u28ff]/);
  return screen;
}

/** True if a terminal takes no output: after Ctrl-S, which `script` has to pass on. */
function isStopped(terminal: string): boolean {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  const descriptor = openSync(terminal, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  try {
    // It shows nothing.
    writeSync(descriptor, '\0');
    return false;
  } catch (error) {
    return errorCode(error) === 'EAGAIN';
  } finally {
    closeSync(descriptor);
  }
}

const LISTING = 'eval "$IMGCTL images list --per-page 1"';
const LISTED = /^ *3 +image-0003\.ova/m;
const FIRST_PAGE = /[^ ] read 1 of 3 images/;

/** The environment of a user whose service does not answer. */
const unreachable = () => ({
  ...freshHome(),
  IMGCTL_BASE_URL: 'http://127.0.0.1:9',
  IMGCTL_USERNAME: 'demo',
});

describe.skipIf(NO_SCRIPT)(`on a terminal${NO_SCRIPT}`, () => {
  it('images list ends with 130 at Ctrl-C', async () => {
    const { env } = await slowService();
    const started = startCommand(env, LISTING);
    await started.waitFor('stdout', FIRST_PAGE);
    started.child.stdin?.write(CTRL_C);
    const screen = await endOf(started);
    expect(screen).toMatch(/^imgctl: interrupted\r$/m);
    expect(screen).toContain('code 130');
  });

  it('images list stops at Ctrl-Z and continues with fg', async () => {
    const { env, release } = await slowService();
    const plain = { ...env, NO_COLOR: '1' };
    const shell = onTerminal(plain, 'stty cols 80; PS1="ready> " exec bash --norc --noprofile -i');
    const type = async (keys: string, until: RegExp) => {
      shell.child.stdin?.write(keys);
      await shell.waitFor('stdout', until);
    };
    await type('', /ready> /);
    await type('echo "modes $(stty -g)"\r', /modes \d\S*\r\n/);
    await type(`${LISTING}\r`, FIRST_PAGE);
    await type(CTRL_Z, /Stopped.*ready> /s);
    await type('fg\r', new RegExp(`Stopped.*${FIRST_PAGE.source}`, 's'));
    release();
    await type('', LISTED);
    await type('echo "code $? modes $(stty -g)"\r', /code \d+ modes \d\S*\r\n/);
    shell.child.stdin?.write('exit\r');
    const { stdout } = await shell.ended;
    expectSameModes(stdout);
    expect(stdout).toContain('code 0 ');
  });

  it('images list loses nothing on a terminal that stops reading and is resized', async () => {
    const { env, release } = await slowService();
    const started = startCommand(env, `tty; ${LISTING}`, 'stty cols 20');
    const shown = await started.waitFor('stdout', 'read… of 3 images');
    const [terminal = ''] = /\/dev\/\S+/.exec(shown) ?? [];
    expect(spawnSync('stty', ['-F', terminal, 'cols', '42']).status).toBe(0);
    await started.waitFor('stdout', FIRST_PAGE);
    started.child.stdin?.write(CTRL_S);
    await expect.poll(() => isStopped(terminal)).toBe(true);
    release();
    await wait(150);
    expect(await started.waitFor('stdout', '')).not.toMatch(LISTED);
    started.child.stdin?.write(CTRL_Q);
    const screen = await endOf(started);
    expect(screen).toMatch(LISTED);
    expect(screen).toContain('code 0');
    expect(screen).toContain('hidden: folder');
  });

  it('Ctrl-C at the password prompt exits 130 and echoes nothing, with stderr in a file', async () => {
    const env = unreachable();
    const login = onTerminal(env, 'eval "exec $IMGCTL login" 2>$HOME/log');
    await login.waitFor('stdout', 'Password for demo');
    login.child.stdin?.write('s3cret\u0003');
    const { stdout, exitCode } = await login.ended;
    expect(exitCode).toBe(130);
    expect(stdout).not.toContain('s3cret');
    expect(readFileSync(path.join(env.HOME, 'log'), 'utf8')).toBe('imgctl: interrupted\n');
  });

  it('a password file that is the terminal is refused', async () => {
    const env = { ...unreachable(), IMGCTL_PASSWORD_FILE: '/dev/tty' };
    const screen = await endOf(startCommand(env, 'eval "$IMGCTL token"'));
    expect(screen).toContain('cannot read the file /dev/tty (IMGCTL_PASSWORD_FILE): it is a term');
    expect(screen).toContain('code 2');
  });

  it.each([
    ['HUP', 129],
    ['QUIT', 131],
  ] as const)('SIG%s at the password prompt restores the echo', async (signal, code) => {
    const env = unreachable();
    const login = 'sh -c "echo \\$\\$ >$HOME/pid; exec $IMGCTL login"';
    const started = startCommand(env, login);
    await started.waitFor('stdout', 'Password for demo');
    process.kill(Number(readFileSync(path.join(env.HOME, 'pid'), 'utf8')), `SIG${signal}`);
    expect(await endOf(started)).toContain(`code ${code}`);
  });

  it.each([
    ['sync --wait', 'PENDING', 'imgctl: hangup; sync request 41 continues\nhint: follow it with: '],
    ['login', 'Password for demo', 'imgctl: hangup\n'],
  ])('%s ends with 129 if the terminal is closed', async (line, ready, message) => {
    const { env } = await slowService();
    const own = line === 'login' ? unreachable() : env;
    const [script = '', log = ''] = ['script', 'log'].map((name) => path.join(own.HOME, name));
    writeFileSync(log, '');
    writeFileSync(script, `trap : HUP; { eval "$IMGCTL ${line}"; echo "code $?" >&2; } 2>${log}`);
    const started = onTerminal(own, `sh ${script}; true`);
    const logged = () => readFileSync(log, 'utf8');
    const shown = async () => logged() + (await started.waitFor('stdout', ''));
    await expect.poll(shown).toContain(ready);
    started.child.kill('SIGKILL');
    await expect.poll(logged).toMatch(/^code /m);
    expect(logged().replace('sync 41: PENDING\n', '')).toMatch(
      new RegExp(`^${message}[\\s\\S]*code 129\n$`),
    );
  });
});

it('images list exits 0 without a message when head closes the pipe', async () => {
  // The list is longer than the buffer of a pipe, so that the program writes to a closed pipe.
  const { env } = await programUser(catalogueOf(testImages(2_000)));
  const prelude = 'set -o pipefail; "$0" "$@" | head -1; exit';
  const result = await startProgram(['images', 'list', '-o', 'ndjson'], { env, prelude }).ended;
  expect(result).toEqual({ stdout: expect.stringMatching(/^.*\n$/), stderr: '', exitCode: 0 });
});

it('api writes every byte to a slow reader', async () => {
  const body = `${'x'.repeat(1023)}\n`.repeat(3 * 1024);
  const { env } = await programUser({ 'GET /v2/long': { body } });
  const prelude = `"$0" "$@" | (sleep 0.2; wc -c); exit`;
  const { stdout, exitCode } = await startProgram(['api', '/v2/long'], { env, prelude }).ended;
  expect({ bytes: Number(stdout), exitCode }).toEqual({ bytes: body.length, exitCode: 0 });
});
