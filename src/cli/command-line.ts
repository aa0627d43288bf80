// Reads a command line with commander: the command to run, its options, and the settings that options give.

import { Argument, Command, CommanderError, Option } from 'commander';
import { version } from '../../package.json';
import { incompatible } from '../choices.ts';
import type { SettingKey } from '../config/definitions.ts';
import { Given } from '../config/settings.ts';
import { parseGiven } from '../config/values.ts';
import type { Context, RunOptions } from '../context.ts';
import { attempt } from '../errors.ts';
import type { Io } from '../io.ts';
import { GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION } from './command.ts';
import {
  type ArgumentDeclaration,
  argumentTerm,
  type CommandDeclaration,
  defaultOf,
  type OptionDeclaration,
  type Outcome,
  optionName,
  optionTerm,
} from './declarations.ts';
import { checkTyped, commandNames, readTyped, type TypedLine } from './typed.ts';

type Env = Io['env'];

/** What a command line asks for. */
export interface CommandLine extends RunOptions {
  /** Runs the command, or prints help or the version. @throws ImgctlError, also if the command line is wrong */
  act(context: Context): Outcome;
}

/** How the parse of commander ended. */
type End =
  | {
      readonly kind: 'found';
      readonly command: Command;
      readonly declaration: Partial<CommandDeclaration>;
      readonly run: NonNullable<CommandDeclaration['run']>;
    }
  /** Commander throws for wrong usage of a command, and also for its help and for the version. */
  | { readonly kind: 'stopped'; readonly command: Command; readonly error: CommanderError }
  /** The kind of a value refused it. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** Parses a command line, and does nothing else. */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly CommandDeclaration[],
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): CommandLine {
  const typed = readTyped(commands, argv);
  const { error: misread } = attempt(() => checkTyped(typed, cwd));
  const tree = new CommandTree(commands, argv, env);
  const end = tree.parse();
  // Even a failed parse has read the options before the error, such as --json.
  const { options, given } = globalsOf(tree.root);
  const failed = (error: unknown): CommandLine => {
    return { ...options, given, act: () => Promise.reject<undefined>(error) };
  };
  if (misread) return failed(misread);
  if (end.kind === 'failed' && !typed.unknown) return failed(end.error);
  if (end.kind !== 'found') {
    return { ...options, given, act: (context) => explain(context, tree, end, commands, typed) };
  }
  const { json, output = 'json' } = options;
  if (json && output !== 'json') return failed(incompatible('--json', `--output ${output}`));
  const { command, declaration, run } = end;
  const own = valuesOf(command, declaration.options);
  return {
    ...options,
    given: new Map([...given, ...own.given]),
    needsNoSettings: declaration.needsNoSettings,
    act: (context) => run(context, own.options, ...command.processedArgs),
  };
}

/** Returns the options as the command receives them, and those that are settings, with their texts. */
function valuesOf(command: Command, declared: readonly OptionDeclaration[] = []) {
  const given = new Map<SettingKey, Given>();
  const values: Record<string, unknown> = command.opts();
  const options: Record<string, unknown> = { ...values };
  for (const declaration of declared) {
    const name = optionName(declaration);
    const value = values[name];
    if (!(value instanceof Given)) continue;
    options[name] = value.value;
    if (declaration.setting) given.set(declaration.setting, value);
  }
  return { options, given };
}

function globalsOf(root: Command) {
  const { options, given } = valuesOf(root, GLOBAL_OPTIONS);
  const { output = 'json' } = options;
  if (options.json && output === 'json') {
    given.set('output', new Given('json', 'json', '--json'));
  }
  return { options, given };
}

/** Prints the help or the version for which commander stopped. @throws ImgctlError usage */
async function explain(
  context: Context,
  tree: CommandTree,
  end: Exclude<End, { kind: 'found' }>,
  commands: readonly CommandDeclaration[],
  typed: TypedLine,
): Promise<void> {
  const code = end.kind === 'stopped' ? end.error.code : 'failed';
  if (code === 'commander.version') return context.console.print(`${version}\n`);
  if (isHelp(code, typed)) {
    const { showPage } = await import('./help-page.ts');
    return showPage(context, { root: tree.root, commands }, pathAsked(typed));
  }
  const { unknownOption, usageError } = await import('./usage-error.ts');
  // Commander may mind a value behind an unknown option first.
  if (typed.unknown && OPTION_ERRORS.includes(code)) {
    throw unknownOption(typed, typed.unknown, commands);
  }
  if (end.kind === 'failed') throw end.error;
  throw usageError(end.error, end.command, pathOf(end.command), typed.command);
}

