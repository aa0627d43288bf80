// The command line as it was typed: what each word is, and what commander would misread.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { FIELDS } from '../query/fields.ts';
import { shellQuote } from '../words.ts';
import {
  type CommandDeclaration,
  commandNames,
  flagsOf,
  longFlag,
  type OptionDeclaration,
  takesSearchWords,
} from './command-types.ts';
import { ALL_GLOBAL_OPTIONS } from './global-options.ts';

/** A word before `--`, or a part of it: `--filter=a` is an option and a value. */
export interface TypedWord {
  readonly kind: 'command' | 'argument' | 'option' | 'value' | 'unknown';
  readonly text: string;
  /** The option that the word names, or whose value it is; undefined for an unknown one. */
  readonly option?: OptionDeclaration | undefined;
  /**
   * True if a hint may repeat the word. It has only characters of names, paths and numbers, unlike
   * `alice:pw` and `https://alice:pw@host`, and is not behind a name such as `password`.
   */
  readonly mayShow: boolean;
}

/** `web.ova`, `22.04`, `/v2/image` */
const PLAIN = /^[\p{L}\p{N}/][\p{L}\p{N}._,/ -]{0,59}$/u;
/** `password`, `--token`, `store-key` */
const NAME_OF_SECRET = /(?:^|-)(?:pass(?:word|phrase|wd)?|token|secret|key)$/i;

/** The first option that its command does not have, or with a value that it does not take. */
export interface UnknownOption {
  /** Its index in the words. */
  readonly index: number;
  /** What was known of the line before it. */
  readonly command: Partial<CommandDeclaration>;
  readonly path: readonly string[];
  readonly options: readonly OptionDeclaration[];
}

export interface TypedLine {
  /** The command that is named, or the root. */
  readonly command: Partial<CommandDeclaration>;
  /** The names that lead to the command, without aliases. */
  readonly path: readonly string[];
  /** The options that can be given for the command. */
  readonly options: readonly OptionDeclaration[];
  readonly words: readonly TypedWord[];
  readonly unknown: UnknownOption | undefined;
  /** The arguments of the command, also those behind `--`. */
  readonly args: readonly string[];
  /** The option whose value comes next. */
  readonly pending: OptionDeclaration | undefined;
  /** True behind `--`. */
  readonly isEnded: boolean;
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

/**
 * Must agree with commander, which parses the line again and decides what runs. A word that is read
 * differently here gets a wrong hint or page of help, or is refused: `outcomeOf` compares the two.
 */
class LineReader implements TypedLine {
  command: Partial<CommandDeclaration>;
  options = ALL_GLOBAL_OPTIONS;
  pending: OptionDeclaration | undefined;
  unknown: UnknownOption | undefined;
  isEnded = false;
  readonly path: string[] = [];
  readonly words: TypedWord[] = [];
  readonly args: string[] = [];
  readonly #help: Partial<CommandDeclaration>;

  constructor(commands: readonly CommandDeclaration[], topics: readonly CommandDeclaration[]) {
    this.command = { subcommands: commands };
    this.#help = { subcommands: [...commands, ...topics] };
  }

  read(word: string): void {
    if (this.isEnded) this.args.push(word);
    else if (this.pending) {
      this.#add('value', word, this.pending);
      this.pending = undefined;
    } else if (word === '--') this.isEnded = true;
    else if (word.startsWith('--')) this.#readLong(word);
    else if (/^-./.test(word) && !NEGATIVE_NUMBER.test(word)) this.#readCluster(word);
    else this.#readArgument(word);
  }

  #add(kind: TypedWord['kind'], text: string, option?: OptionDeclaration): void {
    const mayShow = PLAIN.test(text) && !NAME_OF_SECRET.test(this.words.at(-1)?.text ?? '');
    this.words.push({ kind, text, option, mayShow });
  }

