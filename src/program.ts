// Runs a command line: parses it with commander, runs its command, and shows help.

import { type Command, CommanderError } from 'commander';
import { version } from '../package.json';
import type { CommandSpec } from './cli/spec.ts';
import { buildTree, pathOf } from './cli/tree.ts';
import { images } from './commands/image-commands.ts';
import type { Context, GlobalOptions } from './context.ts';

/** Runs a command line. @throws ImgctlError, also for the errors that commander finds */
export async function execute(argv: readonly string[], context: Context): Promise<void> {
  const words = helpLast(argv);
  let ended: Command | undefined;
  const commands = await declareCommands(words[0]);
  const root = buildTree(context, commands, (command) => {
    ended = command;
  });
  const useOptions = () => context.useOptions(root.opts<GlobalOptions>());
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
      const isOption = (word: string) => word.startsWith('-');
      const { showPage } = await import('./cli/help-page.ts');
      await showPage(context, [...pathOf(ended), ...below.filter((word) => !isOption(word))]);
    }
  }
  await context.console.settle();
}

/** A command line that begins with `images`, as most do, needs no other command. */
async function declareCommands(first: string | undefined): Promise<readonly CommandSpec[]> {
  if (first === images.name) return [images];
  const { ROOT } = await import('./commands/index.ts');
  return ROOT.subcommands ?? [];
}

/** Moves -h behind the command it belongs to: `imgctl -h images list` is `imgctl images list -h`. */
function helpLast(argv: readonly string[]): readonly string[] {
  const isHelpFlag = (word: string) => word === '-h' || word === '--help';
  if (!isHelpFlag(argv[0] ?? '')) return argv;
  const rest = argv.filter((word) => !isHelpFlag(word));
  return [...rest, '--help'];
}
