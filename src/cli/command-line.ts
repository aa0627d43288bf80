// Reads a command line with commander: the command, its options, and the settings they give.

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
  argumentTerm,
  type CommandDeclaration,
  commandNames,
  defaultOf,
  type OptionDeclaration,
  type Outcome,
  optionName,
  optionTerm,
} from './declarations.ts';
import { checkTyped, readTyped, type TypedLine } from './typed.ts';

type Env = Io['env'];

/** What a command line asks for. */
export interface CommandLine extends RunOptions {
  /** Runs the command, or prints help or the version. @throws ImgctlError if the line is wrong */
  act(context: Context): Outcome;
}

/** The command that commander has found, or why it has stopped: in most cases a CommanderError. */
type Parsed =
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly declaration: Partial<CommandDeclaration>;
      readonly run: NonNullable<CommandDeclaration['run']>;
    }
  | { readonly kind: 'error'; readonly error: unknown };

/** What the line leads to. A misuse gets its message in usage-error.ts. */
type LineOutcome =
  | Parsed
  | { readonly kind: 'version' | 'help' }
  | { readonly kind: 'misuse'; readonly stop: CommanderError | undefined };

/** Parses a command line, and does nothing else. */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly CommandDeclaration[],
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): CommandLine {
  const typed = readTyped(commands, argv);
  const { error: misread } = attempt(() => checkTyped(typed, cwd));
  const tree = new CommandTree(commands, argv, env);
  const parsed = tree.parse();
  // Even a failed parse has read the options before the error, such as --json.
  const { options, given } = globalsOf(tree.root);
  const outcome = outcomeOf(typed, misread, parsed, options);
  if (outcome.kind !== 'run') {
    return { ...options, given, act: (context) => answer(context, outcome, typed, tree) };
  }
  const { command, declaration, run } = outcome;
  const own = valuesOf(command, declaration.options);
  return {
    ...options,
    given: new Map([...given, ...own.given]),
    needsNoSettings: declaration.needsNoSettings,
    act: (context) => run(context, own.options, ...command.processedArgs),
  };
}

/**
 * Decides between what was typed and what commander made of it. The first row that applies counts:
 *
 *     images list –n 5                   error: commander would take a typeset dash for a word
 *     images list -n x --version         version
 *     images list --bogus -h, help list  help; also images, which is a group
 *     images list --bogus -n x           misuse: unknown option
 *     imags list, images lock add        misuse: what commander says
 *     images list -n x                   error: of the value
 *     images list --json -o csv          error: two formats
 *     images list -n 5                   run
 */
function outcomeOf(
  typed: TypedLine,
  misread: unknown,
  parsed: Parsed,
  { json, output }: Readonly<Record<string, unknown>>,
): LineOutcome {
  const isTyped = (each: OptionDeclaration) => typed.words.some(({ option }) => option === each);
  const error = parsed.kind === 'error' ? parsed.error : undefined;
  const stop = error instanceof CommanderError ? error : undefined;
  if (misread) return { kind: 'error', error: misread };
  if (isTyped(VERSION_OPTION)) return { kind: 'version' };
  if (isTyped(HELP_OPTION) || typed.path[0] === 'help' || stop?.code === 'commander.help') {
    return { kind: 'help' };
  }
  if (stop || typed.unknown) return { kind: 'misuse', stop };
  if (parsed.kind === 'run' && json && output !== undefined && output !== 'json') {
    return { kind: 'error', error: incompatible('--json', `--output ${output}`) };
  }
  return parsed;
}

/** Prints the version or a page of help. @throws the error of any other outcome */
async function answer(
  context: Context,
  outcome: Exclude<LineOutcome, { kind: 'run' }>,
  typed: TypedLine,
  tree: CommandTree,
): Promise<void> {
  switch (outcome.kind) {
    case 'version':
      return context.console.print(`${version}\n`);
    case 'help': {
      const { showPage } = await import('./help-page.ts');
      return showPage(context, tree, pageAsked(typed));
    }
    case 'misuse': {
      const { usageError } = await import('./usage-error.ts');
      throw usageError(typed, outcome.stop);
    }
    case 'error':
      throw outcome.error;
  }
}

/**
 * Returns the names of the page: `images list` for `images list -h` and `help images list`,
 * `images` for `images help`, none for the page of imgctl. Help has an error for a word behind a group.
 */
function pageAsked({ path, rest, command, words, unknown }: TypedLine): readonly string[] {
  // The value of an unknown option may be a secret, and is among the rest.
  const names = command.subcommands && !unknown ? [...path, ...rest] : path;
  if (names[0] !== 'help') return names.filter((name) => name !== 'help');
  const isOfHelp = names.length === 1 && words.some(({ option }) => option === HELP_OPTION);
  return isOfHelp ? names : names.slice(1);
}

/** Returns the global options, and the settings that they give. */
function globalsOf(root: Command) {
  const { options, given } = valuesOf(root, GLOBAL_OPTIONS);
  if (options.json && options.output === undefined) {
    given.set('output', new Given('json', 'json', '--json'));
  }
  return { options, given };
}

/** Returns the options as the command receives them, and the settings among them. */
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

/** The commands as commander parses them. */
class CommandTree {
  readonly root: Command;
  readonly commands: readonly CommandDeclaration[];
  readonly #argv: readonly string[];
  readonly #env: Env;
  /** What commander calls back with. */
  #parsed: Parsed = { kind: 'error', error: new Error('commander found no command') };

  constructor(commands: readonly CommandDeclaration[], argv: readonly string[], env: Env) {
    this.commands = commands;
    this.#argv = argv;
    this.#env = env;
    this.root = rootCommand(env);
    this.#declare(this.root, { subcommands: commands });
  }

  parse(): Parsed {
    try {
      this.root.parse(this.#argv, { from: 'user' });
    } catch (error) {
      return { kind: 'error', error };
    }
    return this.#parsed;
  }

  #declare(command: Command, declaration: Partial<CommandDeclaration>): void {
    const { subcommands, run } = declaration;
    command.exitOverride();
    for (const each of declaration.arguments ?? []) {
      command.addArgument(new Argument(argumentTerm(each), each.description));
    }
    for (const each of declaration.options ?? []) command.addOption(optionOf(each, this.#env));
    for (const each of subcommands ?? []) {
      const below = addCommand(command, each);
      // To declare the others would take time.
      const isNamed = commandNames(each).some((name) => this.#argv.includes(name));
      if (isNamed) this.#declare(below, each);
    }
    if (run) {
      command.action(() => {
        this.#parsed = { kind: 'run', command, declaration, run };
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
    // Pages, the version and errors are printed later, with colour if the terminal has it.
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
