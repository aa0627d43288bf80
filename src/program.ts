// Builds commander's tree from the command table, and runs a command line with it.

import { Argument, Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { ROOT } from './commands/command-table.ts';
import { GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION } from './commands/table/global-options.ts';
import type { CommandSpec } from './commands/table/spec.ts';
import type { Context, GlobalOptions } from './context.ts';
import {
  type ArgumentDeclaration,
  argumentTerm,
  type OptionDeclaration,
  optionTerm,
  type Value,
} from './declarations.ts';
import { ImgctlError } from './errors.ts';
import { nearest, parseChoice, suggest } from './query/suggest.ts';
import { MAX_AGE, parseDuration } from './session/duration.ts';

/** Runs a command line. @throws ImgctlError, also for the errors that commander finds */
export async function execute(argv: readonly string[], context: Context): Promise<void> {
  const words = helpLast(argv);
  let helpOf: Command | undefined;
  const root = buildProgram(context, words[0], (command) => {
    helpOf = command;
  });
  root.hook('preAction', () => context.useOptions(root.opts<GlobalOptions>()));
  try {
    await root.parseAsync(words, { from: 'user' });
  } catch (thrown) {
    if (!isHelp(thrown)) throw thrown;
    if (helpOf !== undefined) await showHelp(context, helpOf);
  }
  await context.console.settle();
}

/** Moves -h behind the command it belongs to: `imgctl -h images list` is `imgctl images list -h`. */
function helpLast(argv: readonly string[]): readonly string[] {
  const isHelpFlag = (word: string) => word === '-h' || word === '--help';
  if (!isHelpFlag(argv[0] ?? '')) return argv;
  const rest = argv.filter((word) => !isHelpFlag(word));
  return [...rest, '--help'];
}

/** Prints the same page as `imgctl help`, which also reports a name that is no command. */
async function showHelp(context: Context, command: Command): Promise<void> {
  const operands = command.commands.length > 0 ? command.args.filter(isOperand) : [];
  const { run } = await import('./commands/help.ts');
  await run(context, {}, [...pathOf(command), ...operands]);
}

function isOperand(word: string): boolean {
  return !word.startsWith('-');
}

/** Builds the commands by name; a command gets its arguments, options and subcommands when it is reached. */
function buildProgram(
  context: Context,
  first: string | undefined,
  onHelp: (command: Command) => void,
): Command {
  const root = new Command(ROOT.name)
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.description)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.description)
    .helpCommand(false)
    // The page is printed after commander has ended.
    .configureHelp({
      showGlobalOptions: true,
      formatHelp: (command) => {
        onHelp(command);
        return '';
      },
    })
    .configureOutput({
      writeOut: (text) => context.console.printLater(text),
      writeErr: () => {},
      outputError: () => {},
    });
  for (const option of GLOBAL_OPTIONS) root.addOption(optionOf(option));
  const pending = new Map<Command, CommandSpec>();
  const declare = (command: Command) => {
    const spec = pending.get(command);
    if (spec === undefined) return;
    pending.delete(command);
    for (const each of spec.arguments ?? []) command.addArgument(argumentOf(each, command));
    for (const each of spec.options ?? []) command.addOption(optionOf(each));
    if (spec.hidden) command.allowUnknownOption();
    throwUsageErrors(command, root, context);
    if (spec.subcommands) {
      add(command, spec.subcommands);
      addHelp(command, context);
    }
    const { load } = spec;
    if (load === undefined) return;
    command.action(async () => {
      const run = await load();
      await run(context, command.opts(), ...command.processedArgs);
    });
  };
  const add = (parent: Command, specs: readonly CommandSpec[]) => {
    parent.hook('preSubcommand', (_parent, command) => declare(command));
    for (const spec of specs) {
      const { name, aliases = [], hidden = false } = spec;
      pending.set(parent.command(name, { hidden }).aliases(aliases), spec);
    }
  };
  throwUsageErrors(root, root, context);
  const { subcommands: commands = [] } = ROOT;
  // A command line that begins with a command needs no other command; help needs all of them.
  const named = commands.filter(({ name }) => name === first && name !== 'help');
  add(root, named.length > 0 ? named : commands);
  context.program = { commands, options: [...GLOBAL_OPTIONS, VERSION_OPTION, HELP_OPTION] };
  return root;
}

/** Adds `imgctl images help [command]`. */
function addHelp(group: Command, context: Context): void {
  const help = group.command('help', { hidden: true }).argument('[command...]');
  help.action(async (words: readonly string[]) => {
    const { run } = await import('./commands/help.ts');
    await run(context, {}, [...pathOf(group), ...words]);
  });
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
  if (value?.kind === 'choice') argument.argParser(valueParser(value, fullName(command)));
  return argument;
}

/** Returns a parser for a value of the option or command `name`, which throws usage errors. */
function valueParser(value: Value, name: string): (text: string) => string | number {
  switch (value.kind) {
    case 'text':
      return (text) => text;
    case 'number':
      return (text) => {
        const number = parseNumber(text, value, name);
        return value.keepText ? text : number;
      };
    case 'duration':
      return (text) => {
        const milliseconds = parseDuration(text, name, value.isAge ? MAX_AGE : undefined);
        return value.keepText ? text : milliseconds;
      };
    case 'choice': {
      const { noun, words, synonyms } = value;
      const choice = { noun, valid: words, where: name, ...(synonyms && { synonyms }) };
      return (text) => parseChoice(text, choice);
    }
  }
}

function parseNumber(
  text: string,
  { min, max }: { readonly min: number; readonly max?: number },
  name: string,
): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new ImgctlError('usage', `${name} must be a whole number ${range} (got ${text})`, {
    hint: `for example: ${name} ${min}`,
  });
}

/** Makes commander throw our errors. */
function throwUsageErrors(command: Command, root: Command, context: Context): void {
  command.exitOverride((error) => {
    // Even a failed parse has read the options before the error, such as --json.
    context.useOptions(root.opts<GlobalOptions>());
    throw isHelp(error) ? error : usageError(error, command);
  });
}

/** True if help or the version was requested and is printed; commander throws for these too. */
function isHelp(thrown: unknown): boolean {
  if (!(thrown instanceof CommanderError)) return false;
  return thrown.exitCode === 0 || thrown.code === 'commander.help';
}

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** Converts commander's error: one line, its suggestion as the hint, options without their values. */
function usageError(error: CommanderError, command: Command): ImgctlError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  const [message, suggestion] =
    option === undefined
      ? [first, /\(Did you mean (.+?)\?\)/.exec(rest.join(' '))?.[1]]
      : describeOption(option, optionNames(command));
  const hint = suggest(suggestion, `${fullName(command)} --help`);
  return new ImgctlError('usage', message.replace(/\.$/, '').slice(0, MAX_MESSAGE), { hint });
}

/** Returns the message and a suggestion. Commander also calls an option unknown if it takes no value. */
function describeOption(option: string, known: readonly string[]): [string, string | undefined] {
  if (known.includes(option)) return [`option '${option}' takes no value`, undefined];
  return [`unknown option '${option}'`, nearest(option, known)];
}

/** Returns the long names of the options of a command, including global ones. */
function optionNames(command: Command): string[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.flatMap(({ long }) => long ?? []);
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

/** Returns the names below imgctl. */
function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}
