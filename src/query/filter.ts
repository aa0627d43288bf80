// Parses filters: field,operator,value, and as people type them: 'id>=1100', 'name~ubuntu'.

import { parseChoice } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { quoted, shellQuote } from '../words.ts';
import { FIELDS, type Field, type FieldValue, kindOf, parseValue } from './fields.ts';
import { withOffset } from './local-time.ts';
import { ageInWords, isRelative, parseTimeValue, type Span } from './time-value.ts';

/** As in section 4.3 of service.md, and one of imgctl's own. */
export const OPERATORS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'like', 'in', 'notlike'] as const;

/** `~` and `!~` take their text as it is, with any % in it. */
export type Operator = (typeof OPERATORS)[number] | 'contains' | 'lacks';

export type PerOperator<Value> = Readonly<Partial<Record<Operator, Value>>>;

interface Operand {
  readonly text: string;
  readonly value: FieldValue;
  /** The value of a time field as instants. */
  readonly span?: Span | undefined;
  /** True if the time depends on when the command runs. */
  readonly isRelative?: boolean;
}

export interface Filter {
  /** As typed, or as a user would type it. */
  readonly text: string;
  readonly field: Field;
  readonly operator: Operator;
  readonly operands: readonly Operand[];
}

const EXAMPLE = "use a filter such as 'name~ubuntu' or name,like,%ubuntu%";

const SIGNS: ReadonlyMap<string, Operator> = new Map([
  ['=', 'eq'],
  ['==', 'eq'],
  ['!=', 'ne'],
  ['<', 'lt'],
  ['<=', 'le'],
  ['>', 'gt'],
  ['>=', 'ge'],
  ['~', 'contains'],
  ['!~', 'lacks'],
]);

/** `id in 3,4` */
const SPACED = new RegExp(`^(\\w+) +(${OPERATORS.join('|')}) +(.+)$`, 'i');

const WRONG_SIGNS: ReadonlyMap<string, string> = new Map([
  ['<>', '!='],
  ['=~', '~'],
  ['=<', '<='],
  ['=>', '>='],
  ['~=', '~'],
]);

/** @param where how errors name it @throws ImgctlError usage */
export function parseFilter(text: string, now: number, where = `filter ${quoted(text)}`): Filter {
  const { name, sign, word = '', content } = splitFilter(text, where);
  const field = parseChoice(name, { noun: 'field', valid: FIELDS, where });
  const operator = sign ?? parseChoice(word, { noun: 'operator', valid: OPERATORS, where });
  const items = operator === 'in' ? content.split(',') : [content];
  const operands = items.map((item) => parseOperand(item, field, operator, { where, now }));
  return { text, field, operator, operands };
}

/** Returns the filter for images whose field has this value, which may be the text `null`. */
export function equals(field: Field, value: string | number): Filter {
  const text = value === 'null' ? `${field},in,null` : `${field}=${value}`;
  return { text, field, operator: 'eq', operands: [{ text: `${value}`, value }] };
}

export function like(field: Field, pattern: string): Filter {
  const text = `${field},like,${pattern}`;
  return { text, field, operator: 'like', operands: [{ text: pattern, value: pattern }] };
}

export function notLike(field: Field, pattern: string): Filter {
  return { ...like(field, pattern), operator: 'notlike', text: `${field},notlike,${pattern}` };
}

export function contains(field: Field, part: string): Filter {
  // Behind ~ it would be another sign.
  if (/^[=<>~]/.test(part)) return like(field, `%${part}%`);
  const operands = [{ text: part, value: part }];
  return { text: `${field}~${part}`, field, operator: 'contains', operands };
}

/**
 * Returns the filter for a file that other machines read: local times as instants, so perhaps as two filters.
 * @throws ImgctlError usage: != or `in` with a local time
 */
