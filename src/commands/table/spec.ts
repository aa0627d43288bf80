// The type of a command in the table, and the kinds of values that several commands share.

import type { Context } from '../../context.ts';
import type { CommandDeclaration, OptionDeclaration, Value } from '../../declarations.ts';

/** An argument of the command line: an array if it is variadic, undefined if it is optional and missing. */
type Word = string | readonly string[] | undefined;

/** A method, so that each command can type its own options and arguments. */
interface Runner {
  run(context: Context, options: object, ...words: readonly Word[]): Promise<void>;
}

export interface CommandSpec extends CommandDeclaration {
  /** Loads the function that runs the command; undefined for a group. */
  readonly load?: () => Promise<Runner['run']>;
  readonly subcommands?: readonly CommandSpec[];
}

/** Exit codes of every command that sends requests: network, login, not found, rate limit. */
export const SERVICE_CODES: readonly number[] = [3, 4, 5, 6];

export const DURATION = { kind: 'duration' } as const satisfies Value;

/** Declares an option. If it takes a value, that is any text unless `more` says otherwise. */
export function option(
  flags: string,
  description: string,
  more: Omit<OptionDeclaration, 'flags' | 'description'> = {},
): OptionDeclaration {
  const value: Value | undefined = flags.includes('<') ? { kind: 'text' } : undefined;
  return { flags, description, ...(value && { value }), ...more };
}

export const METRICS_OPTION = option(
  '--metrics-file <file>',
  'write metrics for Prometheus to this file, also on failure; node_exporter reads only *.prom',
);

export const GET_OPTION = option('--get <field>', 'print only the bare value of this field');
