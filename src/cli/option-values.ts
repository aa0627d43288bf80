// What a command receives for its options and arguments: names, types and defaults.

import { Option } from 'commander';
import type { Value } from '../config/values.ts';
import type { ArgumentDeclaration, OptionDeclaration } from './command-types.ts';

/** The name without dashes; that of `--no-header` is `header`. */
type LongName<Flags> = Flags extends `${string}--no-${infer Name}`
  ? Name
  : Flags extends `${string}--${infer Name} <${string}`
    ? Name
    : Flags extends `${string}--${infer Name}`
      ? Name
      : never;

/** `per-page` is `perPage`. */
type CamelCase<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type NameOf<Option extends OptionDeclaration> = CamelCase<LongName<Option['flags']>> & string;

type ValueOf<Declared> = Declared extends { readonly value: Value<infer Parsed> } ? Parsed : string;

type OptionValue<Option extends OptionDeclaration> = Option extends { readonly repeatable: true }
  ? readonly ValueOf<Option>[]
  : Option['flags'] extends `${string}<${string}`
    ? ValueOf<Option>
    : boolean;

/** A variable or a setting has its own default. */
type WithDefault =
  | { readonly default: string; readonly env?: never; readonly setting?: never }
  | { readonly flags: `--no-${string}` };

type Defaults<Options extends readonly OptionDeclaration[]> = {
  readonly [Option in Extract<Options[number], WithDefault> as NameOf<Option>]: OptionValue<Option>;
};

/** `{ limit?: number; mine?: boolean; file: string }`, if only --file has a default here. */
export type Parsed<Options extends readonly OptionDeclaration[]> = Defaults<Options> & {
  readonly [Option in Exclude<
    Options[number],
    WithDefault
  > as NameOf<Option>]?: OptionValue<Option>;
};

/** The arguments as a command receives them: several if variadic, undefined if missing. */
export type ArgumentValues<Arguments extends readonly ArgumentDeclaration[]> = {
  [Index in keyof Arguments]: Arguments[Index] extends { readonly variadic: true }
    ? readonly string[]
    : Arguments[Index] extends { readonly required: true }
      ? string
      : string | undefined;
};

/** Returns the value of an option that is not given; undefined if a variable or setting decides. */
export function defaultOf(option: OptionDeclaration) {
  const { flags, value, default: text } = option;
  if (flags.startsWith('--no-')) return true;
  if (value === undefined || text === undefined || option.env || option.setting) return undefined;
  const parsed = value.parse(text, flags);
  return option.repeatable ? [parsed] : parsed;
}

/** Returns the name of an option as a command receives it. */
export function optionName({ flags }: OptionDeclaration): string {
  return new Option(flags).attributeName();
}

export function defaultsOf<const Options extends readonly OptionDeclaration[]>(options: Options) {
  const values = options.map((option) => [optionName(option), defaultOf(option)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Defaults<Options>;
}
