// imgctl config: the settings of a profile, and where each value comes from.

import path from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError, valueOrError } from '../errors.ts';
import { createListWriter } from '../output/index.ts';
import { parseChoice } from '../query/suggest.ts';
import { changeProfile, configFilePath, requireDirectory } from '../session/profile.ts';
import {
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
} from '../session/settings.ts';
import { readColumns } from './listing.ts';

export function define(command: Command, context: Context): void {
  command.addHelpText('after', EXAMPLES);
  command
    .command('list')
    .description('Show every setting, its value and where that comes from.')
    .addHelpText('after', LIST_EXAMPLES)
    .action(() => list(context));
  command
    .command('get')
    .description('Print one value.')
    .argument('<key>', 'a setting')
    .addHelpText(
      'after',
      '\nExamples:\n  $ imgctl config get base-url\n  $ imgctl config get timeout\n',
    )
    .action((key: string) => get(context, requireKey(key)));
  command
    .command('set')
    .description('Keep a value in the profile.')
    .argument('<key>', 'a setting')
    .argument('<value>', 'its value')
    .addHelpText(
      'after',
      '\nExamples:\n  $ imgctl config set base-url https://images.example.com\n  $ imgctl config set columns.images id,name,path\n',
    )
    .action((key: string, value: string) => set(context, requireKey(key), value));
  command
    .command('unset')
    .description('Take a value out of the profile.')
    .argument('<key>', 'a setting')
    .addHelpText(
      'after',
      '\nExamples:\n  $ imgctl config unset ca-file\n  $ imgctl config unset time --profile staging\n',
    )
    .action((key: string) => change(context, requireKey(key), undefined));
  command
    .command('path')
    .description('Print where the settings are kept.')
    .addHelpText('after', '\nExamples:\n  $ imgctl config path\n  $ cat "$(imgctl config path)"\n')
    .action(() => context.print(`${configFilePath(requireDirectory(context.paths.config))}\n`));
}

const EXAMPLES = `
Settings:
${SETTING_KEYS.map((key) => `  ${key.padEnd(18)} ${describe(SETTINGS[key])}`).join('\n')}

Examples:
  $ imgctl config set base-url https://images.example.com
  $ imgctl config list
`;

const LIST_EXAMPLES = `
A value that cannot be used is shown with what is wrong with it, in a further column of the table; the
exit code is then 2.

Examples:
  $ imgctl config list
  $ imgctl config list --profile staging --json
`;

/** With the values it can have and, in brackets, its default. */
function describe({ summary, valid, fallback }: SettingDefinition): string {
  const values = valid === undefined ? '' : `: ${valid.join(', ')}`;
  return `${summary}${values}${fallback === undefined ? '' : ` (${fallback})`}`;
}

async function list(context: Context): Promise<void> {
  const { settings } = context;
  const problems = new Map<SettingKey, ImgctlError>();
  const rows = SETTING_KEYS.map((key) => {
    const { shown = String }: SettingDefinition = SETTINGS[key];
    const { value: found, origin } = settings.find(key);
    const result = valueOrError(() => settings.resolve(key));
    const problem = 'error' in result ? result.error : undefined;
    if (problem) problems.set(key, problem);
    const value = problem ? shown(found ?? '') : found;
    return { key, value: value ?? null, origin: origin || null, error: problem?.message ?? null };
  });
  const { io, terminal, quiet } = context;
  const format = problems.has('output') ? 'table' : context.format;
  const columns = ['key', 'value', 'origin'];
  // In a table that has nothing to say of errors their column would be in the way.
  if (format !== 'table' || problems.size > 0) columns.push('error');
  const sink = io.stdout;
  const writer = createListWriter({ sink, terminal, quiet, format, columns, idField: 'key' });
  await writer.write(rows);
  await writer.end();
  const [first] = problems.values();
  if (first) throw first;
}

async function get(context: Context, key: SettingKey): Promise<void> {
  const { value } = context.settings.resolve(key);
  if (value === undefined) {
    throw new ImgctlError('not-found', `${key} is not set`, {
      hint: `imgctl config set ${key} VALUE${context.settings.profileFlag}`,
    });
  }
  await context.print(`${value}\n`);
}

async function set(context: Context, key: SettingKey, value: string): Promise<void> {
  SETTINGS[key].check(value);
  if (key === 'columns.images' || key === 'columns.my-images') readColumns(value, key);
  // Commands run anywhere.
  await change(context, key, key === 'ca-file' ? path.resolve(context.io.cwd, value) : value);
}

async function change(context: Context, key: SettingKey, value: string | undefined): Promise<void> {
  await changeProfile(context.paths.config, context.io, context.profileName, { [key]: value });
}

function requireKey(text: string): SettingKey {
  return parseChoice(text, { noun: 'setting', valid: SETTING_KEYS, where: 'imgctl config' });
}
