// Decides between a command line as typed (typed.ts) and as commander reads it (commander-tree.ts).

import { CommanderError } from 'commander';
import { version } from '../../package.json';
import { incompatible } from '../choices.ts';
import type { Context, RunOptions } from '../context.ts';
import { attempt } from '../errors.ts';
import type { Io } from '../io.ts';
import type { CommandDeclaration, OptionDeclaration, PromisedResult } from './command-types.ts';
import { type CommanderOutcome, CommandTree, type GlobalValues } from './commander-tree.ts';
import { HELP_OPTION, VERSION_OPTION } from './global-options.ts';
import { checkTyped, readTyped, type TypedLine } from './typed.ts';

/** What a command line asks for. */
export interface CommandLine extends RunOptions {
  /** Runs the command, or prints help or the version. @throws ImgctlError if the line is wrong */
  act(context: Context): PromisedResult;
}

/** What the line leads to. A misuse gets its message in usage-error.ts. */
type LineOutcome =
  | CommanderOutcome
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
  const { options, given } = tree.globals();
  const outcome = outcomeOf(typed, misread, parsed, options);
  if (outcome.kind !== 'run') {
    return { ...options, given, act: (context) => answer(context, outcome, typed, tree) };
  }
  const { needsNoSettings, run, own, words } = outcome;
  return {
    ...options,
    given: new Map([...given, ...own.given]),
    needsNoSettings,
    act: (context) => run(context, own.options, ...words),
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
  parsed: CommanderOutcome,
  { json, output }: GlobalValues,
): LineOutcome {
  const isTyped = (each: OptionDeclaration) => typed.words.some(({ option }) => option === each);
  const error = parsed.kind === 'error' ? parsed.error : undefined;
  const stop = error instanceof CommanderError ? error : undefined;
  if (misread) return { kind: 'error', error: misread };
  // Commander takes it for a flag even where another option wants a value.
  const isVersion = isTyped(VERSION_OPTION) || stop?.code === 'commander.version';
  if (isVersion) return { kind: 'version' };
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
 * `images` for `images help`, none for the page of imgctl. Behind a group, any word is a name: help
 * has an error for one that is no command.
 */
function pageAsked({ path, args, command, words, unknown }: TypedLine): readonly string[] {
  // The value of an unknown option may be a secret, and is among the arguments.
  const names = command.subcommands && !unknown ? [...path, ...args] : path;
  if (names[0] !== 'help') return names.filter((name) => name !== 'help');
  const isOfHelp = names.length === 1 && words.some(({ option }) => option === HELP_OPTION);
  return isOfHelp ? names : names.slice(1);
}
