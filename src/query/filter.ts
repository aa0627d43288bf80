// --filter field,operator,value: taken apart and checked.

import { ImgctlError } from '../errors.ts';
import { type Field, kindOf, resolveField } from './fields.ts';
import { isServiceShape, parseTimeValue, withItsWeekday } from './timestamp.ts';
import { parseChoice, quoted } from './usage.ts';
import { type FieldValue, interpret } from './value.ts';

/** service-api.md section 4.3. */
export const OPERATORS = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'like', 'in'] as const;

export type Operator = (typeof OPERATORS)[number];

/** One value that a field is held against. */
export interface Operand {
  /** As the service takes it. */
  readonly text: string;
  readonly value: FieldValue;
  /** Of a time, milliseconds since the epoch; undefined where the text does not tell. */
  readonly instant?: number | undefined;
}

export interface Filter {
  readonly field: Field;
  readonly operator: Operator;
  /** Several for `in`, one for the others. */
  readonly operands: readonly Operand[];
  /** The whole filter as the service takes it, names in its own spelling. */
  readonly wire: string;
  /** False where its answer might be wrong: null, or times that are not in its own shape. */
  readonly serverCanAnswer: boolean;
}

const EXAMPLE = 'write field,operator,value, as in name,like,%ubuntu%';

const SYNONYMS: ReadonlyMap<string, Operator> = new Map([
  ['=', 'eq'],
  ['==', 'eq'],
  ['is', 'eq'],
  ['!=', 'ne'],
  ['<>', 'ne'],
  ['<', 'lt'],
  ['<=', 'le'],
  ['lte', 'le'],
  ['>', 'gt'],
  ['>=', 'ge'],
  ['gte', 'ge'],
  ['~', 'like'],
  ['contains', 'like'],
]);

/**
 * Reads one filter; it is split at its first two commas only. `now` in milliseconds since the epoch.
 * Throws a usage error that names the part that is wrong and what is valid there.
 */
export function parseFilter(text: string, now: number): Filter {
  const where = `--filter ${quoted(text)}`;
  const [fieldName = '', operatorName, ...rest] = text.split(',');
  if (operatorName === undefined) throw usageError(`no operator and no value in ${where}`, EXAMPLE);
  if (rest.length === 0) throw usageError(`no value in ${where}`, EXAMPLE);
  const field = resolveField(fieldName, where);
  const operator = parseChoice(operatorName, {
    noun: 'operator',
    valid: OPERATORS,
    where,
    synonyms: SYNONYMS,
  });
  const items = operator === 'in' ? rest : [rest.join(',')];
  const operands = items.map((item) => parseOperand(item, field, operator, { where, now }));
  return {
    field,
    operator,
    operands,
    wire: [field, operator, ...operands.map((operand) => operand.text)].join(','),
    serverCanAnswer:
      operator === 'like' || operands.every((operand) => isKnownToServer(operand, field)),
  };
}

function isKnownToServer(operand: Operand, field: Field): boolean {
  return operand.value !== null && (kindOf(field) !== 'time' || isServiceShape(operand.text));
}

interface Place {
  readonly where: string;
  readonly now: number;
}

function parseOperand(text: string, field: Field, operator: Operator, place: Place): Operand {
  const { where } = place;
  // An unset shell variable must not turn into another question.
  if (text === '') {
    const what = operator === 'in' ? 'an empty item' : 'no value';
    throw usageError(`${what} in ${where}`, `for a missing ${field}, write ${field},eq,null`);
  }
  if (operator === 'like') return { text, value: text };
  if (text === 'null' && (operator === 'eq' || operator === 'ne')) return { text, value: null };
  const kind = kindOf(field);
  if (kind === 'time') return parseTimeOperand(text, place);
  const value = interpret(text, kind);
  if (kind === 'number' && typeof value !== 'number') {
    throw usageError(
      `${quoted(text)} is not a whole number, in ${where}`,
      `${field} takes whole numbers, as in ${field},eq,42`,
    );
  }
  if (kind === 'boolean' && typeof value !== 'boolean') {
    throw usageError(
      `${quoted(text)} is neither true nor false, in ${where}`,
      `write ${field},eq,true or ${field},eq,false`,
    );
  }
  return { text: `${value}`, value };
}

function parseTimeOperand(text: string, { where, now }: Place): Operand {
  const instant = parseTimeValue(text, now);
  // In the service's own shape but with a zone of several meanings: the service may know its own.
  if (instant === undefined && !isServiceShape(text)) {
    throw usageError(
      `${quoted(text)} is not a time, in ${where}`,
      `${nearestTime(text)}write 2024-01-31, 2024-01-31T12:00:00Z, -30d (units m h d w) or 2018-07-18 Wed 15:36:49 EDT`,
    );
  }
  // Where only texts can be compared, "-30d" would tell nothing.
  const isRelative = instant !== undefined && /^[+-]/.test(text);
  return { text, value: isRelative ? new Date(instant).toISOString() : text, instant };
}

/** What was probably meant, to begin a hint with. */
function nearestTime(text: string): string {
  const meant = /^\d+[mhdw]$/.test(text) ? `-${text}` : withItsWeekday(text);
  return meant === undefined ? '' : `did you mean ${meant}? `;
}

function usageError(message: string, hint: string): ImgctlError {
  return new ImgctlError('usage', message, { hint });
}
