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
import { checkTyped, commandNames } from './typed.ts';

type Env = Io['env'];

/** What a command line asks for. */
export interface CommandLine extends RunOptions {
  /** Runs the command, or prints help or the version. @throws ImgctlError, also if the command line is wrong */
  act(context: Context): Outcome;
}

/** Where a parse ended. */
interface End {
  found?: { readonly command: Command; readonly declaration: Partial<CommandDeclaration> };
  /** The command that fails, or whose help is printed. */
  stopped?: Command;
  /** Add the options of the commands that the line does not name, which only some errors need. */
  readonly others: (() => void)[];
}

/** Parses a command line, and does nothing else. */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly CommandDeclaration[],
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): CommandLine {
  const end: End = { others: [] };
  const words = helpLast(argv);
  const root = buildTree(commands, words, env, end);
  const { error: misread } = attempt(() => checkTyped(commands, words, cwd));
  try {
    root.parse(words, { from: 'user' });
    if (misread) throw misread;
    if (end.found === undefined) throw new Error('commander found no command');
    const { command, declaration } = end.found;
    const own = valuesOf(command, declaration.options);
    const global = globalsOf(root);
    refuseTwoFormats(global.options);
    const { run = async () => {} } = declaration;
    return {
      ...global.options,
      given: new Map([...global.given, ...own.given]),
      needsNoSettings: declaration.needsNoSettings,
      act: (context) => run(context, own.options, ...command.processedArgs),
    };
  } catch (thrown) {
    // Even a failed parse has read the options before the error, such as --json.
    const { options, given } = globalsOf(root);
    const error = misread ?? thrown;
    return {
      ...options,
      given,
      act: (context) => explain(context, error, { ...end, root, commands }),
    };
  }
}

/** Moves -h behind the command it belongs to: `imgctl -h images list` is `imgctl images list -h`. */
function helpLast(argv: readonly string[]): readonly string[] {
  const flags = ['-h', '--help'];
  if (!flags.includes(argv[0] ?? '')) return argv;
  return [...argv.filter((word) => !flags.includes(word)), '--help'];
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

/** @throws ImgctlError usage */
function refuseTwoFormats({ json, output = 'json' }: Readonly<Record<string, unknown>>): void {
  if (json && output !== 'json') throw incompatible('--json', `--output ${output}`);
}

/** Prints help or the version, for which commander throws too. @throws ImgctlError usage */
async function explain(
  context: Context,
  thrown: unknown,
  {
    stopped,
    others,
    root,
    commands,
  }: End & { root: Command; commands: readonly CommandDeclaration[] },
): Promise<void> {
  if (!(thrown instanceof CommanderError) || stopped === undefined) throw thrown;
  if (thrown.code === 'commander.version') return context.console.print(`${version}\n`);
  if (thrown.exitCode !== 0 && thrown.code !== 'commander.help') {
    const { usageError } = await import('./usage-error.ts');
    for (const add of others) add();
    throw usageError(thrown, stopped, pathOf(stopped));
  }
  // What follows a group or `help` is the command that is asked for, or no command, which is an error.
  const below = stopped.commands.length > 0 ? stopped.args : [];
  const words = below.filter((word, at) => !word.startsWith('-') && (at > 0 || word !== 'help'));
  const { showPage } = await import('./help-page.ts');
  await showPage(context, { root, commands }, [...pathOf(stopped), ...words]);
}

function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

/** @param end receives the command that is found, or where the parse stops */
function buildTree(
  commands: readonly CommandDeclaration[],
  words: readonly string[],
  env: Env,
  end: End,
): Command {
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
  const declare = (command: Command, declaration: Partial<CommandDeclaration>) => {
    command.exitOverride((error) => {
      end.stopped = command;
      throw error;
    });
    for (const each of declaration.arguments ?? []) command.addArgument(argumentOf(each, command));
    for (const each of declaration.options ?? []) command.addOption(optionOf(each, env));
    if (declaration.hidden) command.allowUnknownOption();
    for (const each of declaration.subcommands ?? []) {
      const { name, summary, group, hidden = false } = each;
      const [, ...others] = commandNames(each);
      const below = command.command(name, { hidden }).aliases(others).summary(summary);
      if (group) below.helpGroup(`${group}:`);
      const add = () => declare(below, each);
      if (commandNames(each).some((known) => words.includes(known))) add();
      else end.others.push(add);
    }
    const { run, subcommands } = declaration;
    if (run) {
      command.action(() => {
        end.found = { command, declaration };
      });
    } else if (command !== root) {
      const help = subcommands
        ? command.command('help', { hidden: true }).argument('[command...]')
        : command;
      help.action(() => (subcommands ? command : root).help());
    }
  };
  declare(root, { subcommands: commands });
  return root;
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
