// The command line as it was typed: what each word is, and what commander would misread.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { FIELDS } from '../query/fields.ts';
import { shellQuote } from '../words.ts';
import { ALL_GLOBAL_OPTIONS } from './command.ts';
import {
  type CommandDeclaration,
  commandNames,
  flagsOf,
  longFlag,
  type OptionDeclaration,
  takesSearchWords,
} from './declarations.ts';

/** A word before `--`, or a part of it: `--filter=a` is an option and a value. */
interface TypedWord {
  readonly kind: 'command' | 'argument' | 'option' | 'value' | 'unknown';
  readonly text: string;
  /** The option that the word names, or whose value it is. */
  readonly option?: OptionDeclaration | undefined;
}

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
  readonly rest: readonly string[];
  /** The option whose value comes next. */
  readonly pending: OptionDeclaration | undefined;
  /** True behind `--`. */
  readonly isEnded: boolean;
}

/**
 * Tells options, their values and arguments apart as commander does, but refuses nothing.
 * `images list -qn5 web` is the commands images and list, the options -q and -n, the value 5 of -n
 * and the argument web, the `rest`.
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

class LineReader implements TypedLine {
  command: Partial<CommandDeclaration>;
  options = ALL_GLOBAL_OPTIONS;
  pending: OptionDeclaration | undefined;
  unknown: UnknownOption | undefined;
  isEnded = false;
  readonly path: string[] = [];
  readonly words: TypedWord[] = [];
  readonly rest: string[] = [];
  readonly #help: Partial<CommandDeclaration>;

  constructor(commands: readonly CommandDeclaration[], topics: readonly CommandDeclaration[]) {
    this.command = { subcommands: commands };
    this.#help = { subcommands: [...commands, ...topics] };
  }

  read(word: string): void {
    if (this.isEnded) this.rest.push(word);
    else if (this.pending) {
      this.#add('value', word, this.pending);
      this.pending = undefined;
    } else if (word === '--') this.isEnded = true;
    else if (/^-./.test(word) && !NEGATIVE_NUMBER.test(word)) this.#readOption(word);
    else this.#readArgument(word);
  }

  #add(kind: TypedWord['kind'], text: string, option?: OptionDeclaration): void {
    this.words.push({ kind, text, option });
  }

  #optionOf(flag: string): OptionDeclaration | undefined {
    return this.options.find((each) => flagsOf(each).includes(flag));
  }

  /** Reads `--limit`, `--limit=5`, `-n`, `-n5` or `-qn5`. */
  #readOption(word: string): void {
    const [flag, value] = divide(word);
    const option = this.#optionOf(flag);
    if (option && (option.value || value === undefined)) {
      this.#add('option', flag, option);
      if (value !== undefined) this.#add('value', value, option);
      else if (option.value) this.pending = option;
      return;
    }
    const [, letter = '', more = ''] = /^-([^-])(.+)$/s.exec(word) ?? [];
    const short = this.#optionOf(`-${letter}`);
    // -limit means --limit, and not -l with the value imit; -q=true gives -q a value.
    const isLong = this.#optionOf(`-${word.replace(/=.*/s, '')}`) !== undefined;
    const hasForbiddenValue = more.startsWith('=') && !short?.value;
    if (!short || isLong || hasForbiddenValue) {
      this.#addUnknown(word);
      return;
    }
    this.#add('option', `-${letter}`, short);
    if (short.value) this.#add('value', more, short);
    else this.#readOption(`-${more}`);
  }

  #addUnknown(word: string): void {
    const { words, command, options } = this;
    this.unknown ??= { index: words.length, command, options, path: [...this.path] };
    this.#add('unknown', word);
  }

  #readArgument(word: string): void {
    const followers = followersOf(this.command, this.rest);
    const found = followers.find((each) => commandNames(each).includes(word));
    this.#add(found ? 'command' : 'argument', word);
    if (found) {
      this.path.push(found.name);
      this.command = found.name === 'help' ? this.#help : found;
      this.options = [...new Set([...(found.options ?? []), ...ALL_GLOBAL_OPTIONS])];
    } else this.rest.push(word);
  }
}

