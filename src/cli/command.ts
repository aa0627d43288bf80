// Declares commands, their options and arguments, and the options of every command.

import { DEFAULT_PROFILE } from '../config/config-file.ts';
import { SETTINGS, type SettingDefinition, type SettingKey } from '../config/definitions.ts';
import { anyText, choice, type Hints } from '../config/values.ts';
import type { Context } from '../context.ts';
import { FORMAT_LIST } from '../output/formats.ts';
import { COLOR_CHOICES } from '../output/terminal.ts';
import type {
  ArgumentDeclaration,
  CommandDeclaration,
  OptionDeclaration,
  Outcome,
  Parsed,
  Words,
} from './declarations.ts';
import { suggestProfiles } from './suggestions.ts';

export type { Parsed } from './declarations.ts';

/** Declares a command, whose `run` receives what its options and arguments declare. */
export function command<
  const Options extends readonly OptionDeclaration[] = [],
  const Arguments extends readonly ArgumentDeclaration[] = [],
>(
  declared: Omit<CommandDeclaration, 'run'> & {
    readonly options?: Options;
    readonly arguments?: Arguments;
    readonly run: (
      context: Context,
      options: Parsed<Options>,
      ...words: Words<Arguments>
    ) => Outcome;
  },
): CommandDeclaration {
  return declared;
}

/** Exit codes of every command that sends requests: network, login, not found, rate limit. */
export const SERVICE_CODES: readonly number[] = [3, 4, 5, 6];

type TextHints = Omit<Hints, 'mayBePath'>;
type Details<Declaration> = Omit<Declaration, 'flags' | 'name' | 'description'> & TextHints;

/** Declares an option. Its value is any text, unless `more` has another kind of value. */
export function option<
  const Flags extends string,
  const More extends Details<OptionDeclaration> = object,
>(
  flags: Flags,
  description: string,
  more = {} as More,
): { readonly flags: Flags; readonly description: string } & More {
  return { flags, description, ...(flags.includes('<') && textHints(more)), ...more };
}

function textHints({ from, listed, suggested }: TextHints) {
  return { value: anyText({ from, listed, suggested }) };
}

/** Declares an argument, likewise. */
export function argument<const More extends Details<ArgumentDeclaration>>(
  name: string,
  description: string,
  more: More,
): { readonly name: string; readonly description: string } & More {
  return { name, description, ...textHints(more), ...more };
}

/** Declares an option that overrides a setting, whose row says how its value is parsed. */
export function settingOption<const Flags extends string, const Key extends SettingKey>(
  flags: Flags,
  setting: Key,
  description: string = SETTINGS[setting].summary,
) {
  const definition: SettingDefinition & Pick<(typeof SETTINGS)[Key], 'value'> = SETTINGS[setting];
  const { value, fallback } = definition;
  return { flags, description, value, default: fallback, setting };
}

export const GET_OPTION = option('--get <field>', 'print only this field');

export const VERSION_OPTION = option('-V, --version', 'print the version');

export const HELP_OPTION = option('-h, --help', 'show help');

export const BASE_URL_OPTION = settingOption('--base-url <url>', 'base-url');

export const GLOBAL_OPTIONS = [
  option('--profile <name>', 'use the settings and token of this profile', {
    suggest: suggestProfiles,
    default: DEFAULT_PROFILE,
    env: 'IMGCTL_PROFILE',
  }),
  BASE_URL_OPTION,
  settingOption('-o, --output <format>', 'output', `output format: ${FORMAT_LIST}`),
  option('--json', 'same as -o json'),
  settingOption(
    '--timeout <duration>',
    'timeout',
    'time limit of each request, such as 500ms, 30s, 5m',
  ),
  settingOption('--retries <n>', 'retries'),
  settingOption(
    '--wait-for-token <duration>',
    'wait-for-token',
    'if the service allows no login now, wait up to this long',
  ),
  option('--debug', 'trace requests on stderr, with secrets redacted', { env: 'IMGCTL_DEBUG' }),
  option('--color <when>', 'use colour: auto, always or never', {
    value: choice('choice', COLOR_CHOICES),
    default: 'auto',
  }),
  option('-q, --quiet', 'print only identifiers, and no progress'),
] as const;

/** Options of every command, as help shows them. */
export const ALL_GLOBAL_OPTIONS: readonly OptionDeclaration[] = [
  ...GLOBAL_OPTIONS,
  HELP_OPTION,
  VERSION_OPTION,
];
