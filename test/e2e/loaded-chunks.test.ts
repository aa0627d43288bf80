// Which chunks the built program loads in a pipe and on a terminal.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { watchChunks } from '../support/chunks.ts';
import { COMMAND, scriptedService, startCli } from '../support/cli.ts';
import { noScript, onTerminal } from '../support/pseudo-terminal.ts';

const SERVICE = catalogueOf(testImages(3));

// The single executable has one file and ignores NODE_OPTIONS.
describe.skipIf(COMMAND.length === 1)('in a pipe', () => {
  it.each(['images list', 'images list -o ndjson', 'images list nothing --color always', '--help'])(
    '%s loads no library for tables, text, YAML or the spinner',
    async (line) => {
      const { env } = await scriptedService(SERVICE);
      const watched = watchChunks(env);
      const { exitCode } = await startCli(line.split(' '), { env: watched.env }).ended;
      expect(exitCode).toBe(0);
      expect(watched.chunks()).toContain('main');
      for (const name of ['cli-table3', 'string-width', 'yaml', 'ora']) {
        expect(watched.chunks()).not.toContain(name);
      }
    },
  );

  it('images list -o yaml loads yaml', async () => {
    const { env } = await scriptedService(SERVICE);
    const watched = watchChunks(env);
    await startCli(['images', 'list', '-o', 'yaml'], { env: watched.env }).ended;
    expect(watched.chunks()).toContain('yaml');
  });

  it('cli-table3, string-width, yaml and ora are in chunks of their own', () => {
    const folder = path.resolve(path.dirname(COMMAND[1] ?? ''), '../dist/chunks');
    const chunksWith = (text: string) =>
      readdirSync(folder)
        .filter((name) => readFileSync(path.join(folder, name), 'utf8').includes(text))
        .map((name) => name.replace(/-[\w-]{8}\.cjs$/, ''));
    expect(chunksWith('Missing cell at ')).toEqual(['cli-table3']);
    expect(chunksWith('doubleQuotedAsJSON')).toEqual(['yaml']);
    expect(chunksWith('content truncated to fit')).toEqual(['ora']);
  });
});

it.skipIf(COMMAND.length === 1 || noScript)(
  'images list on a terminal loads cli-table3, and no spinner (skipped without script of util-linux)',
  async () => {
    const { env } = await scriptedService(SERVICE);
    const watched = watchChunks(env);
    const command = 'stty cols 80; eval "exec $IMGCTL images list"';
    expect((await onTerminal(watched.env, command).ended).exitCode).toBe(0);
    expect(watched.chunks()).toContain('cli-table3');
    expect(watched.chunks()).not.toContain('ora');
  },
);
