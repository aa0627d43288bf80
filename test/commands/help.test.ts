// Help: of every command, of topics, and of imgctl without arguments.

import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/commands/command-table.ts';
import { GLOBAL_OPTIONS } from '../../src/commands/table/global-options.ts';
import type { CommandDeclaration } from '../../src/declarations.ts';
import { failed, runCli } from '../support/io.ts';

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
  'imgctl help %s shows usage and at least two examples, as -h does in any place',
  async (name) => {
    const words = name.split(' ');
    const help = await runCli(['help', ...words]);
    expect(help).toMatchObject({ stderr: '', exitCode: 0 });
    expect(help.stdout).toMatch(new RegExp(`^Usage: imgctl ${words[0]}`));
    expect(help.stdout.match(/^ {2}\$ .*imgctl /gm)?.length).toBeGreaterThanOrEqual(2);
    expect(help.stdout).toMatch(/\nGlobal options: imgctl help options\n$/);
    expect(help.stdout).not.toContain('--base-url <url>');
    const text = help.stdout.replaceAll(/^ {2}\$ .*/gm, '');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await runCli([...words, '-h'])).toEqual(help);
    expect(await runCli(['-h', ...words])).toEqual(help);
    const [group = '', ...rest] = words;
    if (rest.length > 0) expect(await runCli([group, 'help', ...rest])).toEqual(help);
  },
);

describe('imgctl', () => {
  it('shows its help without arguments', async () => {
    const alone = await runCli([]);
    expect(alone).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await runCli(['--help'])).toEqual(alone);
    expect(await runCli(['help'])).toEqual(alone);
    expect(alone.stdout).toMatch(/^Usage: imgctl <command> \[options\]\n/);
  });

  it('shows every command in one line below its group, on a screen of 80x40', async () => {
    const { stdout } = await runCli(['--help', '--color', 'never'], { columns: 80 });
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
    const shown = lines.flatMap((line) => /^ {2}([a-z-]+) {2,}/.exec(line)?.[1] ?? []);
    const commands = pathsBelow(ROOT).filter((name) => !name.includes(' '));
    expect(shown).toEqual(commands);
    const headings = lines.filter((line) => /^\w.*:$/.test(line));
    expect(headings.join(' ')).toBe('Start: Images: Packages and sync: Configuration: Automation:');
    expect(stdout).toContain('Use "imgctl COMMAND --help"');
  });

  it('has the global options as a topic', async () => {
    const { stdout } = await runCli(['help', 'options']);
    for (const { flags } of GLOBAL_OPTIONS) expect(stdout).toContain(`  ${flags} `);
  });

  it.each([['--help'], ['images', 'list', '--help'], ['push', '--help'], ['help', 'output']])(
    'fits a terminal of 40 columns: %j %j %j',
    async (...argv) => {
      const { stdout } = await runCli([...argv, '--color', 'never'], { columns: 40 });
      const lines = stdout.split('\n').filter((line) => !/^Usage: |^ {2}\$ /.test(line));
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.filter((line) => line.length > 40)).toEqual([]);
    },
  );

  it.each([
    [{ color: true }, 'Images:'],
    [{ columns: 80, color: true }, '\u001b[1mImages:\u001b[22m'],
    [{ columns: 80, env: { NO_COLOR: '1' } }, 'Images:'],
  ])('marks the headings of the help with %j', async (io, heading) => {
    expect((await runCli(['--help'], io)).stdout).toContain(`\n${heading}\n`);
    const page = await runCli(['sync', '--help'], io);
    expect(page.stdout).toContain(`\n${heading.replace('Images', 'Options')}\n`);
  });

  it.each(['images', 'config', 'profile'])(
    '%s shows the help of the group without arguments',
    async (group) => {
      expect(await runCli([group])).toEqual(await runCli([group, '--help']));
    },
  );

  it.each(['--version', '-V', 'version'])('%s prints the version', async (option) => {
    const { stdout, exitCode } = await runCli([option]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(exitCode).toBe(0);
  });
});

describe('imgctl help', () => {
  it.each([
    ['help filter', 'filters'],
    ['help Output', 'output'],
    ['help filters list', 'filters'],
    ['help imags', 'images'],
    ['help images lst', 'images list'],
    ['images help lst', 'images list'],
    ['images lst --help', 'images list'],
    ['imags --help', 'images'],
    ['--help imags', 'images'],
  ])('%s suggests the nearest command or topic', async (line, meant) => {
    const words = line.split(' ').filter((word) => !/help$/.test(word));
    const message = `imgctl: no command or topic: ${words.join(' ')}\n`;
    const result = await runCli(line.split(' '));
    expect(result).toEqual(failed(2, `${message}hint: did you mean imgctl help ${meant}?\n`));
  });

  it.each(['nope', 'images nope', 'images filter', 'constructor'])(
    '%s is a usage error',
    async (words) => {
      const page = words.startsWith('images') ? 'imgctl help images' : 'imgctl help';
      const stderr = `imgctl: no command or topic: ${words}\nhint: see: ${page}\n`;
      const result = await runCli(['help', ...words.split(' ')]);
      expect(result).toEqual({ stdout: '', stderr, exitCode: 2 });
    },
  );
});
