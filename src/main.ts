// Runs a command line: builds commander's tree from the declarations, runs the command, prints help and errors.

import { Argument, Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { quoted } from './choices.ts';
import { GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION } from './cli/command.ts';
import {
  type ArgumentDeclaration,
  argumentTerm,
  type CommandDeclaration,
  defaultOf,
  type OptionDeclaration,
  optionTerm,
  type Parsed,
} from './cli/declarations.ts';
import { images } from './commands/images/index.ts';
import type { Redaction } from './console.ts';
import { Context } from './context.ts';
import { asImgctlError, EXIT_CODES } from './errors.ts';
import { BrokenPipeError, hasTerminal, type Io, processIo } from './io.ts';
import { takeLocalUse } from './query/timestamp.ts';

/** @param argv without node and script. @param redaction learns the secrets of the run, for a caller that shows its output */
export async function run(argv: readonly string[], io: Io, redaction?: Redaction): Promise<number> {
  const context = new Context(io, run, redaction);
  let exitCode = 0;
  takeLocalUse();
  try {
    await execute(argv, context);
    exitCode = context.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof BrokenPipeError)) {
      exitCode = asImgctlError(thrown).exitCode;
      await context.console.fail(thrown);
    }
  }
  if (io.unknownZone !== undefined && takeLocalUse()) {
    const message = `unknown time zone in TZ: ${quoted(io.unknownZone)}; local times are UTC`;
    context.console.warn(message, 'set TZ to a name such as Europe/Berlin');
  }
  await context.close().catch(() => {});
  return exitCode;
}

/** The entry of the built program. */
export async function main(process: NodeJS.Process): Promise<void> {
  const exitCode = await run(process.argv.slice(2), processIo(process));
  process.exitCode = exitCode;
  const signal = exitCode - 128;
  if (signal <= 0) return;
  if (exitCode === EXIT_CODES.hangup && hasTerminal()) {
    // At its end Node would abort, because it cannot restore the modes of a terminal that is gone.
    process.removeAllListeners('SIGHUP').kill(process.pid, signal);
  }
  // Node waits for a name lookup, which may take long; the signal ends the process at once.
  setTimeout(() => process.kill(process.pid, signal), GRACE_PERIOD).unref();
}

/** Milliseconds to wait for a process that can end by itself. */
const GRACE_PERIOD = 200;

/** Runs a command line. @throws ImgctlError, also for the errors that commander finds */
async function execute(argv: readonly string[], context: Context): Promise<void> {
  const words = helpLast(argv);
  context.argv = words;
  let ended: Command | undefined;
  // A command line that begins with `images`, as most do, needs no other command.
  const isForImages = words[0] === images.name;
  const commands = isForImages ? [images] : (await import('./commands/index.ts')).COMMANDS;
  const root = buildTree(context, commands, (command) => {
    ended = command;
  });
  const useOptions = () => context.readOptions(root.opts<Parsed<typeof GLOBAL_OPTIONS>>());
  root.hook('preAction', useOptions);
  try {
    await root.parseAsync(words, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError) || ended === undefined) throw thrown;
    // Even a failed parse has read the options before the error, such as --json.
    useOptions();
    // Commander throws for help and the version too, which are printed.
    if (thrown.exitCode !== 0 && thrown.code !== 'commander.help') {
      const { usageError } = await import('./cli/usage-error.ts');
      throw usageError(thrown, ended, pathOf(ended));
    }
    if (thrown.code === 'commander.version') await context.console.print(`${version}\n`);
    else {
      // The same page as that of `imgctl help`, which also reports a word that is no command.
      const below = ended.commands.length > 0 ? ended.args : [];
      const names = below.filter((word) => !word.startsWith('-'));
      const { showPage } = await import('./cli/help-page.ts');
      await showPage(context, commands, [...pathOf(ended), ...names]);
    }
  }
  await context.console.flush();
}

/** Moves -h behind the command it belongs to: `imgctl -h images list` is `imgctl images list -h`. */
function helpLast(argv: readonly string[]): readonly string[] {
  const flags = ['-h', '--help'];
  if (!flags.includes(argv[0] ?? '')) return argv;
  return [...argv.filter((word) => !flags.includes(word)), '--help'];
}

function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

/** @param onEnd receives the command that fails or prints help */
function buildTree(
  context: Context,
  commands: readonly CommandDeclaration[],
  onEnd: (command: Command) => void,
): Command {
  const root = new Command('imgctl')
    .version(version, VERSION_OPTION.flags, VERSION_OPTION.description)
    .helpOption(HELP_OPTION.flags, HELP_OPTION.description)
    .helpCommand(false)
    // Pages, the version and errors are printed after commander has ended.
    .configureHelp({ showGlobalOptions: true, formatHelp: () => '' })
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  for (const option of GLOBAL_OPTIONS) root.addOption(optionOf(option, context));
  const declare = (command: Command, { run, ...declaration }: Partial<CommandDeclaration>) => {
    command.exitOverride((error) => {
      onEnd(command);
      throw error;
    });
    for (const each of declaration.arguments ?? []) command.addArgument(argumentOf(each, command));
    for (const each of declaration.options ?? []) command.addOption(optionOf(each, context));
    if (declaration.hidden) command.allowUnknownOption();
    for (const each of declaration.subcommands ?? []) {
      const { name, aliases = [], hidden = false } = each;
      declare(command.command(name, { hidden }).aliases(aliases), each);
    }
    if (run) command.action(() => run(context, command.opts(), ...command.processedArgs));
    else if (command !== root) {
      const help = command.command('help', { hidden: true }).argument('[command...]');
      help.action(async (words: readonly string[]) => {
        const { showPage } = await import('./cli/help-page.ts');
        await showPage(context, commands, [...pathOf(command), ...words]);
      });
    }
  };
  declare(root, { subcommands: commands });
  return root;
}

function optionOf(declaration: OptionDeclaration, context: Context): Option {
  const { value, setting, repeatable, implies, conflicts } = declaration;
  const [flags, description] = optionTerm(declaration);
  const option = new Option(flags, description).default(defaultOf(declaration));
  if (value) {
    option.argParser<unknown>((text, previous) => {
      const name = option.long ?? flags;
      const parsed = context.parseOption(value, setting, text, name);
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