  #optionOf(flag: string): OptionDeclaration | undefined {
    return this.options.find((each) => flagsOf(each).includes(flag));
  }

  /** Reads `--limit` or `--limit=5`. */
  #readLong(word: string): void {
    const [flag, value] = divide(word);
    const option = this.#optionOf(flag);
    if (option && (option.value || value === undefined)) this.#addOption(option, flag, value);
    else this.#addUnknown(flag, value);
  }

  /**
   * Reads one or several options with one dash.
   *
   *     -n5      the option -n and its value 5
   *     -qn5     the option -q, then -n5
   *     -limit   unknown: it means --limit, and not -l with the value imit
   *     -q=true  unknown: -q takes no value
   */
  #readCluster(word: string): void {
    const option = this.#optionOf(word.slice(0, 2));
    const more = word.slice(2);
    const isLong = this.#optionOf(`-${word.replace(/=.*/s, '')}`) !== undefined;
    const isValueForbidden = more.startsWith('=') && !option?.value;
    if (!option || isLong || isValueForbidden) this.#addUnknown(word);
    else if (option.value) this.#addOption(option, word.slice(0, 2), more || undefined);
    else {
      this.#addOption(option, word.slice(0, 2));
      if (more) this.#readCluster(`-${more}`);
    }
  }

  #addOption(option: OptionDeclaration, flag: string, value?: string): void {
    this.#add('option', flag, option);
    if (value !== undefined) this.#add('value', value, option);
    else if (option.value) this.pending = option;
  }

  #addUnknown(flag: string, value?: string): void {
    const { words, command, options } = this;
    this.unknown ??= { index: words.length, command, options, path: [...this.path] };
    this.#add('unknown', flag);
    if (value !== undefined) this.#add('value', value);
  }

  #readArgument(word: string): void {
    const followers = followersOf(this.command, this.args);
    const found = followers.find((each) => commandNames(each).includes(word));
    this.#add(found ? 'command' : 'argument', word);
    if (found) {
      this.path.push(found.name);
      this.command = found.name === 'help' ? this.#help : found;
      this.options = [...new Set([...(found.options ?? []), ...ALL_GLOBAL_OPTIONS])];
    } else this.args.push(word);
  }
}

/** Returns the commands that can follow. */
export function followersOf(
  { subcommands = [] }: Partial<CommandDeclaration>,
  args: readonly string[],
): readonly CommandDeclaration[] {
  return args.length > 0 ? [] : subcommands.filter(({ hidden }) => !hidden);
}

/** Divides `--output=json`. A short option takes all behind it: `-o=json` has the value `=json`. */
export function divide(word: string): [flag: string, value: string | undefined] {
  const [, flag = word, value] = /^(--[^=]*)=(.*)$/s.exec(word) ?? [];
  return [flag, value];
}

/**
 * Refuses what commander would take for something else than was meant.
 * @throws ImgctlError usage
 */
export function checkTyped(line: TypedLine, cwd: string): void {
  const isFile = (text: string) => fs.existsSync(path.resolve(cwd, text));
  for (const [index, word] of line.words.entries()) {
    const error = CHECKS.map((check) => check(line, word, index)).find(Boolean);
    const mayBeFile = word.kind === 'argument' || word.kind === 'unknown';
    if (error && !(mayBeFile && isFile(word.text))) throw error;
  }
}

type Check = (line: TypedLine, word: TypedWord, index: number) => ImgctlError | undefined;

/** The first check with an error counts. */
const CHECKS: readonly Check[] = [refuseTypeset, refuseDash, refuseFields];

/** `images list –n 5` and `images list -f “name~web”`: word processors replace hyphens and quotes. */
function refuseTypeset({ words }: TypedLine, { kind, text, option }: TypedWord, index: number) {
  const isFilter = kind === 'value' && option && longFlag(option) === '--filter';
  const isWord = (kind === 'argument' || kind === 'unknown') && !isCommandLine(words, index);
  if (!isFilter && !isWord) return undefined;
  return typesetDash(text) ?? typesetQuote(text);
}

