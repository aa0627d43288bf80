// A command with what runs it, and the kinds of values that several commands share.

import type { Context } from '../../context.ts';
import type { CommandDeclaration, Value } from '../../declarations.ts';

/** An argument of the command line: a word, several for a variadic one, none for an optional one. */
type Word = string | readonly string[] | undefined;

/** A method, so that each command can name its own options and arguments. */
interface Runner {
  run(context: Context, options: object, ...words: readonly Word[]): Promise<void>;
}

export interface CommandSpec extends CommandDeclaration {
  /** Loads what runs the command; a group has none. */
  readonly load?: () => Promise<Runner['run']>;
  readonly subcommands?: readonly CommandSpec[];
}

export const TEXT = { kind: 'text' } as const satisfies Value;
export const DURATION = { kind: 'duration' } as const satisfies Value;
