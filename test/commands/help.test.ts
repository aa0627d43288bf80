// Help: of every command, of topics, and of imgctl without arguments.

import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/commands/command-table.ts';
import type { CommandDeclaration } from '../../src/declarations.ts';
import { runCli } from '../support/io.ts';

/** The words of every command that help lists. */
function pathsBelow({ subcommands = [] }: CommandDeclaration, parent = ''): string[] {
  return subcommands
    .filter(({ hidden }) => !hidden)
    .flatMap((each) => {
      const path = `${parent} ${each.name}`.trim();
      return [path, ...pathsBelow(each, path)];
    });
}

const COMMANDS = [...pathsBelow(ROOT), 'images ls'];

describe.each(COMMANDS)('imgctl %s', (name) => {
  const words = name.split(' ');

  it('--help shows its usage and at least two examples on stdout', async () => {
    const { stdout, stderr, exitCode } = await runCli([...words, '--help']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(new RegExp(`^Usage: imgctl ${words[0]}`));
    expect(stdout.match(/^ {2}\$ .*imgctl /gm)?.length).toBeGreaterThanOrEqual(2);
    expect(stdout).toContain('--base-url <url>');
    const widest = Math.max(...stdout.split('\n').map((line) => line.length));
    expect(widest).toBeLessThanOrEqual(110);
  });

  it('--help shows the same as imgctl help', async () => {
    const byOption = await runCli([...words, '-h']);
    expect(await runCli(['help', ...words])).toEqual(byOption);
  });
});

describe('imgctl', () => {
  it('shows its help without arguments', async () => {
    const alone = await runCli([]);
    expect(alone).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await runCli(['--help'])).toEqual(alone);
    expect((await runCli(['help'])).stdout).toMatch(/^Usage: imgctl <command> \[options\]\n/);
    for (const name of COMMANDS) expect(alone.stdout).toContain(`  ${name.split(' ')[0]} `);
  });

  it.each([['images'], ['config'], ['profile']])(
    '%s shows the help of the group without arguments',
    async (group) => {
      expect(await runCli([group])).toEqual(await runCli([group, '--help']));
    },
  );

  it.each([['--version'], ['-V']])('%s prints the version', async (option) => {
    const { stdout, exitCode } = await runCli([option]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(exitCode).toBe(0);
  });
});

describe('imgctl help', () => {
  it.each([
    ['filters', 'like'],
    ['output', 'ndjson'],
    ['environment', 'IMGCTL_PASSWORD_COMMAND'],
    ['exit-codes', '143'],
  ])('%s prints the topic', async (topic, word) => {
    const { stdout, stderr, exitCode } = await runCli(['help', topic]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toContain(word);
    expect(stdout.endsWith('\n')).toBe(true);
  });

  it.each([
    [['filter'], 'filters'],
    [['Output'], 'output'],
    [['filters', 'list'], 'filters'],
    [['imags'], 'images'],
    [['images', 'lst'], 'list'],
  ])('%j suggests the nearest command or topic', async (words, meant) => {
    const { stderr, exitCode } = await runCli(['help', ...words]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`\nhint: did you mean ${meant}?\n`);
  });

  it.each([[['nope']], [['images', 'nope']], [['images', 'filter']], [['constructor']]])(
    '%j is a usage error',
    async (words) => {
      const { stdout, stderr, exitCode } = await runCli(['help', ...words]);
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
      expect(stderr).toBe(
        `imgctl: no command or topic: ${words.join(' ')}\nhint: see: imgctl help\n`,
      );
    },
  );
});
