// The built program in a pipe and on a pseudo terminal: what it loads, and how it leaves the terminal.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { COMMAND, SHELL_COMMAND, scriptedService, startCli } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import type { Handler, ScriptedResponse } from '../support/scripted-server.ts';

const noScript = spawnSync('script', ['--version']).status !== 0;
const PENDING = { id: 41, status: 'PENDING' };

const ANSWERS: Readonly<Record<string, ScriptedResponse>> = {
  'GET /v2/user/image/vm': { json: { data: [], meta: { count: 0 } } },
  'PATCH /v2/user/image/vm': { status: 202, json: { request: PENDING } },
  'GET /v2/request/image_sync/41': { json: { data: PENDING } },
};
const images = catalogueOf(testImages(3));

const SERVICE: Handler = (request, index) =>
  ANSWERS[`${request.method} ${request.url.pathname}`] ?? images(request, index);

type Env = Readonly<Record<string, string>>;

/** Starts a command line of a shell on a pseudo terminal. */
function onTerminal(env: Env, command: string) {
  const prelude = `exec script --quiet --return --command '${command}' /dev/null`;
  const all = { ...env, SHELL: '/bin/sh', IMGCTL: SHELL_COMMAND };
  return startCli([], { env: all, prelude, stdin: { open: true } });
}

/** Returns an environment in which the program writes the names of its loaded chunks to the file. */
function watchChunks(env: Env): { env: Env; chunks(): string[] } {
  const folder = temporaryDirectory();
  const hook = path.join(folder, 'hook.cjs');
  const file = path.join(folder, 'loaded.json');
  writeFileSync(
    hook,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(file)},
      JSON.stringify(Object.keys(require.cache))));`,
  );
  return {
    env: { ...env, NODE_OPTIONS: `--require ${hook}` },
    chunks: () =>
      (JSON.parse(readFileSync(file, 'utf8')) as string[]).flatMap(
        (name) => /[\\/]dist[\\/]chunks[\\/](.+)-[\w-]{8}\.cjs$/.exec(name)?.[1] ?? [],
      ),
  };
}

// The single executable has one file and ignores NODE_OPTIONS.
describe.skipIf(COMMAND.length === 1)('in a pipe', () => {
  it.each(['images list', 'images list -o ndjson', 'images list nothing --color always', '--help'])(
    '%s loads nothing of cli-table3 and ora',
    async (line) => {
      const { env } = await scriptedService(SERVICE);
      const watched = watchChunks(env);
      const { exitCode } = await startCli(line.split(' '), { env: watched.env }).ended;
      expect(exitCode).toBe(0);
      expect(watched.chunks()).toContain('core');
      expect(watched.chunks()).not.toContain('screen-table');
      expect(watched.chunks()).not.toContain('spinner');
    },
  );

  it('cli-table3 and ora are in chunks of their own', () => {
    const folder = path.resolve(path.dirname(COMMAND[1] ?? ''), '../dist/chunks');
    const chunksWith = (text: string) =>
      readdirSync(folder)
        .filter((name) => readFileSync(path.join(folder, name), 'utf8').includes(text))
        .map((name) => name.replace(/-[\w-]{8}\.cjs$/, ''));
    expect(chunksWith('Missing cell at ')).toEqual(['screen-table']);
    expect(chunksWith('discardStdin')).toEqual(['spinner']);
  });
});

describe.skipIf(noScript)('on a terminal (skipped without script of util-linux)', () => {
  it.skipIf(COMMAND.length === 1)('images list loads cli-table3, and no spinner', async () => {
    const { env } = await scriptedService(SERVICE);
    const watched = watchChunks(env);
    const command = 'stty cols 80; eval "exec $IMGCTL images list"';
    expect((await onTerminal(watched.env, command).ended).exitCode).toBe(0);
    expect(watched.chunks()).toContain('screen-table');
    expect(watched.chunks()).not.toContain('spinner');
  });

  it('a wait survives Ctrl-Z and fg, ends with Ctrl-C, and leaves the terminal as it was', async () => {
    const { env } = await scriptedService(SERVICE);
    const shell = onTerminal(
      { ...env, TERM: 'xterm' },
      'stty cols 80; PS1="ready> " exec bash --norc --noprofile -i',
    );
    const type = async (keys: string, until: RegExp) => {
      shell.child.stdin?.write(keys);
      while (!until.test(await shell.waitFor('stdout', ''))) await wait(20);
    };
    await type('', /ready> /);
    await type('echo "modes $(stty -g) first"\r', / first\r\n/);
    await type('eval "$IMGCTL sync --wait"\r', /PENDING \d s/);
    await type('\u001a', /Stopped/);
    await type('fg\r', /Stopped.*sync --wait\r\n.*PENDING \d+ s/s);
    await type('\u0003', /sync-status 41 --wait/);
    await type('echo "code $? modes $(stty -g) second"\r', / second\r\n/);
    shell.child.stdin?.end('exit\r');
    const { stdout } = await shell.ended;
    const before = /modes (\d\S+) first/.exec(stdout)?.[1];
    expect(stdout).toContain(`code 130 modes ${before} second`);
    expect(stdout).not.toContain('\u001b[?25');
  });

  it.each([
    ['0 columns', 'stty cols 0', { TERM: 'xterm', NO_COLOR: '1' }],
    ['TERM=dumb', 'stty cols 80', { TERM: 'dumb' }],
  ])('a wait shows lines without escape sequences with %s', async (_how, setup, variables) => {
    const { env } = await scriptedService(SERVICE);
    const command = `${setup}; eval "exec $IMGCTL sync --wait-timeout 1s"`;
    const { stdout, exitCode } = await onTerminal({ ...env, ...variables }, command).ended;
    expect(exitCode).toBe(7);
    expect(stdout).toContain('sync 41: PENDING\r\n');
    expect(stdout).not.toContain('\u001b');
  });
});
