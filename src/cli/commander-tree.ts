// What commander makes of a command line: the command, its options, and the settings they give.

import { Command, CommanderError, Option } from 'commander';
import { version } from '../../package.json';
import type { SettingKey } from '../config/definitions.ts';
import { Given } from '../config/settings.ts';
import { parseGiven } from '../config/values.ts';
import type { Io } from '../io.ts';
import {
  argumentTerm,
  type CommandDeclaration,
  commandNames,
  longFlag,
  type OptionDeclaration,
  optionTerm,
} from './command-types.ts';
import { GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION } from './global-options.ts';
import { defaultOf, optionName, type Parsed } from './option-values.ts';

/** What commander makes of a line: the command that runs, or why it has stopped. */
export type CommanderOutcome =
  | {
      readonly kind: 'run';
      readonly run: NonNullable<CommandDeclaration['run']>;
      readonly needsNoSettings: boolean | undefined;
      readonly own: ReturnType<typeof valuesOf>;
      /** The arguments as `run` receives them. */
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'stop'; readonly stop: CommanderError }
  /** A value is invalid. */
  | { readonly kind: 'error'; readonly error: unknown };

export type GlobalValues = Parsed<typeof GLOBAL_OPTIONS>;

/** The commands as commander parses them. */
export class CommandTree {
  readonly commands: readonly CommandDeclaration[];
  readonly root = new Command('imgctl')
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.description)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.description)
    .helpCommand(false)
    .exitOverride()
    .usage('<command> [options]')
    // Pages, the version and errors are printed later, with colour if the terminal has it.
    .configureHelp({ formatHelp: () => '' })
    .configureOutput({
      writeOut() {},
      writeErr() {},
      outputError() {},
      getOutHasColors: () => true,
    });
  readonly #env: Io['env'];
  /** Set while commander parses, by the action of the command that it finds. */
  #outcome: CommanderOutcome = { kind: 'error', error: new Error('commander found no command') };

  constructor(commands: readonly CommandDeclaration[], env: Io['env']) {
    this.commands = commands;
    this.#env = env;
    for (const option of GLOBAL_OPTIONS) this.root.addOption(optionOf(option, env));
  }

  parse(argv: readonly string[]): CommanderOutcome {
    this.#addCommands(this.root, this.commands, argv);
    try {
      this.root.parse(argv, { from: 'user' });
    } catch (error) {
      const isStop = error instanceof CommanderError;
      return isStop ? { kind: 'stop', stop: error } : { kind: 'error', error };
    }
    return this.#outcome;
  }

  /** Returns the global options, and the settings that they give. */
  globals() {
    const { options, given } = valuesOf(this.root, GLOBAL_OPTIONS);
    if (options.json && options.output === undefined) {
      given.set('output', new Given('json', 'json', '--json'));
    }
    return { options, given };
  }

  /** Adds what help lists; of the commands that the line names, all that is declared. */
  #addCommands(group: Command, declared: readonly CommandDeclaration[], argv: readonly string[]) {
    for (const declaration of declared) {
      const { name, summary, group: heading } = declaration;
      const [, ...others] = commandNames(declaration);
      const command = group.command(name).aliases(others).summary(summary);
      if (heading) command.helpGroup(`${heading}:`);
      // To declare the others would take time.
      const isNamed = [name, ...others].some((each) => argv.includes(each));
      if (isNamed) this.#declare(command, declaration, argv);
    }
  }

  #declare(command: Command, declaration: CommandDeclaration, argv: readonly string[]): void {
    const { arguments: args = [], options = [], subcommands, run } = declaration;
    for (const each of args) command.argument(argumentTerm(each), each.description);
    for (const each of options) command.addOption(optionOf(each, this.#env));
    if (subcommands) {
      this.#addCommands(command, subcommands, argv);
      // `imgctl images help` is `imgctl images --help`.
      const help = command.command('help', { hidden: true }).argument('[command...]');
      help.action(() => command.help());
    }
    if (run) {
      const { needsNoSettings } = declaration;
      command.action(() => {
        const own = valuesOf(command, options);
        this.#outcome = { kind: 'run', run, needsNoSettings, own, args: command.processedArgs };
      });
    }
  }
}

/** A value is parsed when commander meets it. Of a setting, its text and its flag are kept too. */
function optionOf(declaration: OptionDeclaration, env: Io['env']): Option {
  const { value, setting, repeatable, implies, conflicts } = declaration;
  const [flags, description] = optionTerm(declaration);
  const option = new Option(flags, description).default(defaultOf(declaration));
  if (value) {
    option.argParser<unknown>((text, previous) => {
      const name = longFlag(declaration);
      const parsed = parseGiven(value, text, name, env);
      if (setting) return new Given(text, parsed, name);
      // Before the first value, commander passes the default.
      const isFirst = previous === undefined || previous === option.defaultValue;
      return repeatable ? [...(isFirst ? [] : [previous].flat()), parsed] : parsed;
    });
  }
  if (implies) option.implies(implies);
  if (conflicts) option.conflicts([...conflicts]);
  return option;
}

/** Returns the options as the command receives them, and apart those that give settings. */
function valuesOf<const Options extends readonly OptionDeclaration[]>(
  command: Command,
  declared: Options,
) {
  const given = new Map<SettingKey, Given>();
  const options: Record<string, unknown> = { ...command.opts() };
  for (const declaration of declared) {
    const name = optionName(declaration);
    const value = options[name];
    if (!(value instanceof Given) || !declaration.setting) continue;
    options[name] = value.value;
    given.set(declaration.setting, value);
  }
  return { options: options as Parsed<Options>, given };
}
