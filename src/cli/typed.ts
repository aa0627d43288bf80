// The command line as it was typed: what each word is.

import {
  type CommandDeclaration,
  commandNames,
  findOption,
  listedCommands,
  type OptionDeclaration,
  rootCommand,
} from './command-types.ts';
import { ALL_GLOBAL_OPTIONS, HELP_OPTION } from './global-options.ts';

/** A word before `--`, or a part of it: `--filter=a` is an option and a value. */
export interface TypedWord {
  readonly kind: 'command' | 'argument' | 'option' | 'value' | 'unknown';
  readonly text: string;
  /** The option that the word names, or whose value it is; undefined for an unknown one. */
  readonly option?: OptionDeclaration | undefined;
}

/**
 *     --bogus, -x        unknown
 *     -limit, -limit=5   one-dash: it means --limit, and not -l with the value imit
 *     '--limit 5'        one-word
 *     --mine=1, -q=true  needless-value
 *     -u=alice           equals-sign: commander would read the value =alice
 */
type WhyUnknown = 'unknown' | 'one-dash' | 'one-word' | 'needless-value' | 'equals-sign';

/** The first option that its command does not have, or does not take in the typed form. */
export interface UnknownOption {
  readonly why: WhyUnknown;
  /** The option without what may be a secret: `-p` of `-phunter2`, `--limit` of `--limit=5`. */
  readonly flag: string;
  /** The command and what else was read before it. */
  readonly command: CommandDeclaration;
  readonly path: readonly string[];
  readonly options: readonly OptionDeclaration[];
  readonly args: readonly string[];
}

/**
 * Tells options, their values and arguments apart as commander does, but refuses nothing.
 * `images list -qn5 web` is the commands images and list, the options -q and -n, the value 5 of -n
 * and the argument web.
 * @param topics that `imgctl help` takes besides commands
 */
export function readTyped(
  commands: readonly CommandDeclaration[],
  argv: readonly string[],
  topics: readonly CommandDeclaration[] = [],
): TypedLine {
  const line = new LineReader(commands, topics);
  for (const word of argv) line.read(word);
  return line;
}

/** Commander takes it for an argument. */
const NEGATIVE_NUMBER = /^-(\d+|\d*\.\d+)(e[+-]?\d+)?$/;

/** The line as far as it was read. A test compares its arguments with those of commander. */
class LineReader {
  /** The command that is named, or imgctl itself. */
  command: CommandDeclaration;
  /** The names that lead to the command, without aliases. */
  readonly path: string[] = [];
  /** The options that can be given for the command. */
  options = ALL_GLOBAL_OPTIONS;
  readonly words: TypedWord[] = [];
  /** The arguments of the command, also those after `--`. */
  readonly args: string[] = [];
  unknown: UnknownOption | undefined;
  /** The option that is followed by another one instead of its value: -n of `-n --json`. */
  withoutValue: OptionDeclaration | undefined;
  /** The option whose value would come next, at the end of the line. */
  pending: OptionDeclaration | undefined;
  /** True after `--`. */
  isEnded = false;
  readonly #pages: CommandDeclaration;

  constructor(commands: readonly CommandDeclaration[], topics: readonly CommandDeclaration[]) {
    this.command = rootCommand(commands);
    this.#pages = rootCommand([...commands, ...topics]);
  }

  read(word: string): void {
    const { pending } = this;
    this.pending = undefined;
    if (this.isEnded) this.#readName(word);
    else if (pending && isValueOf(pending, word)) this.#add('value', word, pending);
    else {
      this.withoutValue ??= pending;
      this.#readNext(word);
    }
  }

