// Hazards of terminals and pipes, against the built program.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { freshHome, SHELL_COMMAND, scriptedService, startCli } from '../support/cli.ts';

const noScript = spawnSync('script', ['--version']).status !== 0;

/** Runs the program on a pseudo terminal, by script of util-linux. */
function onTerminal(env: Readonly<Record<string, string>>, setup: string, words: string) {
  const command = `${setup}; eval "exec $COMMAND ${words}"`;
  const prelude = `exec script --quiet --return --command '${command}' /dev/null`;
  const all = { ...env, SHELL: '/bin/sh', COMMAND: SHELL_COMMAND };
  return startCli([], { env: all, prelude, stdin: { open: true } });
}

describe.skipIf(noScript)('on a terminal (skipped without script of util-linux)', () => {
  it.each([
    ['of 0 columns', 'stty cols 0 rows 0', { NO_COLOR: '1' }],
    ['with TERM=dumb', 'true', { TERM: 'dumb', LANG: 'C' }],
    ['with NO_COLOR', 'true', { NO_COLOR: '1', TERM: 'xterm-256color' }],
  ])('images list prints plain text %s', async (_how, setup, variables) => {
    const { env } = await scriptedService(catalogueOf(testImages(3)));
    const { stdout, exitCode } = await onTerminal({ ...env, ...variables }, setup, 'images list')
      .ended;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^id +name/i);
    expect(stdout).toContain('image-0003.ova');
    expect(stdout).not.toMatch(/\u001b\[[0-9;]*m/);
  });

  it('Ctrl-C at the password prompt exits 130 and echoes nothing', async () => {
    const env = { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_USERNAME: 'demo' };
    const login = onTerminal(env, 'true', 'login');
    await login.waitFor('stdout', 'Password for demo');
    login.child.stdin?.write('s3cret\u0003');
    const { stdout, exitCode } = await login.ended;
    expect(exitCode).toBe(130);
    expect(stdout).toMatch(/imgctl:(\u001b\[39m)? interrupted/);
    expect(stdout).not.toContain('s3cret');
  });

  it('Ctrl-Z at the password prompt stops the job with echo, and fg continues it without', async () => {
    const env = { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_USERNAME: 'demo' };
    // An interactive shell has job control, and sh leaves the modes of the terminal alone.
    const shell = onTerminal(env, 'COMMAND="sh -i"', '');
    shell.child.stdin?.write(`${SHELL_COMMAND} login --retries 0\n`);
    await shell.waitFor('stdout', 'Password for demo');
    shell.child.stdin?.write('s3c\u001a');
    await shell.waitFor('stdout', 'Stopped');
    shell.child.stdin?.write('stty -a; fg\n');
    await shell.waitFor('stdout', /Stopped.* echo .*Password for demo/s);
    shell.child.stdin?.write('ret\r');
    await shell.waitFor('stdout', 'cannot reach');
    shell.child.stdin?.write('exit\n');
    const { stdout } = await shell.ended;
    expect(stdout).not.toMatch(/s3c|ret\r/);
  });

  it('login prompts on the terminal if stderr goes to a file', async () => {
    const env = { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_USERNAME: 'demo' };
    const login = onTerminal(env, 'true', 'login --retries 0 2>$HOME/log');
    await login.waitFor('stdout', 'Password for demo');
    login.child.stdin?.write('s3cret\r');
    expect((await login.ended).exitCode).toBe(3);
    expect(readFileSync(join(env.HOME, 'log'), 'utf8')).toMatch(/^imgctl: cannot reach/m);
  });

  it('Ctrl-C during a wait exits 130 and never hides the cursor', async () => {
    const { env } = await scriptedService({
      'PATCH /v2/user/image/vm': { status: 202, json: { request: { id: 41, status: 'PENDING' } } },
      'GET /v2/request/image_sync/41': { json: { data: { id: 41, status: 'PENDING' } } },
    });
    const sync = onTerminal({ ...env, TERM: 'xterm' }, 'stty cols 80', 'sync --wait');
    await sync.waitFor('stdout', 'PENDING');
    sync.child.stdin?.write('\u0003');
    const { stdout, exitCode } = await sync.ended;
    expect(exitCode).toBe(130);
    expect(stdout).toContain('imgctl sync-status 41 --wait');
    expect(stdout).toMatch(/\r\u001b\[K\S*imgctl:\S* interrupted/);
    expect(stdout).not.toContain('\u001b[?25l');
  });
});

// The list is longer than the buffer of a pipe, so that the program writes to a closed pipe.
it.each(['table', 'json', 'ndjson'])(
  'images list exits 0 without a message when head closes the pipe: %s',
  async (format) => {
    const { env } = await scriptedService(catalogueOf(testImages(2_000)));
    const prelude = 'set -o pipefail; "$0" "$@" | head -1; exit';
    const result = await startCli(['images', 'list', '-o', format], { env, prelude }).ended;
    expect(result).toEqual({ stdout: expect.stringMatching(/^.*\n$/), stderr: '', exitCode: 0 });
  },
);

it('api writes every byte to a slow reader', async () => {
  const line = `${'x'.repeat(1023)}\n`;
  const body = line.repeat(3 * 1024);
  const { env } = await scriptedService({ 'GET /v2/long': { body } });
  const prelude = `"$0" "$@" | (sleep 0.3; wc -c); exit`;
  const { stdout, exitCode } = await startCli(['api', '/v2/long'], { env, prelude }).ended;
  expect({ bytes: Number(stdout), exitCode }).toEqual({ bytes: body.length, exitCode: 0 });
});
