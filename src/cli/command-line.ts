// Reads a command line: what it asks for, or what is wrong with it. Start here. The calls:
//
//   readCommandLine
//     readTyped (typed.ts)                   what each word is: it decides help, version and errors
//     CommandTree.parse (commander-tree.ts)  what commander reads: it decides values and what runs
//     findMisreading (typed-checks.ts)       a word that commander would misread
//     outcomeOf                              which of the three counts
//   CommandLine.act                          runs the command; or, of a line that runs none:
//     showPage (help-page.ts, topics.ts)     prints a page of help
//     usageError (usage-error.ts)            says what is wrong, and with guesses.ts what was meant
//
// The line is read twice. Commander parses values, conflicts and implied options, and lays out
// help, but does not say what each word was. typed.ts does, and changes nothing. outcomeOf decides
// which of the two counts.
//
// Commands are declared by command() of declare.ts, in the types of command-types.ts. They return a
// Result, which showResult (result.ts) prints. hints.ts makes a hint of the facts of an error, with
// commands for the profile of the run (hint-commands.ts). suggestions.ts is for completion.

import type { CommanderError } from 'commander';
import { version } from '../../package.json';
import { incompatible } from '../choices.ts';
import type { Context, RunOptions } from '../context.ts';
import type { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { CommandDeclaration, OptionDeclaration, PromisedResult } from './command-types.ts';
import { type CommanderOutcome, CommandTree, type GlobalValues } from './commander-tree.ts';
import { HELP_OPTION, VERSION_OPTION } from './global-options.ts';
import { readTyped, type TypedLine } from './typed.ts';
import { findMisreading } from './typed-checks.ts';

/** What a command line asks for. */
export interface CommandLine extends RunOptions {
  /** Runs the command, or prints help or the version. @throws ImgctlError if the line is wrong */
  act(context: Context): PromisedResult;
}

/** What the line leads to. A misuse gets its message in usage-error.ts. */
type LineOutcome =
  | Exclude<CommanderOutcome, { kind: 'stop' }>
  | { readonly kind: 'version' | 'help' }
  | { readonly kind: 'misuse'; readonly stop: CommanderError | undefined };

/** Parses a command line. It looks at the disk only to see if an odd word is the name of a file. */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly CommandDeclaration[],
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): CommandLine {
  const typed = readTyped(commands, argv);
  const tree = new CommandTree(commands, env);
  const parsed = tree.parse(argv);
  // Even a failed parse has read the options before the error, such as --json.
  const { options, given } = tree.globals();
  const outcome = outcomeOf(typed, findMisreading(typed, cwd), parsed, options);
  if (outcome.kind !== 'run') {
    return { ...options, given, act: (context) => answer(context, outcome, typed, tree) };
  }
  const { needsNoSettings, run, own, args } = outcome;
  return {
    ...options,
    given: new Map([...given, ...own.given]),
    needsNoSettings,
    act: (context) => run(context, own.options, ...args),
  };
}

/**
 * Decides between what was typed and what commander made of it. The first row that applies counts:
 *
 *     images list –n 5                   error: commander would take a typeset dash for a word
 *     images list -n x --version         version
 *     images list --bogus -h, help list  help; also images, which is a group
 *     images list --bogus -n x           misuse: unknown option
 *     images list -n --json 5            misuse: commander would read -n 5
 *     imags list, images lock add        misuse: what commander says
 *     images list -n x                   error: of the value
 *     images list --json -o csv          error: two formats
 *     images list -n 5                   run
 */
function outcomeOf(
  typed: TypedLine,
  misreading: ImgctlError | undefined,
  parsed: CommanderOutcome,
  { json, output }: GlobalValues,
): LineOutcome {
  const isTyped = (each: OptionDeclaration) => typed.words.some(({ option }) => option === each);
  if (misreading) return { kind: 'error', error: misreading };
  if (isTyped(VERSION_OPTION)) return { kind: 'version' };
  const stop = parsed.kind === 'stop' ? parsed.stop : undefined;
  if (isTyped(HELP_OPTION) || typed.path[0] === 'help' || stop?.code === 'commander.help') {
    return { kind: 'help' };
  }
  if (parsed.kind === 'stop' || typed.unknown || typed.withoutValue) {
    return { kind: 'misuse', stop };
  }
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
      return showPage(context, tree, pageNames(typed));
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
 * Returns the names of the page of help:
 *
 *     images list -h, help images list  images list
 *     images -h, images help            images; also help images help
 *     images lst -h                     images lst: help fails, as that is no command
 *     images --bogus lst -h             images: lst may be a secret, the value of --bogus
 *     help, -h                          none: the page of imgctl
 *     help -h, help help                help
 */
function pageNames({ path, args, command, words, unknown }: TypedLine): readonly string[] {
  const names = command.subcommands ? [...path, ...(unknown?.args ?? args)] : path;
  const isOfHelp = names.length === 1 && words.some(({ option }) => option === HELP_OPTION);
  const page = names[0] === 'help' && !isOfHelp ? names.slice(1) : names;
  return page.filter((name, index) => index === 0 || name !== 'help');
}
