// Help: of every command, of topics, of imgctl without arguments; and what is suggested for unknown words.

import { describe, expect, it } from 'vitest';
import { failed, runCli } from '../support/io.ts';

const show = async (line: string, io = {}) =>
  (await runCli(line.split(' ').filter(Boolean), io)).stdout;

const CATALOGUE: {
  commands: { command: string; summary: string }[];
  global_options: { name: string }[];
} = JSON.parse(await show('commands --json'));
const COMMANDS = CATALOGUE.commands.map(({ command }) => command);
/** Words such as `images lock`, which have commands below them. */
const GROUPS = COMMANDS.map((name) => name.replace(/ ?\S+$/, '')).filter(Boolean);
const PAGES = [...new Set([...COMMANDS, ...GROUPS, 'images ls'])];

describe('imgctl help', () => {
  it.each(PAGES)('%s shows usage and two examples, as -h does in any place', async (name) => {
    const words = name.split(' ');
    const help = await runCli(['help', ...words]);
    const { stdout } = help;
    expect(help).toMatchObject({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(new RegExp(`^Usage: imgctl ${words[0]}`));
    expect(stdout.match(/^ {2}\$ .*imgctl /gm)?.length).toBeGreaterThanOrEqual(2);
    expect(stdout).toMatch(/\nGlobal options: imgctl help options\n$/);
    expect(stdout).not.toContain('--base-url <url>');
    const text = stdout.replaceAll(/^ {2}\$ .*/gm, '');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await runCli([...words, '-h'])).toEqual(help);
    expect(await runCli(['-h', ...words])).toEqual(help);
    const [group = '', ...rest] = words;
    if (rest.length > 0) expect(await runCli([group, 'help', ...rest])).toEqual(help);
    const [, references = ''] = /\nSee also: ([\s\S]*)\nGlobal/.exec(stdout) ?? [];
    for (const reference of references.split(/,\s/).filter(Boolean)) {
      const page = reference.replace('imgctl ', '').replace('help ', '');
      expect(await runCli(['help', ...page.split(' ')]), reference).toMatchObject({ exitCode: 0 });
    }
  });

  it.each([
    ['help filter', 'filters'],
    ['help Output', 'output'],
    ['help filters list', 'filters'],
    ['help imags', 'images'],
    ['help images lst', 'images list'],
    ['images help lst', 'images list'],
    ['images lst --help', 'images list'],
    ['--help imags', 'images'],
  ])('suggests the nearest command or topic: %s', async (line, meant) => {
    const words = line.split(' ').filter((word) => !/help$/.test(word));
    const message = `imgctl: no command or topic: ${words.join(' ')}\n`;
    const result = await runCli(line.split(' '));
    expect(result).toEqual(failed(2, `${message}hint: did you mean imgctl help ${meant}?\n`));
  });

  it.each([
    ['nope', 'imgctl help'],
    ['images nope', 'imgctl help images'],
    ['images filter', 'imgctl help images'],
    ['constructor', 'imgctl help'],
  ])('suggests nothing for %s', async (words, page) => {
    const stderr = `imgctl: no command or topic: ${words}\nhint: see: ${page}\n`;
    const result = await runCli(['help', ...words.split(' ')]);
    expect(result).toEqual({ stdout: '', stderr, exitCode: 2 });
  });

  it('has the global options and the exit codes of all commands as topics', async () => {
    const options = await show('help options');
    for (const { name } of CATALOGUE.global_options) expect(options).toMatch(`${name}`);
    const codes = [...(await show('help exit-codes')).matchAll(/^ +(\d+) {2,}\S/gm)];
    expect(codes.map(([, code]) => Number(code))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 10, 130, 143]);
  });
});

describe('imgctl', () => {
  it('shows its help without arguments', async () => {
    const alone = await runCli([]);
    expect(alone).toMatchObject({ stderr: '', exitCode: 0 });
    expect(await runCli(['--help'])).toEqual(alone);
    expect(await runCli(['help'])).toEqual(alone);
    expect(alone.stdout).toMatch(/^Usage: imgctl <command> \[options\]\n/);
    for (const group of GROUPS) expect(await show(group)).toBe(await show(`${group} --help`));
  });

  it('shows every command in one line below its group, on a screen of 80x40', async () => {
    const lines = (await show('--help --color never', { columns: 80 })).split('\n').slice(0, -1);
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
    const shown = lines.flatMap((line) => /^ {2}([a-z-]+) {2,}/.exec(line)?.[1] ?? []);
    expect(shown).toEqual([...new Set(COMMANDS.map((name) => name.split(' ')[0]))]);
    const headings = lines.filter((line) => /^\w.*:$/.test(line));
    expect(headings.join(' ')).toBe('Start: Images: Packages and sync: Configuration: Automation:');
    expect(lines.at(-2)).toContain('Use "imgctl COMMAND --help"');
  });

  it.each(['--help', 'images list --help', 'push --help', 'help output'])(
    'fits a terminal of 40 columns: %s',
    async (line) => {
      const lines = (await show(`${line} --color never`, { columns: 40 }))
        .split('\n')
        .filter((text) => !/^Usage: |^ {2}\$ /.test(text));
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.filter((text) => text.length > 40)).toEqual([]);
    },
  );

  it.each([
    [{ color: true }, 'Images:'],
    [{ columns: 80, color: true }, '\u001b[1mImages:\u001b[22m'],
    [{ columns: 80, env: { NO_COLOR: '1' } }, 'Images:'],
  ])('marks the headings of the help with %j', async (io, heading) => {
    expect(await show('--help', io)).toContain(`\n${heading}\n`);
    expect(await show('sync --help', io)).toContain(`\n${heading.replace('Images', 'Options')}\n`);
  });

  it.each(['--version', '-V', 'version'])('prints the version with %s', async (line) => {
    expect(await show(line)).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('has summaries that are short imperative phrases', () => {
    for (const { summary } of CATALOGUE.commands) expect(summary).toMatch(/^[a-z].{0,58}[^.]$/);
  });
});
