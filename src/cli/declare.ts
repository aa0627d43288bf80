// How commands, their options and their arguments are declared.

import { SETTINGS, type SettingDefinition, type SettingKey } from '../config/definitions.ts';
import { anyText, type Hints } from '../config/values.ts';
import type { Context } from '../context.ts';
import type {
  ArgumentDeclaration,
  CommandDeclaration,
  OptionDeclaration,
  PromisedResult,
} from './command-types.ts';
import type { ArgumentValues, Parsed } from './option-values.ts';

export type { Parsed } from './option-values.ts';

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
      ...args: ArgumentValues<Arguments>
    ) => PromisedResult;
  },
): CommandDeclaration {
  return declared;
}

/** Exit codes of every command that sends requests: network, login, not found, rate limit. */
export const SERVICE_CODES: readonly number[] = [3, 4, 5, 6];

type TextHints = Omit<Hints, 'mayBePath'>;
type Details<Declaration> = Omit<Declaration, 'flags' | 'name' | 'description'> & TextHints;

/**
 * Declares an option, such as `option('--limit <n>', 'maximum number', { value: wholeNumber(1) })`.
 * Without a `value` it takes any text; without `<n>` it takes none.
 */
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
  // The type of its value, with what only some rows have.
  const definition: SettingDefinition & Pick<(typeof SETTINGS)[Key], 'value'> = SETTINGS[setting];
  const { value, fallback } = definition;
  return { flags, description, value, default: fallback, setting };
}

/** Of all commands that print records. */
export const GET_OPTION = option('--get <field>', 'print only this field');
