// The type of a command, and the options and kinds of values that several commands share.

import type { Context } from '../context.ts';
import { COLOR_CHOICES } from '../output/terminal.ts';
import { FORMATS } from '../output/writers.ts';
import { SETTINGS } from '../session/setting-table.ts';
import { DEFAULT_PROFILE } from '../session/settings.ts';
import type {
  ArgumentDeclaration,
  CommandDeclaration,
  OptionDeclaration,
  Value,
  ValueSource,
} from './declarations.ts';

/** An argument of the command line: an array if it is variadic, undefined if it is optional and missing. */
type Word = string | readonly string[] | undefined;

/** A method, so that each command can type its own options and arguments. */
interface Runner {
  run(context: Context, options: object, ...words: readonly Word[]): Promise<void>;
}

export interface CommandSpec extends CommandDeclaration {
  /** Undefined for a group. */
  readonly run?: Runner['run'];
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

/** Declares a required argument. @param from what completion offers for it */
export function argument(
  name: string,
  description: string,
  from: ValueSource,
): ArgumentDeclaration {
  return { name, description, required: true, value: { kind: 'text', from } };
}

export const METRICS_OPTION = option(
  '--metrics-file <file>',
  'write Prometheus metrics to this *.prom file, even on failure',
);

export const GET_OPTION = option('--get <field>', 'print only this field, one value per line');

export const VERSION_OPTION = option('-V, --version', 'print the version');

export const HELP_OPTION = option('-h, --help', 'show help');

/** Options that every command receives. Most have a setting of the same name, which checks the value again. */
export const GLOBAL_OPTIONS: readonly OptionDeclaration[] = [
  option('--profile <name>', 'use the settings and token of this profile', {
    value: { kind: 'text', from: 'profiles' },
    default: DEFAULT_PROFILE,
    env: 'IMGCTL_PROFILE',
  }),
  option('--base-url <url>', 'address of the service', { env: SETTINGS['base-url'].env }),
  option('-o, --output <format>', 'output format: table, json, ndjson, yaml, csv or tsv', {
    value: { kind: 'choice', noun: 'format', words: FORMATS },
    default: SETTINGS.output.fallback,
    env: SETTINGS.output.env,
  }),
  option('--json', 'same as -o json'),
  option('--timeout <duration>', 'time limit of each request, such as 500ms, 30s, 5m', {
    value: { kind: 'duration', keepText: true },
    default: SETTINGS.timeout.fallback,
    env: SETTINGS.timeout.env,
  }),
  option('--retries <n>', 'retries for requests that are safe to repeat', {
    value: { kind: 'number', min: 0, max: 100, keepText: true },
    default: SETTINGS.retries.fallback,
  }),
  option(
    '--wait-for-token <duration>',
    'if the service allows no login now, wait up to this long',
    {
      value: { kind: 'duration', keepText: true },
    },
  ),
  option('--debug', 'trace requests on stderr, with secrets redacted', { env: 'IMGCTL_DEBUG' }),
  option('--color <when>', 'use colour: auto, always or never', {
    value: { kind: 'choice', noun: 'choice', words: COLOR_CHOICES },
    default: 'auto',
  }),
  option('-q, --quiet', 'print only identifiers, and no progress'),
];

/** Options of every command, as help shows them. */
export const ALL_GLOBAL_OPTIONS = [...GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION];
