// What is declared about commands, for the parser, help, man pages, docs and completion.

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
export const meanings = (rows: Readonly<Record<string, string>>): Block =>
  terms(...Object.entries(rows));
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
  /** The variable to read if the option is not given. `default` is then only shown in help. */
  readonly env?: string | undefined;
  readonly setting?: SettingKey;
  readonly repeatable?: boolean;
  /** Names of options, as the command receives them. */
  readonly implies?: Readonly<Record<string, boolean>>;
  readonly conflicts?: readonly string[];
}

/** The group of commands that the overview does not list. */
export const UNLISTED = '';

/** What a command returns: the promise of a result, or of nothing if it prints nothing. */
export type PromisedResult = Promise<Result | undefined> | Promise<void>;

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
  run?(context: Context, options: object, ...args: readonly unknown[]): PromisedResult;
  readonly subcommands?: readonly CommandDeclaration[];
}

/** Returns imgctl itself, the group of these commands. */
export function rootCommand(subcommands: readonly CommandDeclaration[]): CommandDeclaration {
  return {
    name: 'imgctl',
    summary: '',
    description: ['Lists, checks and uploads the OVA and OVF images of a deployment service.'],
    examples: ['imgctl login', 'imgctl images latest ubuntu server', 'imgctl push appliance.ova'],
    subcommands,
  };
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
export function flagsOf({ flags }: OptionDeclaration): readonly string[] {
  return (flags.split(' <')[0] ?? '').split(', ');
}

/** `--output` */
export function longFlag(option: OptionDeclaration): string {
  return flagsOf(option).at(-1) ?? '';
}

export function findOption(options: readonly OptionDeclaration[], flag: string) {
  return options.find((each) => flagsOf(each).includes(flag));
}

/** All names that a command can be typed with. */
export function commandNames(declaration: CommandDeclaration): readonly string[] {
  const { name, aliases = [], otherNames = [] } = declaration;
  return [name, ...aliases, ...otherNames];
}

export function listedCommands(group: CommandDeclaration): readonly CommandDeclaration[] {
  return (group.subcommands ?? []).filter(({ hidden }) => !hidden);
}

export function findSubcommand(group: CommandDeclaration, name: string) {
  return group.subcommands?.find((each) => commandNames(each).includes(name));
}

/** True if the command searches images for words. */
export function takesSearchWords(command: CommandDeclaration): boolean {
  return command.arguments?.some(({ name }) => name === 'text') ?? false;
}
