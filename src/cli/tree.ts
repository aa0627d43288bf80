// Builds commander's tree from the declarations of the commands.

import { Argument, Command, Option } from 'commander';
import { version } from '../../package.json';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { parseChoice } from '../query/suggest.ts';
import { MAX_AGE, parseDuration } from '../session/setting-table.ts';
import {
  type ArgumentDeclaration,
  argumentTerm,
  type OptionDeclaration,
  optionTerm,
  type Value,
} from './declarations.ts';
import { type CommandSpec, GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION } from './spec.ts';

/** Returns the names below imgctl. */
export function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

/**
 * Builds the commands by name; a command gets its arguments, options and subcommands when it is reached.
 * @param onEnd receives the command that fails or prints help
 */
export function buildTree(
  context: Context,
  commands: readonly CommandSpec[],
  onEnd: (command: Command) => void,
): Command {
  const root = new Command('imgctl')
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.description)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.description)
    .helpCommand(false)
    // Pages, the version and errors are printed after commander has ended.
    .configureHelp({ showGlobalOptions: true, formatHelp: () => '' })
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  for (const option of GLOBAL_OPTIONS) root.addOption(optionOf(option));
  const throwOnEnd = (command: Command) => {
    command.exitOverride((error) => {
      onEnd(command);
      throw error;
    });
  };
  const pending = new Map<Command, CommandSpec>();
  const declare = (command: Command) => {
    const spec = pending.get(command);
    if (spec === undefined) return;
    pending.delete(command);
    for (const each of spec.arguments ?? []) command.addArgument(argumentOf(each, command));
    for (const each of spec.options ?? []) command.addOption(optionOf(each));
    if (spec.hidden) command.allowUnknownOption();
    throwOnEnd(command);
    if (spec.subcommands) {
      add(command, spec.subcommands);
      const help = command.command('help', { hidden: true }).argument('[command...]');
      help.action(async (words: readonly string[]) => {
        const { showPage } = await import('./help-page.ts');
        await showPage(context, [...pathOf(command), ...words]);
      });
    }
    const { run } = spec;
    if (run === undefined) return;
    command.action(() => run(context, command.opts(), ...command.processedArgs));
  };
  const add = (parent: Command, specs: readonly CommandSpec[]) => {
    parent.hook('preSubcommand', (_parent, command) => declare(command));
    for (const spec of specs) {
      const { name, aliases = [], hidden = false } = spec;
      pending.set(parent.command(name, { hidden }).aliases(aliases), spec);
    }
  };
  throwOnEnd(root);
  add(root, commands);
  context.program = { commands, options: [...GLOBAL_OPTIONS, VERSION_OPTION, HELP_OPTION] };
  return root;
}

function optionOf(declaration: OptionDeclaration): Option {
  const { value, repeatable, implies, conflicts } = declaration;
  const [flags, description] = optionTerm(declaration);
  const option = new Option(flags, description);
  if (value) {
    const parse = valueParser(value, option.long ?? flags);
    option.argParser<unknown>((text, previous) =>
      repeatable ? [...(Array.isArray(previous) ? previous : []), parse(text)] : parse(text),
    );
  }
  if (implies) option.implies(implies);
  if (conflicts) option.conflicts([...conflicts]);
  return option;
}

function argumentOf(declaration: ArgumentDeclaration, command: Command): Argument {
  const argument = new Argument(argumentTerm(declaration), declaration.description);
  const { value } = declaration;
  if (value?.kind === 'choice') {
    argument.argParser(valueParser(value, ['imgctl', ...pathOf(command)].join(' ')));
  }
  return argument;
}

/** Returns a parser for a value of the option or command `name`, which throws usage errors. */
function valueParser(value: Value, name: string): (text: string) => string | number {
  switch (value.kind) {
    case 'text':
      return (text) => text;
    case 'number':
      return (text) => {
        const { min, max } = value;
        const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
        if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) {
          return value.keepText ? text : number;
        }
        const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
        throw new ImgctlError('usage', `${name} must be a whole number ${range} (got ${text})`, {
          hint: `for example: ${name} ${min}`,
        });
      };
    case 'duration':
      return (text) => {
        const milliseconds = parseDuration(text, name, value.isAge ? MAX_AGE : undefined);
        return value.keepText ? text : milliseconds;
      };
    case 'choice': {
      const choice = { noun: value.noun, valid: value.words, where: name };
      return (text) => parseChoice(text, choice);
    }
  }
}
