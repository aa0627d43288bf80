// commands: the catalogue agrees with the help, and has what programs need.

import { expect, it } from 'vitest';
import { runCli } from '../support/io.ts';

interface Option {
  readonly name: string;
  readonly env?: string;
}

interface Catalogue {
  readonly commands: readonly {
    readonly command: string;
    readonly options: readonly Option[];
    readonly fields: readonly object[];
    readonly exit_codes: readonly number[];
  }[];
  readonly global_options: readonly Option[];
  readonly environment: readonly { readonly name: string }[];
  readonly exit_codes: readonly { readonly code: number }[];
}

const show = async (...argv: string[]) => (await runCli(argv)).stdout;

const CATALOGUE: Catalogue = JSON.parse(await show('commands', '--json'));
const { commands, global_options, environment, exit_codes } = CATALOGUE;
const find = (path: string) => commands.find(({ command }) => command === path);
const names = (options: readonly Option[]) => options.map(({ name }) => name);

/** The long options that a help page lists at the start of its lines. */
function optionsIn(help: string): Set<string> {
  return new Set([...help.matchAll(/^ {1,8}(?:-\w, *)?(--[\w-]+)/gm)].map(([, name = '']) => name));
}

it('commands names every option that the help of each command names', async () => {
  expect(commands.length).toBeGreaterThan(20);
  const root = optionsIn(await show('help', 'options'));
  expect([...root].sort()).toEqual(names(global_options).sort());
  for (const { command, options } of commands) {
    const listed = optionsIn(await show(...command.split(' '), '--help'));
    for (const name of names(options)) expect(listed, command).toContain(name);
    const known = [...names(options), ...names(global_options)];
    expect([...listed].filter((name) => !known.includes(name))).toEqual([]);
  }
});

it('commands explains every variable and exit code that a command names', () => {
  const options = [...global_options, ...commands.flatMap((command) => command.options)];
  const variables = options.flatMap(({ env }) => env ?? []);
  expect(variables.length).toBeGreaterThan(5);
  expect(names(environment)).toEqual(expect.arrayContaining(variables));
  const codes = commands.flatMap((command) => command.exit_codes);
  expect(exit_codes.map(({ code }) => code)).toEqual(expect.arrayContaining(codes));
});

const WAITS = ['--wait', '--poll-interval', '--wait-timeout'];

it.each([
  [
    undefined,
    {
      name: '--output',
      short: '-o',
      type: 'string',
      default: 'table',
      value_name: 'format',
      env: 'IMGCTL_OUTPUT',
      choices: ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'],
    },
  ],
  [undefined, { name: '--retries', type: 'integer', default: 4, repeatable: false }],
  ['sync', { name: '--wait-timeout', type: 'duration', default: '1h' }],
  ['images lock check', { name: '--file', default: 'images.lock.json' }],
  ['images list', { name: '--filter', repeatable: true }],
  ['sync-status', { name: '--list', type: 'boolean', conflicts: WAITS }],
])('commands types the options of %s: %j', (path, option) => {
  const options = path === undefined ? global_options : find(path)?.options;
  expect(options).toContainEqual(expect.objectContaining(option));
});

it('commands says what changes something and what a command prints', () => {
  expect(find('sync')).toMatchObject({ mutates: true });
  expect(find('images list')).toMatchObject({
    mutates: false,
    aliases: ['images ls'],
    exit_codes: [0, 1, 2, 3, 4, 5, 6, 130, 143],
  });
  expect(find('images get')?.fields.slice(0, 2)).toEqual([
    { name: 'id', type: 'number', meaning: 'identifier of the image' },
    { name: 'name', type: 'string', meaning: 'file name of the OVA or OVF' },
  ]);
  expect(find('logout')).toMatchObject({ fields: [] });
});

it('commands lists names and summaries in a table, and names alone with -q', async () => {
  const table = (await show('commands')).split('\n');
  expect(table[0]).toMatch(/^command +summary +mutates$/);
  expect(table).toContainEqual(expect.stringMatching(/^images list +list and filter .* false$/));
  expect(await show('commands', '-q')).toMatch(/^login\nlogout\n/);
});
