// What the program declares about its commands: help, man pages, docs and completion read these fields.

/** A block of help: a paragraph, terms with their meaning, commands for a shell, or lines shown as they are. */
export type Block =
  | string
  | { readonly terms: readonly (readonly [term: string, meaning: string])[] }
  | { readonly shell: readonly string[]; readonly language?: 'powershell' }
  | { readonly lines: readonly string[] };

/** Where completion finds the values that are not a fixed choice. */
export type ValueSource =
  | 'api-paths'
  | 'columns'
  | 'commands'
  | 'files'
  | 'filters'
  | 'folders'
  | 'images'
  | 'methods'
  | 'profiles'
  | 'setting-keys'
  | 'setting-values'
  | 'sorts'
  | 'sync-ids';

/** The kind of a value, checked before the command runs. Numbers are parsed, durations become milliseconds. */
export type Value =
  | { readonly kind: 'text'; readonly from?: ValueSource }
  | { readonly kind: 'number'; readonly min: number; readonly max?: number }
  | { readonly kind: 'duration'; readonly keepText?: boolean; readonly maxDays?: number }
  | {
      readonly kind: 'choice';
      readonly noun: string;
      readonly words: readonly string[];
      /** Words of other tools, each with the word to suggest for it. */
      readonly synonyms?: ReadonlyMap<string, string>;
    };

export interface ArgumentDeclaration {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly value?: Value;
}

export interface OptionDeclaration {
  /** `-o, --output <format>` */
  readonly flags: string;
  /** With the default in brackets. */
  readonly description: string;
  /** Undefined if the option takes no value. */
  readonly value?: Value;
  readonly repeatable?: boolean;
  /** Names of options, as the command receives them. */
  readonly implies?: Readonly<Record<string, boolean>>;
  readonly conflicts?: readonly string[];
}

export interface CommandDeclaration {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** A verb in the imperative, lower case, no full stop, at most 60 characters. */
  readonly summary: string;
  readonly description?: readonly Block[];
  /** Shell lines, without a prompt. */
  readonly examples: readonly string[];
  /** Commands and topics, as typed after `imgctl`. */
  readonly seeAlso?: readonly string[];
  readonly arguments?: readonly ArgumentDeclaration[];
  readonly options?: readonly OptionDeclaration[];
  /** True for a command that only programs use; no help lists it. */
  readonly hidden?: boolean;
  readonly subcommands?: readonly CommandDeclaration[];
}

/** The program as its own commands see it. */
export interface ProgramDeclaration {
  readonly commands: readonly CommandDeclaration[];
  /** Options of every command. */
  readonly options: readonly OptionDeclaration[];
}

/** `<id...>` or `[id...]`. */
export function argumentTerm({ name, required, variadic }: ArgumentDeclaration): string {
  const text = variadic ? `${name}...` : name;
  return required ? `<${text}>` : `[${text}]`;
}
