// Help: of every command, of topics, of imgctl without arguments; and what is suggested for unknown words.

import { describe, expect, it } from 'vitest';
import { exitCodesOf, lines, shell, terms } from '../../../src/cli/command-types.ts';
import { renderBlocks } from '../../../src/cli/help-page.ts';
import { TOPIC_NAMES } from '../../../src/cli/topics.ts';
import { SETTING_KEYS, VARIABLES, variableOf } from '../../../src/config/definitions.ts';
import { leavesOf } from '../../support/commands.ts';
import { failed, runCli } from '../../support/io.ts';

const run = (line: string, io = {}) => runCli(line.split(' ').filter(Boolean), io);
const show = async (line: string, io = {}) => (await run(line, io)).stdout;

const LEAVES = leavesOf();
const COMMANDS = LEAVES.map(([path]) => path);
/** Words such as `images lock`, which have commands below them. */
const GROUPS = COMMANDS.map((name) => name.replace(/ ?\S+$/, '')).filter(Boolean);
const PAGES = [...new Set([...COMMANDS, ...GROUPS, 'images ls'])];

describe('imgctl help', () => {
  it.each(PAGES)('%s shows usage and two examples, as -h does in any place', async (name) => {
    const help = await run(`help ${name}`);
    const { stdout } = help;
    expect(help).toMatchObject({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(new RegExp(`^Usage: imgctl ${name.split(' ')[0]}`));
    expect(stdout).not.toContain('[command]');
    expect(stdout.match(/^ {2}\$ .*imgctl /gm)?.length).toBeGreaterThanOrEqual(2);
    expect(stdout).toMatch(/\nGlobal options: [^(]*-o, --json[^(]* \(imgctl help\soptions\)\n$/);
    const lines = stdout.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.length - 1).toBeLessThanOrEqual(48);
    // On the first screen of 24 rows.
    expect(lines.findIndex((line) => line.startsWith('  $ '))).toBeLessThan(20);
    const parts = ['Usage:', 'Examples:', 'Arguments:', 'Options:', 'JSON fields:', 'See also:'];
    const at = parts.map((part) => stdout.search(new RegExp(`^${part}`, 'm')));
    expect(at.filter((index) => index >= 0)).toEqual(
      at.filter((index) => index >= 0).sort((a, b) => a - b),
    );
    const nested = `help ${name}`.replace(/^help (\S+) /, '$1 help ');
    const same = [
      `${name} -h`,
      `${name} --bogus x -h`,
      `-h ${name}`,
      `-qh ${name}`,
      `-h -- ${name}`,
      nested,
      ...(GROUPS.includes(name) ? [`${name} help`] : []),
    ];
    for (const line of same) expect(await run(line)).toEqual(help);
    const [, references = ''] = /\nSee also: ([\s\S]*)\nGlobal/.exec(stdout) ?? [];
    for (const reference of references.split(/,\s/).filter(Boolean)) {
      const page = reference.replace('imgctl ', '').replace('help ', '');
      expect(await run(`help ${page}`), reference).toMatchObject({ exitCode: 0 });
    }
  });

  it('-h before a command or in a line with values shows the page of the command', async () => {
    const help = await run('help images list');
    const lines = [
      '-q -h images list -n 5',
      'images -h list -f x',
      'images list -hq',
      'images list -n x --bogus -h',
      'help images list -n 5',
      'help images list --bogus hunter2',
      'help images list help',
      '-- help images list',
    ];
    for (const line of lines) {
      expect(await run(line)).toEqual(help);
    }
  });

  it.each([
    ['help filter', 'did you mean imgctl help filters?'],
    ['help Output', 'did you mean imgctl help output?'],
    ['help filters list', 'did you mean imgctl help filters?'],
    ['help imags', 'did you mean imgctl help images?'],
    ['help images lst', 'did you mean imgctl help images list?'],
    ['images help lst', 'did you mean imgctl help images list?'],
    ['images lst --help', 'did you mean imgctl help images list?'],
    ['--help imags', 'did you mean imgctl help images?'],
    ['help ls', 'did you mean imgctl help images list?'],
    ['help columns', 'did you mean imgctl help output?'],
    ['help COLUMN', 'did you mean imgctl help output?'],
    ['help column-s', 'see: imgctl help'],
    ['help 2columns', 'see: imgctl help'],
    ['help col', 'see: imgctl help'],
    ['help upload', 'use: imgctl push FILE'],
    ['help images search', 'use: imgctl images list WORD'],
    ['help nope', 'see: imgctl help'],
    ['help images nope', 'see: imgctl help images'],
    ['help images filter', 'see: imgctl help images'],
    ['help constructor', 'see: imgctl help'],
  ])('suggests the nearest command or topic for %s: %s', async (line, hint) => {
    const words = line.split(' ').filter((word) => !/help$/.test(word));
    // What follows a topic may be a secret.
    const typed = words.join(' ').replace(/^filters list$/, 'filters …');
    const message = `imgctl: unknown command or topic '${typed}'\nhint: ${hint}\n`;
    expect(await run(line)).toEqual(failed(2, message));
  });

  it('suggests nothing for a word that no pattern can hold', async () => {
    const { exitCode, stderr } = await run(`help ${'a'.repeat(70_000)}`);
    expect({ exitCode, hint: stderr.slice(-24) }).toEqual({
      exitCode: 2,
      hint: '\nhint: see: imgctl help\n',
    });
  });

  it.each([
    [12, 40, '  xxxxxxxxxxxx  a b\n'],
    [13, 40, '  xxxxxxxxxxxxx\n      a b\n'],
    [30, 80, `  ${'x'.repeat(30)}  a b\n`],
    [31, 80, `  ${'x'.repeat(31)}\n${' '.repeat(34)}a b\n`],
  ])('puts a meaning beside its term if it has room: %i of %i columns', (length, width, text) => {
    expect(renderBlocks([terms(['x'.repeat(length), 'a b'])], width)).toBe(text);
  });

  it('shows each kind of block in its own way, with a blank line between them', () => {
    const blocks = ['a b c:', lines('{ d }', '{ e }'), 'f', shell('g', 'h'), terms(['i', 'j'])];
    const text = 'a b\nc:\n  { d }\n  { e }\n\nf\n\n  $ g\n  $ h\n\n  i   j\n';
    expect(renderBlocks(blocks, 5)).toBe(text);
  });

  it.each(TOPIC_NAMES)('%s is a topic of at most 52 lines', async (name) => {
    const lines = (await show(`help ${name}`)).split('\n').slice(0, -1);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.length).toBeLessThanOrEqual(52);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('names the alias of a command below its usage', async () => {
    const usage = 'Usage: imgctl images list [options] [text...]\nAlias: imgctl images ls\n\n';
    expect((await show('images list --help')).startsWith(usage)).toBe(true);
  });

  it('lists the base URL among the options of login', async () => {
    expect(await show('help login')).toMatch(/^Options:\n {2}--base-url <url> /m);
  });

  it('lists JSON fields with the options that they need', async () => {
    const page = (await show('images latest --help')).replaceAll('\n', ' ');
    expect(page).toContain(
      'updated_on; with --explain: series, rank; with --explain, -c or --get:',
    );
  });

  it('has the exit codes and variables of all commands as topics', async () => {
    const codes = [...(await show('help exit-codes')).matchAll(/^ +(\d+) {2,}\S/gm)];
    const declared = new Set(LEAVES.flatMap(([, command]) => exitCodesOf(command)));
    expect(codes.map(([, code]) => Number(code))).toEqual([...declared].sort((a, b) => a - b));
    const page = await show('help environment');
    const named = `${page}${await show('help fleet')}`.match(/\bIMGCTL_[A-Z_]+/g) ?? [];
    // Those of settings and files follow rules, which the page says.
    const isByRule = (name: string) =>
      SETTING_KEYS.some((key) => variableOf(key) === name) || name.endsWith('_FILE');
    expect(VARIABLES).toEqual(
      expect.arrayContaining(named.filter((name) => name !== 'IMGCTL_KEY')),
    );
    expect(named).toEqual(expect.arrayContaining(VARIABLES.filter((name) => !isByRule(name))));
  });
});

describe('imgctl', () => {
  it('shows its help without arguments', async () => {
    const alone = await run('');
    expect(alone).toMatchObject({ stderr: '', exitCode: 0 });
    for (const line of ['--help', 'help']) expect(await run(line)).toEqual(alone);
    expect(alone.stdout).toMatch(/^Usage: imgctl <command> \[options\]\n/);
    for (const group of GROUPS) {
      for (const line of [group, `help ${group} help`]) {
        expect(await show(line)).toBe(await show(`${group} --help`));
      }
    }
  });

  it('shows every command in one line below its group, on a screen of 80x45', async () => {
    const lines = (await show('--help --color never', { columns: 80 })).split('\n').slice(0, -1);
    expect(lines.length).toBeLessThan(45);
    expect(lines.filter((line) => line.startsWith('  $ imgctl '))).toHaveLength(3);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
    const shown = lines.flatMap((line) => /^ {2}([a-z-]+) {2,}/.exec(line)?.[1] ?? []);
    const listed = COMMANDS.filter((name) => name !== 'version');
    expect(shown).toEqual([...new Set(listed.map((name) => name.split(' ')[0]))]);
    const headings = lines.filter((line) => /^\w.*:$/.test(line));
    expect(headings.join(' ')).toBe(
      'Examples: Start: Images: Packages and sync: Configuration: Automation:',
    );
    expect(lines.at(-3)).toContain('Use "imgctl COMMAND --help"');
    expect(lines.at(-2)).toContain('Use "imgctl help TOPIC" for a topic: options, filters,');
  });

  it.each(['--help', 'images list --help', 'push --help', 'help output'])(
    'fits a terminal of 40 columns: %s',
    async (line) => {
      const shown = await show(`${line} --color never`, { columns: 40 });
      const lines = shown.split('\n').filter((text) => !/^Usage: |^ {2}\$ /.test(text));
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
    for (const other of ['Options', 'Examples']) {
      expect(await show('sync --help', io)).toContain(`\n${heading.replace('Images', other)}\n`);
    }
  });

  it('prints the version as a record with -o or --json', async () => {
    expect(JSON.parse(await show('version --json'))).toEqual({
      version: expect.stringMatching(/^\d/),
    });
    expect(await show('version -o table')).toMatch(/^version +\d/);
    expect(await show('version --json -o json')).toBe(await show('version --json'));
  });

  it('prints the version', async () => {
    const texts = await Promise.all(
      ['--version', '-V', 'images list -n x --bogus -V', 'images list -n -V', 'version'].map(
        (line) => show(line),
      ),
    );
    expect(texts.join('')).toMatch(/^(\d+\.\d+\.\d+\n)\1{4}$/);
  });

  it('has summaries that are short imperative phrases', () => {
    for (const [, { summary }] of LEAVES) expect(summary).toMatch(/^[a-z].{0,58}[^.]$/);
  });
});
