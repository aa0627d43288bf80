// What the program declares about its commands, for help, man pages, docs and completion.

import type { SettingKey } from '../config/definitions.ts';
import type { Value } from '../config/values.ts';
import type { Context } from '../context.ts';
import type { Column } from '../output/columns.ts';
import type { Result } from './result.ts';
import type { Suggest } from './suggestions.ts';

export type Term = readonly [term: string, meaning: string];

/** A block of help: a paragraph, terms with meanings, shell commands, or lines as they are. */
export type Block =
  | string
  | { readonly terms: readonly Term[] }
  | { readonly shell: readonly string[]; readonly language?: 'powershell' }
  | { readonly lines: readonly string[] };

export const terms = (...rows: readonly Term[]): Block => ({ terms: rows });
export const shell = (...commands: readonly string[]): Block => ({ shell: commands });
export const lines = (...texts: readonly string[]): Block => ({ lines: texts });

export interface ArgumentDeclaration {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  /** Says what completion offers. The command receives a text, and parses it itself. */
  readonly value?: Value;
  /** What completion offers, if it is not what the value says. */
  readonly suggest?: Suggest;
}

export interface OptionDeclaration {
  /** `-o, --output <format>` */
  readonly flags: string;
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly value?: Value;
  /** What completion offers, if it is not what the value says. */
  readonly suggest?: Suggest;
  /** The value if the option is not given, as typed; help adds it in brackets. */
  readonly default?: string | undefined;
  readonly env?: string | undefined;
  readonly setting?: SettingKey;
  readonly repeatable?: boolean;
  /** Names of options, as the command receives them. */
  readonly implies?: Readonly<Record<string, boolean>>;
  readonly conflicts?: readonly string[];
}

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

export type Parsed<Options extends readonly OptionDeclaration[]> = Defaults<Options> & {
  readonly [Option in Exclude<
    Options[number],
    WithDefault
  > as NameOf<Option>]?: OptionValue<Option>;
};

/** The arguments as a command receives them: several if variadic, undefined if missing. */
export type Words<Arguments extends readonly ArgumentDeclaration[]> = {
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
  const [, name = ''] = /--(?:no-)?([\w-]+)/.exec(flags) ?? [];
  return name.replace(/-./g, ([, letter = '']) => letter.toUpperCase());
}

export function defaultsOf<const Options extends readonly OptionDeclaration[]>(options: Options) {
  const values = options.map((option) => [optionName(option), defaultOf(option)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Defaults<Options>;
}

/** The group of commands that the overview does not list. */
export const UNLISTED = '';

/** What a command returns; nothing if it prints nothing. */
export type Outcome = Promise<Result | undefined> | Promise<void>;

/** A command, or a group of commands. */
export interface CommandDeclaration {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Names that other programs teach. They work, but neither help nor completion shows them. */
  readonly otherNames?: readonly string[];
  /** The heading of the overview that lists it. */
  readonly group?: string;
  /** A verb in the imperative, lower case, no full stop, at most 60 characters. */
  readonly summary: string;
  readonly description?: readonly Block[];
  /** More description, below the options, so that the examples stay on the first screen. */
  readonly details?: readonly Block[];
  /** Shell lines, without a prompt. */
  readonly examples: readonly string[];
  /** Commands and topics, as typed after `imgctl`. */
  readonly seeAlso?: readonly string[];
  readonly arguments?: readonly ArgumentDeclaration[];
  readonly options?: readonly OptionDeclaration[];
  /** The fields of each record that it prints with --json; undefined if it prints no JSON. */
  readonly fields?: readonly Column[];
  /** Exit codes besides 0, 1, 2 and those of signals, which any command can have. */
  readonly exitCodes?: readonly number[];
  /** True if it works without settings: if they cannot be read, it warns. */
  readonly needsNoSettings?: boolean;
  /** True for a command that only programs use; no help lists it. */
  readonly hidden?: boolean;
  /** Undefined for a group. It is a method, so that one type holds all commands. */
  run?(context: Context, options: object, ...words: readonly unknown[]): Outcome;
  readonly subcommands?: readonly CommandDeclaration[];
}

/** Returns the flags, and the description with the default in brackets. */
export function optionTerm(option: OptionDeclaration): [flags: string, meaning: string] {
  const { flags, description, default: value } = option;
  return [flags, value === undefined ? description : `${description} (${value})`];
}

/** Any command can succeed, fail, be misused and be ended by a signal. */
const COMMON_EXIT_CODES = [0, 1, 2, 129, 130, 131, 143];

export function exitCodesOf({ exitCodes = [] }: CommandDeclaration): number[] {
  return [...COMMON_EXIT_CODES, ...exitCodes].sort((left, right) => left - right);
}

/** `<id...>` or `[id...]`. */
export function argumentTerm({ name, required, variadic }: ArgumentDeclaration): string {
  const text = variadic ? `${name}...` : name;
  return required ? `<${text}>` : `[${text}]`;
}

/** `['-o', '--output']` */
export function flagsOf({ flags }: Pick<OptionDeclaration, 'flags'>): readonly string[] {
  return (flags.split(' <')[0] ?? '').split(', ');
}

/** `--output` */
export function longFlag(option: OptionDeclaration): string {
  return flagsOf(option).at(-1) ?? '';
}

/** All names that a command can be typed with. */
export function commandNames(declaration: CommandDeclaration): readonly string[] {
  const { name, aliases = [], otherNames = [] } = declaration;
  return [name, ...aliases, ...otherNames];
}

export function findSubcommand(
  { subcommands = [] }: Partial<CommandDeclaration>,
  name: string,
): CommandDeclaration | undefined {
  return subcommands.find((each) => commandNames(each).includes(name));
}

/** True if the command searches images for words. */
export function takesSearchWords(command: Partial<CommandDeclaration>): boolean {
  return command.arguments?.some(({ name }) => name === 'text') ?? false;
}