export function portableTexts({ text, field, operator, operands }: Filter): string[] {
  const spans = operands.flatMap(({ span }) => span ?? []);
  const [span] = spans;
  if (span === undefined || !spans.some(({ isLocal }) => isLocal)) return [text];
  const [start, end] = [withOffset(span.at), withOffset(span.end)];
  const bounds: PerOperator<readonly string[]> = {
    lt: [`lt,${start}`],
    le: [`lt,${end}`],
    gt: [`ge,${end}`],
    ge: [`ge,${start}`],
    eq: [`ge,${start}`, `lt,${end}`],
  };
  const stored = bounds[operator];
  if (stored) return stored.map((bound) => `${field},${bound}`);
  const advice = `add the offset, such as ${start}, or use < and >=`;
  throw filterError(`${text} cannot be stored without a time zone`, advice);
}

/** A filter that the service can apply, so that fewer pages are read. */
export interface ServiceFilter {
  readonly field: Field;
  readonly operator: Operator;
  /** As sent: `name,like,%ubuntu%`. */
  readonly text: string;
  /** The text that a `like` searches for. The service may mind its case, or not know this form. */
  readonly part: string | undefined;
}

/** Servers and proxies reject longer URLs; a list of ids may have thousands. */
const MAX_URL_BYTES = 4_000;

/** The fields and operators for which services agree: not on null, times, booleans and the order of texts. */
const SENT: Readonly<Record<string, RegExp>> = {
  text: /^(?:eq|in|like|contains)$/,
  number: /^(?:eq|in|[lg][te])$/,
};

/** Undefined if a service may leave out an image that matches; of a `like`, whether it does is still to be proved. */
export function serviceFilter({ field, operator, operands }: Filter): ServiceFilter | undefined {
  if (!SENT[kindOf(field)]?.test(operator)) return undefined;
  const texts = operands.map(({ text }) => text);
  const [first = ''] = texts;
  if (operator === 'contains') return likeFilter(field, first);
  if (operator === 'like') return likeFilter(field, /^%(.+)%$/s.exec(first)?.[1] ?? '');
  const isNull = ({ value }: Operand) => value === null || (operator === 'eq' && value === 'null');
  if (operands.some(isNull)) return undefined;
  if (operator !== 'in' && first.includes(',')) return undefined;
  // Some services trim values.
  if (texts.some((text) => text !== text.trim())) return undefined;
  const text = [field, operator, ...texts].join(',');
  return isPlain(text) ? { field, operator, text, part: undefined } : undefined;
}

