// The command tree: the root with the options of every command, and each command by name and lazy import.

import { Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { COMMANDS, type CommandSpec } from './command-table.ts';
import { type Context, type GlobalOptions, requireColor, requireFormat } from './context.ts';
import { ImgctlError } from './errors.ts';
import { nearest, suggest } from './query/suggest.ts';
import { parseDuration } from './session/settings.ts';

/** Runs a command line. @throws ImgctlError, also for what commander finds wrong with it */
export async function execute(argv: readonly string[], context: Context): Promise<void> {
  const { root } = buildProgram(context, COMMANDS);
  root.hook('preAction', () => context.useOptions(root.opts<GlobalOptions>()));
  try {
    await root.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!isHelp(thrown)) throw thrown;
  }
  await context.flush();
}

/** The command tree, each command complete, but for hidden ones: for what is generated from it. */
export async function completeProgram(context: Context): Promise<Command> {
  const { root, load } = buildProgram(
    context,
    COMMANDS.filter(({ hidden }) => !hidden),
  );
  const complete = async (command: Command): Promise<void> => {
    await load(command);
    for (const subcommand of command.commands) await complete(subcommand);
  };
  await complete(root);
  return root;
}

interface Program {
  readonly root: Command;
  /** Adds to a command what its own file says, once. */
  readonly load: (command: Command) => Promise<void>;
}

/** The program with every command named, each still without the options that its own file adds. */
function buildProgram(context: Context, specs: readonly CommandSpec[]): Program {
  const helpWidth = () => Math.min(context.io.stdout.columns || 100, 100);
  const root = new Command('imgctl')
    .description('Deploy-ready OVA and OVF images: list, filter, sync, follow.')
    .usage('<command> [options]')
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => context.printSoon(text),
      // A group without a command shows its help; complaints take the road of all other errors.
      writeErr: (text) => context.printSoon(text),
      outputError: () => {},
      getOutHelpWidth: helpWidth,
      getErrHelpWidth: helpWidth,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', ROOT_HELP);
  for (const option of globalOptions()) root.addOption(option);
  const refuse = (command: Command) => {
    command.exitOverride((error) => {
      // Even a failed parse has read the options that stood before, such as --json.
      context.useOptions(root.opts<GlobalOptions>());
      throw isHelp(error) ? error : usageError(error, command);
    });
    command.commands.forEach(refuse);
  };
  const loaders: Loaders = new Map();
  const load: Program['load'] = async (command) => {
    const loader = loaders.get(command);
    loaders.delete(command);
    (await loader?.())?.define(command, context);
    command.commands.forEach(refuse);
  };
  addCommands(root, specs, loaders, load);
  refuse(root);
  context.findCommand = (words, topics) => findCommand(root, words, topics, load);
  return { root, load };
}

function globalOptions(): Option[] {
  const duration = (text: string) => {
    parseDuration(text, '--timeout');
    return text;
  };
  return [
    new Option('--profile <name>', 'settings and token of that name (default)'),
    new Option('--base-url <url>', 'the service'),
    new Option('-o, --output <format>', 'table, json, ndjson, yaml, csv or tsv (table)').argParser(
      requireFormat,
    ),
    new Option('--json', 'the same as -o json'),
    new Option('--timeout <duration>', 'for each request, such as 500ms, 30s, 5m (30s)').argParser(
      duration,
    ),
    new Option('--retries <n>', 'further tries of a request that is safe to repeat (4)'),
    new Option('--debug', 'trace requests on stderr, without secrets'),
    new Option('--color <when>', 'auto, always or never (auto)').argParser(requireColor),
    new Option('-q, --quiet', 'identifiers only, no progress'),
  ];
}

type Loaders = Map<Command, CommandSpec['load']>;

function addCommands(
  parent: Command,
  specs: readonly CommandSpec[],
  loaders: Loaders,
  load: Program['load'],
): void {
  for (const spec of specs) {
    const { name, summary, hidden = false } = spec;
    const description = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
    const command = parent.command(name, { hidden }).summary(summary).description(description);
    if (spec.alias !== undefined) command.alias(spec.alias);
    if (spec.examples !== undefined) command.addHelpText('after', spec.examples);
    if (spec.subcommands) addCommands(command, spec.subcommands, loaders, load);
    loaders.set(command, spec.load);
  }
  parent.hook('preSubcommand', (_parent, command) => load(command));
}

/**
 * The command by its words, complete with options. `topics`: what else may have been meant.
 * @throws ImgctlError usage: there is none of that name
 */
async function findCommand(
  root: Command,
  words: readonly string[],
  topics: readonly string[],
  load: Program['load'],
): Promise<Command> {
  let command = root;
  for (const word of words) {
    const next = command.commands.find(
      (candidate) => candidate.name() === word || candidate.aliases().includes(word),
    );
    if (!next) {
      const names = command.commands.map((candidate) => candidate.name());
      const meant = nearest(word, command === root ? [...names, ...topics] : names);
      throw new ImgctlError(
        'usage',
        `no command or topic: ${words.join(' ').slice(0, LONGEST_MESSAGE)}`,
        {
          hint: suggest(meant, 'imgctl help'),
        },
      );
    }
    await load(next);
    command = next;
  }
  return command;
}

/** Help or the version was asked for and is printed; commander throws for these too. */
function isHelp(thrown: unknown): boolean {
  if (!(thrown instanceof CommanderError)) return false;
  return thrown.exitCode === 0 || thrown.code === 'commander.help';
}

/** Commander repeats what it was given, however long. */
const LONGEST_MESSAGE = 200;

/** Commander's complaint as ours: one line, its suggestion as the hint, values left out of options. */
function usageError(error: CommanderError, command: Command): ImgctlError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  const [message, suggestion] =
    option === undefined
      ? [first, /\(Did you mean (.+?)\?\)/.exec(rest.join(' '))?.[1]]
      : refusedOption(option, optionNames(command));
  const hint = suggest(suggestion, `${fullName(command)} --help`);
  return new ImgctlError('usage', message.replace(/\.$/, '').slice(0, LONGEST_MESSAGE), { hint });
}

/** What is wrong with an option, and what was meant. Commander also refuses one that is given a value in vain. */
function refusedOption(option: string, known: readonly string[]): [string, string | undefined] {
  if (known.includes(option)) return [`option '${option}' takes no value`, undefined];
  return [`unknown option '${option}'`, nearest(option, known)];
}

/** The long names of what may stand there, those of every command included. */
function optionNames(command: Command): string[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.flatMap(({ long }) => long ?? []);
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

const ROOT_HELP = `
Examples:
  $ imgctl demo
  $ imgctl login --username alice
  $ imgctl images list ubuntu --sort updated_on,desc --limit 10
  $ imgctl images list --filter name,like,%ubuntu% --json | jq -r '.[].path'
  $ imgctl sync --wait

Topics: imgctl help filters, output, environment, exit-codes
`;
