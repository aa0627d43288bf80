// commands: the catalogue agrees with the help and with the declarations of the commands.

import { describe, expect, it } from 'vitest';
import { runCli } from '../support/io.ts';

interface Option {
  readonly name: string;
  readonly type: string;
  readonly default?: string | number;
  readonly env?: string;
}

interface Command {
  readonly command: string;
  readonly mutates: boolean;
  readonly options: readonly Option[];
  readonly fields: readonly object[];
  readonly exit_codes: readonly number[];
}

interface Catalogue {
  readonly commands: readonly Command[];
  readonly global_options: readonly Option[];
  readonly environment: readonly { readonly name: string }[];
  readonly exit_codes: readonly { readonly code: number }[];
}

async function catalogue(): Promise<Catalogue> {
  return JSON.parse((await runCli(['commands', '--json'])).stdout);
}

async function find(path: string): Promise<Command | undefined> {
  return (await catalogue()).commands.find(({ command }) => command === path);
}

/** The long options that a help page lists at the start of its lines. */
function optionsIn(help: string): Set<string> {
  return new Set([...help.matchAll(/^ {1,8}(?:-\w, *)?(--[\w-]+)/gm)].map(([, name = '']) => name));
}

describe('commands', () => {
  it('names every option that the help of each command names', async () => {
    const { commands, global_options } = await catalogue();
    expect(commands.length).toBeGreaterThan(20);
    const names = (options: readonly Option[]) => options.map(({ name }) => name);
    const root = optionsIn((await runCli(['help', 'options'])).stdout);
    expect([...root].sort()).toEqual(names(global_options).sort());
    for (const { command, options } of commands) {
      const { stdout } = await runCli([...command.split(' '), '--help']);
      const listed = optionsIn(stdout);
      for (const name of names(options)) expect(listed, command).toContain(name);
      const known = [...names(options), ...names(global_options)];
      expect([...listed].filter((name) => !known.includes(name))).toEqual([]);
    }
  });

  it('types options, defaults and environment variables', async () => {
    const { global_options: options } = await catalogue();
    expect(options).toContainEqual({
      name: '--output',
      short: '-o',
      value_name: 'format',
      description: expect.stringMatching(/^output format/),
      type: 'string',
      choices: ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'],
      repeatable: false,
      default: 'table',
      env: 'IMGCTL_OUTPUT',
    });
    expect(options.find(({ name }) => name === '--retries')).toMatchObject({
      type: 'integer',
      default: 4,
    });
    expect((await find('sync'))?.options).toContainEqual(
      expect.objectContaining({ name: '--wait-timeout', type: 'duration', default: '1h' }),
    );
    expect((await find('images lock check'))?.options).toContainEqual(
      expect.objectContaining({ name: '--file', default: 'images.lock.json' }),
    );
    expect((await find('sync-status'))?.options).toContainEqual(
      expect.objectContaining({ conflicts: ['--wait', '--poll-interval', '--wait-timeout'] }),
    );
  });

  it('explains every variable and exit code that a command names', async () => {
    const { commands, global_options, environment, exit_codes } = await catalogue();
    const variables = [...global_options, ...commands.flatMap(({ options }) => options)].flatMap(
      ({ env }) => env ?? [],
    );
    expect(variables.length).toBeGreaterThan(5);
    expect(environment.map(({ name }) => name)).toEqual(expect.arrayContaining(variables));
    const codes = commands.flatMap((command) => command.exit_codes);
    expect(exit_codes.map(({ code }) => code)).toEqual(expect.arrayContaining(codes));
  });

  it('says what changes something and what a command prints', async () => {
    expect(await find('sync')).toMatchObject({ mutates: true });
    expect(await find('images list')).toMatchObject({
      mutates: false,
      aliases: ['images ls'],
      exit_codes: [0, 1, 2, 3, 4, 5, 6, 130, 143],
    });
    expect((await find('images get'))?.fields.slice(0, 2)).toEqual([
      { name: 'id', type: 'number', meaning: 'identifier of the image' },
      { name: 'name', type: 'string', meaning: 'file name of the OVA or OVF' },
    ]);
    expect(await find('logout')).toMatchObject({ fields: [] });
  });

  it('lists names and summaries in a table, and names alone with -q', async () => {
    const table = (await runCli(['commands'])).stdout.split('\n');
    expect(table[0]).toMatch(/^command +summary +mutates$/);
    expect(table).toContainEqual(expect.stringMatching(/^images list +list and filter .* false$/));
    expect((await runCli(['commands', '-q'])).stdout).toMatch(/^login\nlogout\n/);
  });
});
