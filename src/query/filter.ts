// Parses filters: field,operator,value, and as people type them: 'id>=1100', 'name~ubuntu'.

import { parseChoice, quoted } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { FIELDS, type Field, type FieldValue, kindOf, parseValue } from './fields.ts';
import { ageInWords, isRelative, parseTimeValue, type Span, withOffset } from './timestamp.ts';

/** As in section 4.3 of service.md, and one of imgctl's own. */
export const OPERATORS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'like', 'in', 'notlike'] as const;

export type Operator = (typeof OPERATORS)[number];

interface Operand {
  readonly text: string;
  readonly value: FieldValue;
  /** Of a time field. */
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

/** `~` means that the value contains the text, `!~` that it does not. */
const SIGNS: ReadonlyMap<string, Operator> = new Map([
  ['=', 'eq'],
  ['==', 'eq'],
  ['!=', 'ne'],
  ['<', 'lt'],
  ['<=', 'le'],
  ['>', 'gt'],
  ['>=', 'ge'],
  ['~', 'like'],
  ['!~', 'notlike'],
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
export function parseFilter(text: string, now: number, where = `--filter ${quoted(text)}`): Filter {
  const [fieldName, operatorName, content] = splitFilter(text, where);
  const field = parseChoice(fieldName, { noun: 'field', valid: FIELDS, where });
  const operator = parseChoice(operatorName, { noun: 'operator', valid: OPERATORS, where });
  const items = operator === 'in' ? content.split(',').map((item) => item.trim()) : [content];
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
  const filter = like(field, `%${part}%`);
  // Behind ~ it would be another sign.
  return /^[=<>~]/.test(part) ? filter : { ...filter, text: `${field}~${part}` };
}

/**
 * Returns the filter for a file that other machines read: local times as instants, so perhaps as two filters.
 * @throws ImgctlError usage: != or `in` with a local time
 */
export function portableTexts({ text, field, operator, operands }: Filter): string[] {
  const [{ span } = {}] = operands;
  if (!operands.some((each) => each.span?.isLocal) || span === undefined) return [text];
  const [start, end] = [span.at, span.end].map(withOffset);
  const bounds: { readonly [Word in Operator]?: readonly string[] } = {
    lt: [`lt,${start}`],
    le: [`lt,${end}`],
    gt: [`ge,${end}`],
    ge: [`ge,${start}`],
    eq: [`ge,${start}`, `lt,${end}`],
  };
  const { [operator]: stored } = bounds;
  if (stored) return stored.map((bound) => `${field},${bound}`);
  throw filterError(
    `${text} cannot be stored without a time zone`,
    `add the offset, such as ${withOffset(span.at)}, or use < and >=`,
  );
}

/** A filter that the service can apply, so that fewer pages are read. */
export interface ServiceFilter {
  readonly field: Field;
  readonly filter: string;
  /** Of a `like` with letters: the service may mind their case. */
  readonly pattern: string | undefined;
}

/** Servers and proxies reject longer URLs; a list of ids may have thousands. */
const MAX_URL_BYTES = 4_000;

/** The fields and operators for which services agree: not on null, times, booleans and the order of texts. */
const SENT: Readonly<Record<string, RegExp>> = {
  text: /^(?:eq|in|like)$/,
  number: /^(?:eq|in|[lg][te])$/,
};

/** Undefined if a service may leave out an image that matches. Whether it minds case: see `service-lists.ts`. */
export function serviceFilter({ field, operator, operands }: Filter): ServiceFilter | undefined {
  if (!SENT[kindOf(field)]?.test(operator)) return undefined;
  const isNull = ({ value }: Operand) => value === null || (operator === 'eq' && value === 'null');
  if (operands.some(isNull)) return undefined;
  const texts = operands.map(({ text }) => text);
  const [first = ''] = texts;
  if (operator !== 'in' && first.includes(',')) return undefined;
  // Some services trim values.
  if (texts.some((text) => text !== text.trim())) return undefined;
  const filter = [field, operator, ...texts].join(',');
  // ASCII without `;`, at which some divide a filter, and in patterns without backslashes.
  const isPlain = operator === 'like' ? /^[ -:<-[\]-~]*$/ : /^[ -:<-~]*$/;
  if (!isPlain.test(filter)) return undefined;
  if (new URLSearchParams({ filter }).toString().length > MAX_URL_BYTES) return undefined;
  const pattern = operator === 'like' && /[a-z]/i.test(first) ? first : undefined;
  return { field, filter, pattern };
}

/** Splits at the first sign, or at the first two commas if no sign is before them. */
function splitFilter(
  text: string,
  where: string,
): [field: string, operator: string, value: string] {
  const [field = '', operator, ...rest] = text.split(',');
  const { 0: sign = '', index = 0 } = /!?[=<>~]+/.exec(text) ?? {};
  if (sign !== '' && index <= field.length) {
    const name = field.slice(0, index).trim();
    // A text may end with spaces.
    const value = text.slice(index + sign.length).trimStart();
    const signOperator = SIGNS.get(sign);
    if (signOperator === undefined) {
      const meant = WRONG_SIGNS.get(sign) ?? sign.replace(/(.)\1+$/, '$1');
      const own = anchored(name, value) ?? `'${name}${meant}${value}'`;
      const hint = name && SIGNS.has(meant) ? `did you mean ${own}?` : EXAMPLE;
      throw filterError(`unknown operator '${sign}' in ${where}`, hint);
    }
    return [name, signOperator, sign.endsWith('~') && value ? `%${value}%` : value];
  }
  const spaced = SPACED.exec(text);
  if (spaced) {
    throw filterError(`missing commas in ${where}`, `did you mean '${spaced.slice(1).join()}'?`);
  }
  if (operator === undefined) {
    throw filterError(`missing operator and value in ${where}`, quoteHint(text) ?? EXAMPLE);
  }
  if (rest.length === 0) throw filterError(`missing value in ${where}`, EXAMPLE);
  const value = rest.join(',');
  // A text may begin with spaces; but not where all commas have them: name, like, %x%
  const isSpaced = operator.startsWith(' ');
  return [field.trim(), operator.trim(), isSpaced ? value.trimStart() : value];
}

/** Returns the filter for a text with the anchors of a regular expression; undefined if it has none. */
export function anchored(field: string, text: string): string | undefined {
  const [, start, part = '', end] = /^(\^?)([\w-]+)(\$?)$/.exec(text) ?? [];
  if (!start && !end) return undefined;
  return `'${field},like,${start ? '' : '%'}${part}${end ? '' : '%'}'`;
}

/** Returns a hint for a field alone, the rest of which the shell may have taken for a redirection. */
function quoteHint(text: string): string | undefined {
  const [, name = '', value] = /^(\w+)(?: ?: ?(.+))?$/.exec(text) ?? [];
  const field = FIELDS.find((each) => each === name.toLowerCase());
  if (field === undefined) return undefined;
  if (value !== undefined) return `did you mean '${field}=${value}'?`;
  const rest = { number: '>=1100', text: '~ubuntu', boolean: '=true', time: '>=-30d' };
  return `put the filter in quotes, such as '${field}${rest[kindOf(field)]}'`;
}

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
    throw filterError(
      `${problem} in ${where}`,
      `to match a missing ${field}, use ${field},eq,null`,
    );
  }
  if (operator === 'like' || operator === 'notlike') return { text, value: text };
  if (text === 'null' && (operator === 'eq' || operator === 'ne')) return { text, value: null };
  if (kind === 'time') return parseTimeOperand(text, at);
  const value = parseValue(text, kind);
  if (kind !== 'text' && typeof value !== kind) {
    const valid = kind === 'number' ? 'a whole number, such as 42' : 'true or false';
    throw filterError(`invalid value ${quoted(text)} in ${where}`, `use ${valid}`);
  }
  return { text: `${value}`, value };
}

function parseTimeOperand(text: string, { where, now }: ParseContext): Operand {
  const span = parseTimeValue(text, now);
  if (span) return { text, value: text, span, isRelative: isRelative(text) };
  const meant = ageInWords(text);
  throw filterError(
    `invalid time ${quoted(text)} in ${where}`,
    meant
      ? `did you mean ${meant}?`
      : 'use 2024-01-31, 2024-01-31T12:00:00Z, 30d (units: s, m, h, d, w or y) or 2018-07-18 Wed 15:36:49 EDT',
  );
}

function filterError(message: string, hint: string): ImgctlError {
  return new ImgctlError('usage', message, { hint });
}