/** Returns the commands that can follow. */
export function followersOf(
  { subcommands = [] }: Partial<CommandDeclaration>,
  rest: readonly string[],
): readonly CommandDeclaration[] {
  return rest.length > 0 ? [] : subcommands.filter(({ hidden }) => !hidden);
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
export function checkTyped({ command, words }: TypedLine, cwd: string): void {
  const isFile = (text: string) => fs.existsSync(path.resolve(cwd, text));
  for (const [index, { kind, text, option }] of words.entries()) {
    const isWord = kind === 'argument' || kind === 'unknown';
    const isFilter = kind === 'value' && option && longFlag(option) === '--filter';
    if (isWord && !isCommandLine(words, index)) {
      // images list –n 5
      if (isMisset(text) && !isFile(text)) throw misset(text);
      // images list ubuntu -9: commander takes only - and negative numbers for words.
      if (takesSearchWords(command) && /^-(\d|$)/.test(text)) throw dashed(text);
    }
    // images list -f “name~web”
    if (isFilter && isMisset(text)) throw misset(text);
    // images list --json id,name
    const before = words[index - 1];
    const isBehindJson = before?.kind === 'option' && before.option?.flags === '--json';
    if (kind === 'argument' && isBehindJson && !isFile(text)) refuseFields(text, command);
  }
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

function isMisset(text: string): boolean {
  return TYPESET_DASH.test(text) || TYPESET_QUOTE.test(text);
}

/** Word processors replace hyphens and quotes. What follows may be a secret, and is not shown. */
function misset(text: string): ImgctlError {
  const codeOf = (character: string) =>
    `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
  const [dash] = TYPESET_DASH.exec(text) ?? [];
  if (dash !== undefined) {
    const [, name = ''] = new RegExp(`^[-${TYPESET_DASHES}]+([\\w-]{0,40})`).exec(text) ?? [];
    const meant = `${name.length > 1 ? '--' : '-'}${name}`;
    const message = `${dash}${name} begins with a typeset dash (${codeOf(dash.slice(-1))})`;
    return new ImgctlError('usage', message, { facts: `type ${meant}, with hyphens (U+2D)` });
  }
  const at = text.search(TYPESET_QUOTE);
  const shown = text.slice(0, at + (/^[=~,]/.test(text.slice(at)) ? 2 : 1));
  const quote = shown.slice(-1);
  const plain = /[\u2018-\u201b\u2039\u203a]/.test(quote) ? "'" : '"';
  const message = `${shown}… has a typeset quote (${codeOf(quote)})`;
  const facts = `type ${plain} (${codeOf(plain)}) instead of ${quote}`;
  return new ImgctlError('usage', message, { facts });
}

/** In other tools a dash leaves out what contains the word. */
function dashed(word: string): ImgctlError {
  const without = `to leave out names that contain it: -f ${shellQuote(`name!~${word.slice(1)}`)}`;
  const facts = word === '-' ? 'omit it' : without;
  return new ImgctlError('usage', `a word must not begin with a dash (got ${word})`, { facts });
}

/** Fields behind --json, as gh takes them, would be arguments. @throws ImgctlError usage */
function refuseFields(
  text: string,
  { run, fields, options = [] }: Partial<CommandDeclaration>,
): void {
  const names: readonly string[] = fields?.map(({ name }) => name) ?? (run ? [] : FIELDS);
  if (!text.split(',').some((each) => names.includes(each.toLowerCase()))) return;
  const hasColumns = options.some((option) => longFlag(option) === '--columns');
  const facts = hasColumns ? `choose fields with: -c ${text}` : 'choose fields with: --json | jq';
  throw new ImgctlError('usage', '--json takes no value', { facts });
}
