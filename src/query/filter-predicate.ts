// A filter applied here instead of by the service: imgctl help filters tells of both.

import { kindOf } from './fields.ts';
import type { Filter, Operand } from './filter.ts';
import { likePredicate } from './like.ts';
import { parseTimestamp } from './timestamp.ts';
import {
  compareText,
  compareValues,
  type FieldValue,
  type ImageRecord,
  readValue,
} from './value.ts';

type ValueTest = (value: FieldValue) => boolean;

/**
 * Whether an image passes the filter; defined for whatever the image holds. A value that is null or
 * missing equals `null` alone, differs from all else, and is neither like, in, below nor above anything.
 */
export function filterPredicate(filter: Filter): (image: ImageRecord) => boolean {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

function valueTest(filter: Filter): ValueTest {
  switch (filter.operator) {
    case 'eq':
    case 'in':
      return equalsAny(filter);
    case 'ne': {
      const equals = equalsAny(filter);
      return (value) => !equals(value);
    }
    case 'lt':
      return ordered(filter, (order) => order < 0);
    case 'le':
      return ordered(filter, (order) => order <= 0);
    case 'gt':
      return ordered(filter, (order) => order > 0);
    case 'ge':
      return ordered(filter, (order) => order >= 0);
    case 'like': {
      const patterns = filter.operands.map((operand) => likePredicate(operand.text));
      return (value) => value !== null && patterns.some((isLike) => isLike(`${value}`));
    }
  }
}

/** Sets, since `in` may list thousands. */
function equalsAny({ field, operands }: Filter): ValueTest {
  const wanted = new Set(operands.map((operand) => operand.value));
  if (kindOf(field) !== 'time') return (value) => wanted.has(value);
  const instants = new Set(operands.map((operand) => operand.instant));
  instants.delete(undefined);
  return (value) => wanted.has(value) || instants.has(parseTimestamp(`${value}`));
}

/** Whether a value's order to the operand (negative: before it) is one that holds. */
function ordered({ field, operands }: Filter, holds: (order: number) => boolean): ValueTest {
  const compare = kindOf(field) === 'time' ? compareTimes : compareOthers;
  return (value) => value !== null && operands.every((operand) => holds(compare(value, operand)));
}

function compareTimes(value: FieldValue, operand: Operand): number {
  const instant = parseTimestamp(`${value}`);
  if (instant !== undefined && operand.instant !== undefined) return instant - operand.instant;
  return compareText(`${value}`, `${operand.value}`);
}

function compareOthers(value: FieldValue, operand: Operand): number {
  return compareValues(value, operand.value);
}