/** True for the value of a setting that is a command: what it runs may be quoted in any way. */
function isCommandLine(words: readonly TypedWord[], index: number): boolean {
  const isNamed = ({ kind }: TypedWord) => kind === 'command' || kind === 'argument';
  const [group, verb, key, value] = words.filter(isNamed);
  const isSet = group?.text === 'config' && verb?.text === 'set';
  return isSet && value === words[index] && /-command$/.test(key?.text ?? '');
}

const TYPESET_DASHES = '\u2010-\u2015\u2212';
const TYPESET_DASH = new RegExp(`^-*[${TYPESET_DASHES}]`);
/** A quote of any language at the start of a word or value: `name,like,“web”`, `„web“`, `«web»`. */
const TYPESET_QUOTE = /(?:^|[=~,])[\p{Pi}\p{Pf}\u201a\u201e]/u;

/** What follows the dash may be a secret, and is not shown. */
function typesetDash(text: string): ImgctlError | undefined {
  const [dash] = TYPESET_DASH.exec(text) ?? [];
  if (dash === undefined) return undefined;
  const [, name = ''] = new RegExp(`^[-${TYPESET_DASHES}]+([\\w-]{0,40})`).exec(text) ?? [];
  const meant = `${name.length > 1 ? '--' : '-'}${name}`;
  const message = `${dash}${name} begins with a typeset dash (${codeOf(dash.slice(-1))})`;
  return new ImgctlError('usage', message, { facts: `type ${meant}, with hyphens (U+2D)` });
}

/** What follows the quote may be a secret, and is not shown. */
function typesetQuote(text: string): ImgctlError | undefined {
  const at = text.search(TYPESET_QUOTE);
  if (at < 0) return undefined;
  const shown = text.slice(0, at + (/^[=~,]/.test(text.slice(at)) ? 2 : 1));
  const quote = shown.slice(-1);
  const plain = /[\u2018-\u201b\u2039\u203a]/.test(quote) ? "'" : '"';
  const message = `${shown}… has a typeset quote (${codeOf(quote)})`;
  const facts = `type ${plain} (${codeOf(plain)}) instead of ${quote}`;
  return new ImgctlError('usage', message, { facts });
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
}

/** `images list ubuntu -9`: in other tools a dash leaves out what contains the word. */
function refuseDash({ command }: TypedLine, { kind, text }: TypedWord): ImgctlError | undefined {
  const isWord = kind === 'argument' || kind === 'unknown';
  // Commander takes only - and negative numbers for words.
  if (!isWord || !takesSearchWords(command) || !/^-(\d|$)/.test(text)) return undefined;
  const without = `to leave out names that contain it: -f ${shellQuote(`name!~${text.slice(1)}`)}`;
  const facts = text === '-' ? 'omit it' : without;
  return new ImgctlError('usage', `a word must not begin with a dash (got ${text})`, { facts });
}

/** `images list --json id,name`: fields behind --json, as gh takes them, would be arguments. */
function refuseFields(
  { command, words }: TypedLine,
  { kind, text }: TypedWord,
  index: number,
): ImgctlError | undefined {
  const before = words[index - 1];
  const isBehindJson = before?.kind === 'option' && before.option?.flags === '--json';
  if (kind !== 'argument' || !isBehindJson) return undefined;
  const { run, fields, options = [] } = command;
  const names: readonly string[] = fields?.map(({ name }) => name) ?? (run ? [] : FIELDS);
  if (!text.split(',').some((each) => names.includes(each.toLowerCase()))) return undefined;
  const hasColumns = options.some((option) => longFlag(option) === '--columns');
  const facts = hasColumns ? `choose fields with: -c ${text}` : 'choose fields with: --json | jq';
  return new ImgctlError('usage', '--json takes no value', { facts });
}
