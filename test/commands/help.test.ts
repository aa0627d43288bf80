// Help: of every command, of topics, and of imgctl without arguments.

import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/commands/command-table.ts';
import type { CommandDeclaration } from '../../src/declarations.ts';
import { failed, runCli } from '../support/io.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

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

it.each(COMMANDS)(
  'imgctl help %s shows usage and at least two examples, as -h does',
  async (name) => {
    const words = name.split(' ');
    const help = await runCli(['help', ...words]);
    expect(help).toMatchObject({ stderr: '', exitCode: 0 });
    expect(help.stdout).toMatch(new RegExp(`^Usage: imgctl ${words[0]}`));
    expect(help.stdout.match(/^ {2}\$ .*imgctl /gm)?.length).toBeGreaterThanOrEqual(2);
    expect(help.stdout).toContain('--base-url <url>');
    const widest = Math.max(...help.stdout.split('\n').map((line) => line.length));
    expect(widest).toBeLessThanOrEqual(110);
    expect(await runCli([...words, '-h'])).toEqual(help);
  },
);

describe('imgctl', () => {
  it('shows its help without arguments', async () => {
    const alone = await runCli([]);
    expect(alone).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await runCli(['--help'])).toEqual(alone);
    expect((await runCli(['help'])).stdout).toMatch(/^Usage: imgctl <command> \[options\]\n/);
    for (const name of COMMANDS) expect(alone.stdout).toContain(`  ${name.split(' ')[0]} `);
  });

  it.each(['images', 'config', 'profile'])(
    '%s shows the help of the group without arguments',
    async (group) => {
      expect(await runCli([group])).toEqual(await runCli([group, '--help']));
    },
  );

  it.each(['--version', '-V'])('%s prints the version', async (option) => {
    const { stdout, exitCode } = await runCli([option]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(exitCode).toBe(0);
  });
});

describe('imgctl help', () => {
  it.each([
    ['filters', 9],
    ['output', 9],
    ['images list', 2],
  ])('%s shows examples that run with the emulator', async (topic, minimum) => {
    const { imgctl } = await emulatorUser({ images: 250 });
    const help = await imgctl(`help ${topic}`);
    expect(help).toMatchObject({ stderr: '', exitCode: 0 });
    // Without what they are piped into.
    const examples = [...help.stdout.matchAll(/^ {2}\$ imgctl ([^|\n]+)/gm)];
    expect(examples.length).toBeGreaterThanOrEqual(minimum);
    for (const [, line = ''] of examples) {
      const words = line.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
      const argv = words.map((word) => word.replaceAll("'", ''));
      const { stdout, stderr, exitCode } = await imgctl(argv, { env: PASSWORD });
      expect(exitCode, line).toBe(0);
      // The user has no images there, and the catalogue ends before the last 30 days; csv has no note.
      if (/my-images|,-30d$/.test(line.trim())) expect(stderr).toMatch(/^imgctl: no images/);
      else expect([line, stdout, stderr]).toEqual([line, expect.stringMatching(/./), '']);
    }
  });

  it.each([
    ['filter', 'filters'],
    ['Output', 'output'],
    ['filters list', 'filters'],
    ['imags', 'images'],
    ['images lst', 'list'],
  ])('%s suggests the nearest command or topic', async (words, meant) => {
    const result = await runCli(['help', ...words.split(' ')]);
    expect(result).toEqual(
      failed(2, `imgctl: no command or topic: ${words}\nhint: did you mean ${meant}?\n`),
    );
  });

  it.each(['nope', 'images nope', 'images filter', 'constructor'])(
    '%s is a usage error',
    async (words) => {
      const stderr = `imgctl: no command or topic: ${words}\nhint: see: imgctl help\n`;
      const result = await runCli(['help', ...words.split(' ')]);
      expect(result).toEqual({ stdout: '', stderr, exitCode: 2 });
    },
  );
});