/** Returns the filter for values that contain the text, in the only form that is sent; undefined if a part of it is special. */
export function likeFilter(field: Field, part: string): ServiceFilter | undefined {
  const text = `${field},like,%${part}%`;
  // Some databases take brackets and backslashes as part of a pattern.
  if (part === '' || /[%,[\\]/.test(part) || !isPlain(text)) return undefined;
  return { field, operator: 'like', text, part };
}

/** True for ASCII without `;`, at which some services divide a filter, if the URL is not too long. */
function isPlain(filter: string): boolean {
  const length = new URLSearchParams({ filter }).toString().length;
  return /^[ -:<-~]*$/.test(filter) && length <= MAX_URL_BYTES;
}

interface SplitFilter {
  readonly name: string;
  /** What its sign means, or else the word of its operator. */
  readonly sign?: Operator;
  readonly word?: string;
  readonly content: string;
}

/** Splits at the first sign, or at the first two commas if no sign is before them. */
function splitFilter(text: string, where: string): SplitFilter {
  const [, before = '', sign, after = ''] = /^([^,=<>~]*?)(!?[=<>~]+)(.*)$/s.exec(text) ?? [];
  if (sign === undefined) return splitAtCommas(text, where);
  const name = before.trim();
  // Blanks on both sides of the sign are not part of the value.
  const content = before.endsWith(' ') ? after.trimStart() : after;
  const operator = SIGNS.get(sign);
  if (operator) return { name, sign: operator, content };
  const meant = WRONG_SIGNS.get(sign) ?? sign.replace(/(.)\1+$/, '$1');
  const own = anchored(name, content) ?? shellQuote(`${name}${meant}${content}`);
  const advice = name && SIGNS.has(meant) ? `did you mean ${own}?` : EXAMPLE;
  throw filterError(`unknown operator '${sign}' in ${where}`, advice);
}

function splitAtCommas(text: string, where: string): SplitFilter {
  const [name = '', word, ...rest] = text.split(',');
  const spaced = SPACED.exec(text);
  if (spaced) {
    const advice = `did you mean ${shellQuote(withoutBrackets(spaced.slice(1)))}?`;
    throw filterError(`missing commas in ${where}`, advice);
  }
  if (word === undefined) {
    throw filterError(`missing operator and value in ${where}`, quoteHint(text) ?? EXAMPLE);
  }
  if (rest.length === 0) throw filterError(`missing value in ${where}`, EXAMPLE);
  // A text may begin with spaces; but not where all commas have them: name, like, %x%
  const content = word.startsWith(' ') ? rest.join(',').trimStart() : rest.join(',');
  return { name: name.trim(), word: word.trim(), content };
}

/** Returns `name,in,a,b` for name, in and `(a, 'b')`, as SQL has it. */
function withoutBrackets([name, operator, value = '']: readonly string[]): string {
  const isList = operator?.toLowerCase() === 'in';
  const items = isList ? value.replace(/^\((.*)\)$/s, '$1').split(/\s*,\s*/) : [value];
  const bare = items.map((item) => item.replace(/^(["'])(.*)\1$/s, '$2'));
  return [name, operator, ...bare].join();
}

/** Returns the filter for a text with the anchors of a regular expression; undefined if it has none. */
export function anchored(field: string, text: string): string | undefined {
  const [, start, part = '', end] = /^(\^?)([\w-]+)(\$?)$/.exec(text) ?? [];
  if (!start && !end) return undefined;
  return shellQuote(`${field},like,${start ? '' : '%'}${part}${end ? '' : '%'}`);
}

/** Returns a hint for a field alone, the rest of which the shell may have taken for a redirection. */
function quoteHint(text: string): string | undefined {
  const [, name = '', value] = /^(\w+)(?: ?: ?(.+))?$/.exec(text) ?? [];
  const field = FIELDS.find((each) => each === name.toLowerCase());
  if (field === undefined) return undefined;
  if (value !== undefined) return `did you mean ${shellQuote(`${field}=${value}`)}?`;
  const rest = { number: '>=1100', text: '~ubuntu', boolean: '=true', time: '>=-30d' };
  return `put the filter in quotes, such as '${field}${rest[kindOf(field)]}'`;
}

const TEXT_OPERATORS: readonly Operator[] = ['like', 'notlike', 'contains', 'lacks'];

interface ParseContext {
  readonly where: string;
  readonly now: number;
}

function parseOperand(typed: string, field: Field, operator: Operator, at: ParseContext): Operand {
  const { where } = at;
  const kind = kindOf(field);
  const text = kind === 'text' ? typed : typed.trim();
  // An unset shell variable must not change the meaning of a filter.
  if (text === '') {
    const problem = operator === 'in' ? 'empty item' : 'missing value';
    const advice = `to match a missing ${field}, use ${field},eq,null`;
    throw filterError(`${problem} in ${where}`, advice);
  }
  if (TEXT_OPERATORS.includes(operator)) return { text, value: text };
  if (text === 'null' && (operator === 'eq' || operator === 'ne')) return { text, value: null };
  if (kind === 'time') return parseTimeOperand(text, at);
  const value = parseValue(text, kind);
  if (kind !== 'text' && typeof value !== kind) {
    const valid = kind === 'number' ? 'a whole number, such as 42' : 'true or false';
    throw filterError(`invalid value ${quoted(text)} in ${where}`, `use ${valid}`);
  }
  return { text: `${value}`, value };
}

const TIMES =
  'use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s, m, h, d, w or y) or 2018-07-18 Wed 15:36:49 EDT';

function parseTimeOperand(text: string, { where, now }: ParseContext): Operand {
  const span = parseTimeValue(text, now);
  if (span) return { text, value: text, span, isRelative: isRelative(text) };
  const meant = ageInWords(text);
  const advice = meant ? `did you mean ${meant}?` : TIMES;
  throw filterError(`invalid time ${quoted(text)} in ${where}`, advice);
}

function filterError(message: string, advice: string): ImgctlError {
  return new ImgctlError('usage', message, { facts: advice });
}
