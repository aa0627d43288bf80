// Parses filters: field,operator,value, and as people type them: 'id>=1100', 'name~ubuntu'.

import { ImgctlError } from '../errors.ts';
import { FIELDS, type Field, type FieldValue, kindOf, parseValue, resolveField } from './fields.ts';
import { parseChoice, quoted } from './suggest.ts';
import { isServiceFormat, parseTimeValue } from './timestamp.ts';

/** Service-api.md section 4.3. */
export const OPERATORS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'like', 'in'] as const;

type Operator = (typeof OPERATORS)[number];

export interface Operand {
  readonly text: string;
  readonly value: FieldValue;
  /** For a time: milliseconds since the epoch, undefined if its zone is ambiguous. */
  readonly instant?: number | undefined;
}

export interface Filter {
  readonly field: Field;
  readonly operator: Operator;
  readonly operands: readonly Operand[];
  /** As the service expects it; undefined for null and times in another format, which it might filter wrongly. */
  readonly wire: string | undefined;
}

const EXAMPLE = "use a filter such as 'name~ubuntu' or name,like,%ubuntu%";

/** `~` means that the value contains the text. */
const SIGNS: ReadonlyMap<string, Operator> = new Map([
  ['=', 'eq'],
  ['==', 'eq'],
  ['!=', 'ne'],
  ['<', 'lt'],
  ['<=', 'le'],
  ['>', 'gt'],
  ['>=', 'ge'],
  ['~', 'like'],
]);

/** @throws ImgctlError usage */
export function parseFilter(text: string, now: number): Filter {
  const where = `--filter ${quoted(text)}`;
  const [fieldName, operatorName, content] = splitFilter(text, where);
  const field = resolveField(fieldName, where);
  const operator = parseChoice(operatorName, { noun: 'operator', valid: OPERATORS, where });
  const items = operator === 'in' ? content.split(',').map((item) => item.trim()) : [content];
  const operands = items.map((item) => parseOperand(item, field, operator, { where, now }));
  const isForService =
    operator === 'like' ||
    operands.every(
      (each) => each.value !== null && (kindOf(field) !== 'time' || isServiceFormat(each.text)),
    );
  const wire = [field, operator, ...operands.map((operand) => operand.text)].join(',');
  return { field, operator, operands, wire: isForService ? wire : undefined };
}

/** Splits at the first two commas if an operator is between them, otherwise at the first sign. */
function splitFilter(
  text: string,
  where: string,
): [field: string, operator: string, value: string] {
  const [field = '', operator, ...rest] = text.split(',');
  const { 0: sign = '', index = 0 } = /[!=<>]=|[=<>~]/.exec(text) ?? {};
  const signOperator = SIGNS.get(sign);
  const hasOperator = OPERATORS.some((each) => each === operator?.toLowerCase());
  if (signOperator !== undefined && !hasOperator && index <= field.length) {
    const value = text.slice(index + sign.length).trim();
    return [
      field.slice(0, index).trim(),
      signOperator,
      sign === '~' && value ? `%${value}%` : value,
    ];
  }
  if (operator === undefined) {
    throw usageError(`missing operator and value in ${where}`, quoteHint(text) ?? EXAMPLE);
  }
  if (rest.length === 0) throw usageError(`missing value in ${where}`, EXAMPLE);
  return [field, operator, rest.join(',')];
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

/** Returns a hint for the first word or `like` filter whose pattern probably does not mean what the user wants. */
export function patternHint(
  filters: readonly string[],
  words: readonly string[],
): string | undefined {
  const starred = words.find((word) => word.includes('*'))?.replaceAll('*', '');
  if (starred) return `a word matches any part of the name; omit the *: ${starred}`;
  for (const text of filters) {
    const { field, operator, operands } = parseFilter(text, 0);
    const pattern = operands[0]?.text ?? '';
    if (operator !== 'like') continue;
    const meant = pattern.replace(/%?\*%?/g, '%');
    if (meant !== pattern) return `% matches any text, * only itself: -f ${field},like,${meant}`;
    if (!pattern.includes('%')) {
      return `like compares the whole value; to search in it: -f '${field}~${pattern}'`;
    }
  }
  return undefined;
}

interface ParseContext {
  readonly where: string;
  readonly now: number;
}

function parseOperand(text: string, field: Field, operator: Operator, at: ParseContext): Operand {
  const { where } = at;
  // An unset shell variable must not change the meaning of a filter.
  if (text === '') {
    const problem = operator === 'in' ? 'empty item' : 'missing value';
    throw usageError(`${problem} in ${where}`, `to match a missing ${field}, use ${field},eq,null`);
  }
  if (operator === 'like') return { text, value: text };
  if (text === 'null' && (operator === 'eq' || operator === 'ne')) return { text, value: null };
  const kind = kindOf(field);
  if (kind === 'time') return parseTimeOperand(text, at);
  const value = parseValue(text, kind);
  if (kind !== 'text' && typeof value !== kind) {
    const valid = kind === 'number' ? 'a whole number, such as 42' : 'true or false';
    throw usageError(`invalid value ${quoted(text)} in ${where}`, `use ${valid}`);
  }
  return { text: `${value}`, value };
}

function parseTimeOperand(text: string, { where, now }: ParseContext): Operand {
  const instant = parseTimeValue(text, now);
  // The service may know which zone it means by CST.
  if (instant === undefined && !isServiceFormat(text)) {
    throw usageError(
      `invalid time ${quoted(text)} in ${where}`,
      `use 2024-01-31, 2024-01-31T12:00:00Z, -30d (units m h d w) or 2018-07-18 Wed 15:36:49 EDT`,
    );
  }
  // A timestamp with an unknown zone is compared as text, for which "-30d" means nothing.
  const isRelative = instant !== undefined && /^[+-]/.test(text);
  return { text, value: isRelative ? new Date(instant).toISOString() : text, instant };
}

function usageError(message: string, hint: string): ImgctlError {
  return new ImgctlError('usage', message, { hint });
}
