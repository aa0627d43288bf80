// commands: the catalogue agrees with the help, and has what programs need.

import { expect, it } from 'vitest';
import { SETTINGS } from '../../../src/config/definitions.ts';
import { runCli } from '../../support/io.ts';

interface Option {
  readonly name: string;
  readonly env?: string;
}

interface Command {
  readonly command: string;
  readonly options: readonly Option[];
  readonly exit_codes: readonly number[];
}

const show = async (...argv: string[]) => (await runCli(argv)).stdout;

const { commands, global_options, environment, exit_codes } = JSON.parse(
  await show('commands', '--json'),
) as {
  commands: readonly Command[];
  global_options: readonly Option[];
  environment: readonly { name: string }[];
  exit_codes: readonly { code: number }[];
};
const find = (path: string) => commands.find(({ command }) => command === path);
const names = (options: readonly Option[]) => options.map(({ name }) => name);

/** The long options that a help page lists at the start of its lines, in the order of their names. */
const optionsIn = (help: string) =>
  [...help.matchAll(/^ {1,8}(?:-\w, *)?(--[\w-]+)/gm)].map(([, name = '']) => name).sort();

it('commands names the options of each help page, and explains its variables and codes', async () => {
  expect(optionsIn(await show('help', 'options'))).toEqual(names(global_options).sort());
  const settings = Object.values(SETTINGS).flatMap((row) => ('env' in row ? row.env : []));
  expect(names(environment)).toEqual(expect.arrayContaining(settings));
  for (const { command, options, exit_codes: codes } of commands) {
    const help = await show(...command.split(' '), '--help');
    expect({ command, names: optionsIn(help) }).toEqual({ command, names: names(options).sort() });
    const variables = [...global_options, ...options].flatMap(({ env }) => env ?? []);
    expect(names(environment)).toEqual(expect.arrayContaining(variables));
    expect(exit_codes.map(({ code }) => code)).toEqual(expect.arrayContaining([...codes]));
  }
});

const WAITS = ['--wait', '--poll-interval', '--wait-timeout', '--strict'];
const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'];
const OUTPUT = { name: '--output', short: '-o', value_name: 'format', env: 'IMGCTL_OUTPUT' };

it.each([
  ['', { ...OUTPUT, type: 'string', default: 'table', choices: FORMATS }],
  ['', { name: '--retries', type: 'integer', default: 4, repeatable: false }],
  ['sync', { name: '--wait-timeout', type: 'duration', default: '1h' }],
  ['images lock check', { name: '--file', default: 'images.lock.json' }],
  ['images list', { name: '--filter', repeatable: true }],
  ['sync-status', { name: '--list', type: 'boolean', conflicts: WAITS }],
])('commands types the options of %s: %j', (path, option) => {
  const options = path === '' ? global_options : find(path)?.options;
  expect(options).toContainEqual(expect.objectContaining(option));
});

it('commands tells a secret from the file that holds it', () => {
  const file = 'a file whose first line is that secret';
  expect(environment).toContainEqual({ name: 'IMGCTL_PASSWORD', meaning: 'the password' });
  expect(environment).toContainEqual({ name: 'IMGCTL_PASSWORD_FILE', meaning: file });
});

it('commands says what changes something and what a command prints', async () => {
  const codes = { exit_codes: [0, 1, 2, 3, 4, 5, 6, 129, 130, 131, 143] };
  const id = { name: 'id', type: 'number', meaning: 'image id' };
  expect(find('sync')).toMatchObject({ mutates: true });
  expect(find('images list')).toMatchObject({ mutates: false, aliases: ['images ls'], ...codes });
  expect(find('images get')).toMatchObject({ fields: expect.arrayContaining([id]) });
  const table = (await show('commands')).split('\n');
  expect(table[0]).toMatch(/^command +mutates +summary$/);
  expect(table).toContainEqual(expect.stringMatching(/^images list +false +list and filter /));
  expect(await show('commands', '-q')).toMatch(/^login\nlogout\n/);
});
