// Matches values of images against one filter, and texts against the pattern of `like`.

import { compareValues, type FieldValue, type ImageRecord, readValue } from './fields.ts';
import type { Filter, Operator } from './filter.ts';
import { foldCase, normalize } from './fold-case.ts';
import { parseTime, type Span, timeDifference, UNREADABLE } from './timestamp.ts';

/** True, false, or the name of the unknown zone that decides it. */
export type Verdict = boolean | string;

export type Test<Subject> = (subject: Subject) => Verdict;

/** A missing value or null matches only `eq,null`, `ne` with anything else and `notlike`. */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

const ORDERS: { readonly [Word in Operator]?: (order: number) => boolean } = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

function valueTest({ operator, operands }: Filter): Test<FieldValue> {
  if (operator === 'like' || operator === 'notlike') {
    const patterns = operands.map(({ text }) => likePredicate(text));
    const isLike = (value: FieldValue) =>
      value !== null && patterns.some((matches) => matches(`${value}`));
    return operator === 'like' ? isLike : (value) => !isLike(value);
  }
  const { [operator]: accepts } = ORDERS;
  const spans = operands.flatMap(({ span }) => span ?? []);
  if (accepts) {
    const [{ value: bound } = { value: null }] = operands;
    const [span] = spans;
    if (span) return (value) => value !== null && timeVerdict(value, span, operator);
    return (value) => value !== null && accepts(compareValues(value, bound));
  }
  // Sets, as `in` may list thousands of values.
  const values = new Set(operands.map(({ value }) => normalize(value)));
  const equals: Test<FieldValue> = (value) => {
    if (values.has(normalize(value))) return true;
    if (value === null) return false;
    const verdicts = spans.map((span) => timeVerdict(value, span, 'eq'));
    return verdicts.includes(true) || (verdicts.find((verdict) => verdict !== false) ?? false);
  };
  if (operator !== 'ne') return equals;
  return (value) => not(equals(value));
}

/** Compares a value with a time as typed; the name of an unknown zone if that decides. */
function timeVerdict(value: FieldValue, span: Span, operator: Operator): Verdict {
  const time = parseTime(`${value}`);
  if (time === undefined) return UNREADABLE;
  const isBefore = (at: number): Verdict => {
    const [least, greatest] = timeDifference(time, { ...span, at });
    if (greatest < 0) return true;
    return least >= 0 ? false : (time.unknownZone ?? span.unknownZone ?? false);
  };
  if (operator === 'lt') return isBefore(span.at);
  if (operator === 'ge') return not(isBefore(span.at));
  const isBeforeEnd = isBefore(span.end);
  if (operator === 'le') return isBeforeEnd;
  if (operator === 'gt') return not(isBeforeEnd);
  const hasBegun = not(isBefore(span.at));
  return hasBegun === true || isBeforeEnd === false ? isBeforeEnd : hasBegun;
}

function not(verdict: Verdict): Verdict {
  return typeof verdict === 'string' ? verdict : !verdict;
}

/** Ignores case; % stands for any text and cannot be escaped. */
export function likePredicate(pattern: string): (text: string) => boolean {
  const parts = foldCase(pattern).split('%');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return (text) => foldCase(text) === first;
  const middle = parts.slice(1, -1);
  return (text) => {
    const folded = foldCase(text);
    const end = folded.length - last.length;
    if (end < first.length || !folded.startsWith(first) || !folded.endsWith(last)) return false;
    let position = first.length;
    for (const part of middle) {
      const found = folded.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return position <= end;
  };
}
