// Refuses words that commander would misread: `–n`, `“web”`, `-9`, `--json id`.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { FORMAT_NAMES } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { quoted, shellQuote } from '../words.ts';
import {
  type CommandDeclaration,
  findOption,
  longFlag,
  type OptionDeclaration,
  takesSearchWords,
} from './command-types.ts';
import type { TypedLine, TypedWord } from './typed.ts';

/** Returns the error of the first word that commander would misread. */
export function findMisreading(line: TypedLine, cwd: string): ImgctlError | undefined {
  for (const [index, word] of line.words.entries()) {
    const error =
      typesetError(word, line, cwd) ??
      dashError(word, line) ??
      fieldsError(word, line.words[index - 1], line.command) ??
      formatError(word, line);
    if (error) return error;
  }
  return undefined;
}

/** Commander takes only - and negative numbers for arguments, if they begin with a dash. */
function mayBeArgument({ kind }: TypedWord): boolean {
  return kind === 'argument' || kind === 'unknown';
}

/**
 * `images list –n 5`, `images list -f “web”`: word processors replace hyphens and quotes. An
 * argument that is the name of a file is accepted.
 */
function typesetError(
  word: TypedWord,
  { options }: TypedLine,
  cwd: string,
): ImgctlError | undefined {
  const { kind, text, option } = word;
  const isFilter = kind === 'value' && option && longFlag(option) === '--filter';
  if (!isFilter && !mayBeArgument(word)) return undefined;
  const error = typesetDash(text, options) ?? typesetQuote(text);
  return error && (isFilter || !fs.existsSync(path.resolve(cwd, text))) ? error : undefined;
}

const DASHES = '\u2010-\u2015\u2212';
/** `-–limit=5` begins with `-–`, whose last character is the dash, and has the name limit. */
const TYPESET_DASH = new RegExp(`^(-*([${DASHES}]))[-${DASHES}]*([\\w-]{0,40})`);
/** `name,like,“web”`, `„web“` and `«web»` have the quote of a language at the start of a value. */
const TYPESET_QUOTE = /^((?:.*?[=~,])??([\p{Pi}\p{Pf}\u201a\u201e]))/su;

/**
 * Shows the name only of an option that there is, as the rest may be a secret.
 *
 *     –limit=5    –limit …   type --limit, with hyphens (U+2D)
 *     –n5         –n …       type -n, with hyphens (U+2D)
 *     –phunter2   –… …       type hyphens (U+2D), or omit it
 *     –           – …        type hyphens (U+2D), or omit it
 */
function typesetDash(text: string, options: readonly OptionDeclaration[]): ImgctlError | undefined {
  const [, start, dash = '', name = ''] = TYPESET_DASH.exec(text) ?? [];
  if (start === undefined) return undefined;
  const [long, short] = [`--${name}`, `-${name.charAt(0)}`];
  const isKnown = (each: string) => findOption(options, each) !== undefined;
  const mayShowLetter = name.length === 1 || isKnown(short);
  const flag = isKnown(long) ? long : mayShowLetter ? short : undefined;
  const shown = flag?.replace(/^-+/, '') ?? (name && '…');
  const message = `${start}${shown} begins with a typeset dash (${codeOf(dash)})`;
  const facts = flag ? `type ${flag}, with hyphens (U+2D)` : 'type hyphens (U+2D), or omit it';
  return new ImgctlError('usage', message, { facts });
}

/** What follows the quote may be a secret, and is not shown. */
function typesetQuote(text: string): ImgctlError | undefined {
  const [, start, quote = ''] = TYPESET_QUOTE.exec(text) ?? [];
  if (start === undefined) return undefined;
  const plain = /[\u2018-\u201b\u2039\u203a]/.test(quote) ? "'" : '"';
  const message = `${start}… has a typeset quote (${codeOf(quote)})`;
  const facts = `type ${plain} (${codeOf(plain)}) instead of ${quote}`;
  return new ImgctlError('usage', message, { facts });
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`;
}

/**
 * In other tools, a dash before a word leaves out what contains it. Only a version is shown whole:
 * any other word may be a secret.
 *
 *     images list ubuntu -9   got -9
 *     images list -9abc       got -9…
 *     images list -           got -
 *     images list -p -9       nothing: -9 may be the value of -p, which is unknown
 */
function dashError(word: TypedWord, { command, unknown }: TypedLine): ImgctlError | undefined {
  const { text } = word;
  if (!/^-(\d|$)/.test(text) || !mayBeArgument(word)) return undefined;
  if (!takesSearchWords(command)) return undefined;
  if (unknown && !text.startsWith(unknown.flag)) return undefined;
  const isVersion = /^-[\d.]{0,20}$/.test(text);
  const shown = isVersion ? text : `${text.slice(0, 2)}…`;
  const filter = shellQuote(`name!~${isVersion ? text.slice(1) : 'WORD'}`);
  const facts = text === '-' ? 'omit it' : `to leave out names that contain it: -f ${filter}`;
  return new ImgctlError('usage', `a word must not begin with a dash (got ${shown})`, { facts });
}

/**
 * `images list --json id,name`: gh takes fields after --json; here they would be arguments. A
 * single one is refused too: `public` may be a field or a word to search for.
 */
function fieldsError(
  { kind, text }: TypedWord,
  before: TypedWord | undefined,
  { fields, options = [], subcommands }: CommandDeclaration,
): ImgctlError | undefined {
  if (kind !== 'argument' || before?.text !== '--json') return undefined;
  // Without a command, as in `images --json id`, the fields may be those of images.
  const names: readonly string[] = fields?.map(({ name }) => name) ?? (subcommands ? FIELDS : []);
  if (!text.split(',').some((each) => names.includes(each.toLowerCase()))) return undefined;
  const facts = findOption(options, '-c')
    ? `choose fields with: -c ${shellQuote(text)}`
    : 'choose fields with: --json | jq';
  return new ImgctlError('usage', '--json takes no value', { facts });
}

/** `-f json`: in other tools, -f is the format. `-o path`: they choose fields and header with -o. */
function formatError(
  { kind, text, option }: TypedWord,
  { command, options }: TypedLine,
): ImgctlError | undefined {
  const flag = kind === 'value' && option ? longFlag(option) : undefined;
  if (flag === '--filter' && FORMAT_NAMES.some((name) => name === text.toLowerCase())) {
    const facts = `for the format: -o ${text}`;
    return new ImgctlError('usage', `${text} is a format, not a filter`, { facts });
  }
  const facts = flag === '--output' ? meantByOutput(text, command, options) : undefined;
  if (facts === undefined) return undefined;
  return new ImgctlError('usage', `unknown format ${quoted(text)} in --output`, { facts });
}

/**
 *     -o noheader           use --no-header
 *     -o path               use --get path
 *     -o columns=id,name    use -c id,name; also for -o id,name
 *     -o images.csv         to write to a file: > images.csv
 */
function meantByOutput(
  text: string,
  { fields = [] }: CommandDeclaration,
  options: readonly OptionDeclaration[],
): string | undefined {
  const use = (flag: string, value = '') => findOption(options, flag) && `use ${flag}${value}`;
  if (/^no-?headers?$/i.test(text)) return use('--no-header');
  const isField = (word: string) => fields.some(({ name }) => name === word.toLowerCase());
  const [, columns = text] = /^columns=(.*)/s.exec(text) ?? [];
  if (/^(?=.*[./])[\w./-]+$/.test(text)) return `to write to a file: > ${text}`;
  if (!columns.split(',').every(isField)) return undefined;
  return (isField(text) && use('--get', ` ${text}`)) || use('-c', ` ${columns}`);
}