const OPTION_ERRORS = ['failed', 'commander.unknownOption', 'commander.optionMissingArgument'];

function isHelp(code: string, { unknown, words, path }: TypedLine): boolean {
  if (code === 'commander.help' || code === 'commander.helpDisplayed') return true;
  // Commander knows neither -hq nor the options of a command behind `help`.
  const isAsked = path[0] === 'help' || words.some(({ option }) => option === HELP_OPTION);
  return code === 'commander.unknownOption' && unknown === undefined && isAsked;
}

/**
 * Returns the command that help is asked for: `images list` for `-h images list -n 5` and for `help images list`. What
 * follows a group is no command: help has an error for it.
 */
function pathAsked({ path, rest, command, words }: TypedLine): readonly string[] {
  const asked = [...path, ...(command.subcommands ? rest : [])];
  // The page of help itself.
  if (asked.length === 1 && words.some(({ option }) => option === HELP_OPTION)) return asked;
  const at = asked.indexOf('help');
  return asked.filter((_, index) => index !== at);
}

function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

/** The commands as commander parses them. */
class CommandTree {
  readonly root: Command;
  readonly #words: readonly string[];
  readonly #env: Env;
  /** What commander calls back with. */
  #end: End = { kind: 'failed', error: new Error('commander found no command') };

  constructor(commands: readonly CommandDeclaration[], words: readonly string[], env: Env) {
    this.#words = words;
    this.#env = env;
    this.root = rootCommand(env);
    this.#declare(this.root, { subcommands: commands });
  }

  parse(): End {
    try {
      this.root.parse(this.#words, { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) return { kind: 'failed', error };
    }
    return this.#end;
  }

  #declare(command: Command, declaration: Partial<CommandDeclaration>): void {
    const { subcommands, hidden, run } = declaration;
    command.exitOverride((error) => {
      this.#end = { kind: 'stopped', command, error };
      throw error;
    });
    for (const each of declaration.arguments ?? []) command.addArgument(argumentOf(each, command));
    for (const each of declaration.options ?? []) command.addOption(optionOf(each, this.#env));
    if (hidden) command.allowUnknownOption();
    for (const each of subcommands ?? []) {
      const below = addCommand(command, each);
      // To declare the others would take time.
      const isNamed = commandNames(each).some((name) => this.#words.includes(name));
      if (isNamed) this.#declare(below, each);
    }
    if (run) {
      command.action(() => {
        this.#end = { kind: 'found', command, declaration, run };
      });
    } else if (subcommands === undefined) {
      // The command help itself.
      command.action(() => this.root.help());
    } else if (command !== this.root) {
      // `imgctl images help` is `imgctl images --help`.
      const help = command.command('help', { hidden: true }).argument('[command...]');
      help.action(() => command.help());
    }
  }
}

function rootCommand(env: Env): Command {
  const root = new Command('imgctl')
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.description)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.description)
    .helpCommand(false)
    .usage('<command> [options]')
    // Pages, the version and errors are printed after commander has ended, with colour if the terminal has it.
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({
      writeOut() {},
      writeErr() {},
      outputError() {},
      getOutHasColors: () => true,
    });
  for (const option of GLOBAL_OPTIONS) root.addOption(optionOf(option, env));
  return root;
}

function addCommand(parent: Command, declaration: CommandDeclaration): Command {
  const { name, summary, group, hidden = false } = declaration;
  const [, ...others] = commandNames(declaration);
  const command = parent.command(name, { hidden }).aliases(others).summary(summary);
  return group ? command.helpGroup(`${group}:`) : command;
}

function optionOf(declaration: OptionDeclaration, env: Env): Option {
  const { value, setting, repeatable, implies, conflicts } = declaration;
  const [flags, description] = optionTerm(declaration);
  const option = new Option(flags, description).default(defaultOf(declaration));
  if (value) {
    option.argParser<unknown>((text, previous) => {
      const name = option.long ?? flags;
      const parsed = parseGiven(value, text, name, env);
      if (setting) return new Given(text, parsed, name);
      const isFirst = previous === undefined || previous === option.defaultValue;
      return repeatable ? [...(isFirst ? [] : [previous].flat()), parsed] : parsed;
    });
  }
  if (implies) option.implies(implies);
  if (conflicts) option.conflicts([...conflicts]);
  return option;
}

function argumentOf(declaration: ArgumentDeclaration, command: Command): Argument {
  const argument = new Argument(argumentTerm(declaration), declaration.description);
  const { value } = declaration;
  if (value?.words === undefined) return argument;
  const name = ['imgctl', ...pathOf(command)].join(' ');
  return argument.argParser((text) => value.parse(text, name));
}
