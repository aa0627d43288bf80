// imgctl commands: lists every command; as JSON with arguments, options, output and exit codes.

import { version } from '../../../package.json';
import { ALL_GLOBAL_OPTIONS, command } from '../../cli/command.ts';
import {
  type CommandDeclaration,
  exitCodesOf,
  type OptionDeclaration,
  termsOf,
} from '../../cli/declarations.ts';
import { renderBlocks } from '../../cli/help-page.ts';
import { PAGES, VARIABLES } from '../../cli/topics.ts';
import { anyText, type Value } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { column, namesOf } from '../../output/view.ts';

const COLUMNS = [
  column('command', 'string', 'words of the command', { isId: true }),
  column('summary', 'string', 'what it does'),
  column('mutates', 'boolean', 'true if it may change something'),
];

export const commands = (all: () => readonly CommandDeclaration[]): CommandDeclaration =>
  command({
    name: 'commands',
    summary: 'list every command and whether it changes anything',
    description: [
      '--json describes each command for programs: arguments, options with types and defaults, output fields and exit codes; then global options, environment variables and exit codes.',
    ],
    examples: [
      'imgctl commands',
      "imgctl commands --json | jq -r '.commands[] | select(.mutates) | .command'",
    ],
    seeAlso: ['help output', 'help exit-codes'],
    fields: [
      column('version', 'string', 'version of imgctl'),
      column(
        'commands',
        'array',
        'commands: arguments, options, fields of the JSON output and more',
      ),
      column('global_options', 'array', 'options of every command'),
      column('environment', 'array', 'environment variables: name and meaning'),
      column('exit_codes', 'array', 'exit codes: code and meaning'),
    ],
    needsNoSettings: true,
    run: (context) => run(context, leavesOf(all())),
  });

async function run(context: Context, commands: readonly [string, CommandDeclaration][]) {
  const shown = ['command', 'mutates', 'summary'];
  const view = context.view(COLUMNS, {}, { shown, cells: namesOf(COLUMNS), wrap: true });
  if (context.quiet || view.isText) {
    const rows = commands.map(([path, { summary, mutates = false }]) => {
      return { command: path, summary, mutates };
    });
    return view.printList(rows);
  }
  await view.printRecord({
    version: version,
    commands: commands.map(([path, command]) => describe(path, command)),
    global_options: ALL_GLOBAL_OPTIONS.map(describeOption),
    environment: VARIABLES,
    exit_codes: termsOf(PAGES['exit-codes']).map(([code, meaning]) => ({
      code: Number(code),
      meaning,
    })),
  });
}

function leavesOf(
  commands: readonly CommandDeclaration[],
  parents: readonly string[] = [],
): [string, CommandDeclaration][] {
  return commands
    .filter(({ hidden }) => !hidden)
    .flatMap((command) => {
      const path = [...parents, command.name];
      const { subcommands = [] } = command;
      return subcommands.length > 0 ? leavesOf(subcommands, path) : [[path.join(' '), command]];
    });
}

function describe(path: string, declaration: CommandDeclaration) {
  const { aliases = [], summary, description = [], details = [], examples } = declaration;
  const { mutates = false, fields = [] } = declaration;
  const group = path.slice(0, -declaration.name.length);
  return {
    command: path,
    aliases: aliases.map((alias) => group + alias),
    summary,
    description: renderBlocks([...description, ...details], Number.POSITIVE_INFINITY).trim(),
    mutates,
    arguments: (declaration.arguments ?? []).map((argument) => {
      const { name, description, required = false, variadic: repeatable = false } = argument;
      const { value = anyText() } = argument;
      return { name, description, ...typeOf(value), required, repeatable };
    }),
    options: (declaration.options ?? []).map(describeOption),
    fields: fields.map(({ name, type, meaning }) => ({ name, type, meaning })),
    exit_codes: exitCodesOf(declaration),
    examples,
  };
}

function describeOption(option: OptionDeclaration) {
  const { flags, description, value, repeatable = false, env, conflicts } = option;
  return {
    name: /--[^ ]+/.exec(flags)?.[0],
    short: /^-[^-]/.exec(flags)?.[0],
    value_name: /<(.+)>/.exec(flags)?.[1],
    description,
    ...typeOf(value),
    repeatable,
    default: value?.type === 'integer' && option.default ? Number(option.default) : option.default,
    env,
    // Declared as the command receives them.
    conflicts: conflicts?.map(
      (name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    ),
  };
}

function typeOf(value: Value | undefined) {
  if (value === undefined) return { type: 'boolean' };
  return { type: value.type, minimum: value.min, maximum: value.max, choices: value.words };
}
