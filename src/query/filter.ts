// Parses filters: field,operator,value, and as people type them: 'id>=1100', 'name~ubuntu'.

import { parseChoice } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { quoted } from '../words.ts';
import { FIELDS, type Field, type FieldValue, kindOf, parseValue } from './fields.ts';
import { EXAMPLE, incompleteHint, timeHint } from './filter-hints.ts';
import { withOffset } from './local-time.ts';
import { parseTimeValue, type Span } from './time-value.ts';

/** As in section 4.3 of service.md, and one of imgctl's own. */
export const OPERATORS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'like', 'in', 'notlike'] as const;

/** `~` and `!~` take their text as it is, with any % in it. */
export type Operator = (typeof OPERATORS)[number] | 'contains' | 'lacks';

export interface Filter {
  /** As typed, or as a user would type it. */
  readonly text: string;
  readonly field: Field;
  readonly operator: Operator;
  readonly operands: readonly Operand[];
}

interface Operand {
  readonly text: string;
  readonly value: FieldValue;
  /** The value of a time field as instants. */
  readonly span?: Span;
}

/** @param where how errors name it @throws ImgctlError usage */
export function parseFilter(text: string, now: number, where = `filter ${quoted(text)}`): Filter {
  const { field, operator, values } = splitFilter(text, where);
  const operands = values.map((value) => parseOperand(value, field, operator, { where, now }));
  return { text, field, operator, operands };
}

/** `name=` with the value =x would be read as `name==` with the value x. */
const SIGN_AT_START = /^[=<>~]/;

/** True also for ` null`, as in `folder!= null`. In other texts, a blank is part of the value. */
const isNull = (text: string) => text.trim() === 'null';

/** Returns the filter for images whose field has this value, which may be the text `null`. */
export function equals(field: Field, value: string | number): Filter {
  const sign = SIGN_AT_START.test(`${value}`) ? ',eq,' : '=';
  const text = isNull(`${value}`) ? `${field},in,${value}` : `${field}${sign}${value}`;
  return { text, field, operator: 'eq', operands: [{ text: `${value}`, value }] };
}

/** Returns the filter `name,notlike,%.ova` or `name,ne,web.ova`. */
export function filterOf(field: Field, operator: 'like' | 'notlike' | 'ne', value: string): Filter {
  const operands = [{ text: value, value }];
  return { text: `${field},${operator},${value}`, field, operator, operands };
}

/** Returns the filter for images whose field contains this text as it is, with any % in it. */
export function contains(field: Field, part: string): Filter {
  const text = SIGN_AT_START.test(part) ? `${field},like,%${part}%` : `${field}~${part}`;
  return { text, field, operator: 'contains', operands: [{ text: part, value: part }] };
}

/**
 * Returns the filter for a file that other machines read: local times as instants, so perhaps as
 * two filters.
 * @throws ImgctlError usage: != or `in` with a local time
 */
export function portableTexts({ text, field, operator, operands }: Filter): string[] {
  const spans = operands.flatMap(({ span }) => span ?? []);
  const span = spans.find(({ dependsOn }) => dependsOn === 'zone');
  if (span === undefined) return [text];
  const [start, end] = [withOffset(span.start.at), withOffset(span.end.at)];
  const bounds: Partial<Record<Operator, readonly string[]>> = {
    lt: [`lt,${start}`],
    le: [`lt,${end}`],
    gt: [`ge,${end}`],
    ge: [`ge,${start}`],
    eq: [`ge,${start}`, `lt,${end}`],
  };
  const stored = bounds[operator]?.map((bound) => `${field},${bound}`);
  // The year 10000 would be written with a sign, and could not be read again.
  if (stored?.every((each) => !each.includes(',+'))) return stored;
  const advice = `add the offset, such as ${start}, or use < and >=`;
  throw filterError(`${text} cannot be stored without a time zone`, advice);
}

interface SplitFilter extends Pick<Filter, 'field' | 'operator'> {
  /** One, but for `in`. */
  readonly values: readonly string[];
}

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

/** Splits at the first sign, or at the first two commas if no sign is before them. */
function splitFilter(text: string, where: string): SplitFilter {
  const [, before = '', sign, after = ''] = /^([^,]*?)(!?[=<>~]+)(.*)/s.exec(text) ?? [];
  if (sign === undefined) return splitAtCommas(text, where);
  const name = before.trim();
  // Blanks on both sides of the sign are not part of the value.
  const value = before.endsWith(' ') ? after.trimStart() : after;
  const operator = SIGNS.get(sign);
  if (operator) return { field: parseField(name, where), operator, values: [value] };
  const valid = [...SIGNS.keys()].join(' ');
  throw filterError(`unknown operator '${sign}' in ${where}`, `valid: ${valid}`);
}

function splitAtCommas(text: string, where: string): SplitFilter {
  const [name = '', word, ...rest] = text.split(',');
  if (word === undefined) {
    throw filterError(`missing operator and value in ${where}`, incompleteHint(text));
  }
  if (rest.length === 0) throw filterError(`missing value in ${where}`, EXAMPLE);
  const field = parseField(name.trim(), where);
  const operator = parseChoice(word.trim(), { noun: 'operator', valid: OPERATORS, where });
  const values = operator === 'in' ? rest : [rest.join(',')];
  // A text may begin with spaces; but not where all commas have them: name, in, a.ova, b.ova
  const isSpaced = word.startsWith(' ');
  const trimmed = isSpaced ? values.map((value) => value.trimStart()) : values;
  return { field, operator, values: trimmed };
}

function parseField(name: string, where: string): Field {
  return parseChoice(name, { noun: 'field', valid: FIELDS, where });
}

const TEXT_OPERATORS: readonly Operator[] = ['like', 'notlike', 'contains', 'lacks'];

interface ParseContext {
  readonly where: string;
  readonly now: number;
}

function parseOperand(typed: string, field: Field, operator: Operator, at: ParseContext): Operand {
  const { where, now } = at;
  const kind = kindOf(field);
  const text = kind === 'text' ? typed : typed.trim();
  // An unset shell variable must not change the meaning of a filter.
  if (text === '') {
    const problem = operator === 'in' ? 'empty item' : 'missing value';
    const advice = `to match a missing ${field}, use ${field},eq,null`;
    throw filterError(`${problem} in ${where}`, advice);
  }
  if (TEXT_OPERATORS.includes(operator)) return { text, value: text };
  const canBeNull = operator === 'eq' || operator === 'ne';
  if (canBeNull && isNull(text)) return { text: 'null', value: null };
  if (kind === 'time') {
    const span = parseTimeValue(text, now);
    if (span) return { text, value: text, span };
    throw filterError(`invalid time ${quoted(text)} in ${where}`, timeHint(text, now));
  }
  const value = parseValue(text, kind);
  if (kind !== 'text' && typeof value !== kind) {
    const problem = `invalid value ${quoted(text)} in ${where}`;
    const isList = kind === 'number' && operator === 'eq' && /^\d+(?:[, ]+\d+)+$/.test(text);
    if (isList) throw filterError(problem, `use ${field},in,${text.replaceAll(/[, ]+/g, ',')}`);
    const valid = kind === 'number' ? 'a whole number, such as 42' : 'true or false';
    throw filterError(problem, `use ${valid}`);
  }
  return { text: `${value}`, value };
}

function filterError(message: string, advice: string): ImgctlError {
  return new ImgctlError('usage', message, { facts: advice });
}