  /** Reads a word that is not the value of the option before it. */
  #readNext(word: string): void {
    if (word === '--') this.isEnded = true;
    else if (word.startsWith('--')) this.#readLong(word);
    else if (word.startsWith('-') && word !== '-' && !NEGATIVE_NUMBER.test(word))
      this.#readCluster(word);
    else this.#add(this.#readName(word), word);
  }

  /** Reads `--limit` or `--limit=5`. */
  #readLong(word: string): void {
    const [flag, value] = splitLongOption(word);
    const option = findOption(this.options, flag);
    if (option && (option.value || value === undefined)) {
      this.#addOption(option, flag, value);
      return;
    }
    const [start = flag] = flag.split(/\s/, 1);
    if (option) this.#addUnknown('needless-value', flag, flag);
    else if (findOption(this.options, start)?.value) this.#addUnknown('one-word', start, flag);
    else this.#addUnknown('unknown', start, flag);
    if (value !== undefined) this.#add('value', value);
  }

  /** Reads one or several options with one dash: `-n`, `-n5`, or `-qn5`, which is -q and -n5. */
  #readCluster(word: string): void {
    const flag = word.slice(0, 2);
    const more = word.slice(2);
    const option = findOption(this.options, flag);
    const [name = word] = word.split('=', 1);
    if (findOption(this.options, `-${name}`)) this.#addUnknown('one-dash', name, word);
    else if (!option) this.#addUnknown('unknown', flag.trim(), word);
    else if (more.startsWith('=')) {
      this.#addUnknown(option.value ? 'equals-sign' : 'needless-value', flag, word);
    } else if (option.value) this.#addOption(option, flag, more || undefined);
    else {
      this.#addOption(option, flag);
      if (more) this.#readCluster(`-${more}`);
    }
  }

  /** Reads the name of a command, or an argument: also after `--`, as commander does. */
  #readName(word: string): 'command' | 'argument' {
    const found = followersOf(this).find((each) => commandNames(each).includes(word));
    if (!found) {
      this.args.push(word);
      return 'argument';
    }
    this.path.push(found.name);
    this.command = found.name === 'help' ? this.#pages : found;
    this.options = [...new Set([...(found.options ?? []), ...ALL_GLOBAL_OPTIONS])];
    return 'command';
  }

  #addOption(option: OptionDeclaration, flag: string, value?: string): void {
    this.#add('option', flag, option);
    if (value !== undefined) this.#add('value', value, option);
    else if (option.value) this.pending = option;
  }

  #addUnknown(why: WhyUnknown, flag: string, word: string): void {
    if (!this.unknown) {
      const { command, options, path, args } = this;
      this.unknown = { why, flag, command, options, path: [...path], args: [...args] };
    }
    this.#add('unknown', word);
  }

  #add(kind: TypedWord['kind'], text: string, option?: OptionDeclaration): void {
    this.words.push({ kind, text, option });
  }
}

export type TypedLine = Readonly<Omit<LineReader, 'read'>>;

/**
 * True if commander takes the word for the value of the option before it.
 *
 *     --filter -x, --filter --mine   true: it is not looked at
 *     --profile --json               true: imgctl's own options are looked for first, in order
 *     --filter --json, --filter -qx  false: for the same reason
 *     --filter --help                true: commander looks for this one last
 *     --filter --                    false: imgctl itself would take -- for the end of options
 */
function isValueOf(pending: OptionDeclaration, word: string): boolean {
  if (ALL_GLOBAL_OPTIONS.includes(pending)) return true;
  const flag = word.startsWith('--') ? splitLongOption(word)[0] : word.slice(0, 2);
  const option = findOption(ALL_GLOBAL_OPTIONS, flag);
  return word !== '--' && (option === undefined || option === HELP_OPTION);
}

/** Returns the commands that can follow. */
export function followersOf({ command, args }: TypedLine): readonly CommandDeclaration[] {
  return args.length > 0 ? [] : listedCommands(command);
}

/** Splits `--output=json`. */
export function splitLongOption(word: string): [flag: string, value: string | undefined] {
  const [, flag = word, value] = /^(--[^=]*)=(.*)/s.exec(word) ?? [];
  return [flag, value];
}
