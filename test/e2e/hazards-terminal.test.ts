// Hazards of terminals and pipes, against the built program.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { freshHome, scriptedService, startCli } from '../support/cli.ts';
import { noScript, onTerminal } from '../support/pseudo-terminal.ts';

describe.skipIf(noScript)('on a terminal (skipped without script of util-linux)', () => {
  it('Ctrl-C at the password prompt exits 130 and echoes nothing', async () => {
    const env = { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_USERNAME: 'demo' };
    const login = onTerminal(env, 'eval "exec $IMGCTL login"');
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
    const shell = onTerminal(env, 'exec sh -i');
    shell.child.stdin?.write('eval "$IMGCTL login --retries 0"\n');
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
    const login = onTerminal(env, 'eval "exec $IMGCTL login --retries 0" 2>$HOME/log');
    await login.waitFor('stdout', 'Password for demo');
    login.child.stdin?.write('s3cret\r');
    expect((await login.ended).exitCode).toBe(3);
    expect(readFileSync(join(env.HOME, 'log'), 'utf8')).toMatch(/^imgctl: cannot reach/m);
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
