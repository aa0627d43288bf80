// Matches values of images against one filter, and texts against the pattern of `like`.

import { compareValues, type FieldValue, type ImageRecord, readValue } from './fields.ts';
import type { Filter, Operator, PerOperator } from './filter.ts';
import { foldCase, normalize } from './fold-case.ts';
import type { Span } from './time-value.ts';
import { parseTime, type Time, timeDifference } from './timestamp.ts';

export type Test<Subject> = (subject: Subject) => boolean;

/**
 * A missing value or null matches only `eq,null`, `ne` with anything else and the operators that negate. A time in an
 * unknown zone, or one that cannot be read, matches if any instant that it may mean does.
 */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

const ORDERS: PerOperator<(order: number) => boolean> = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

function valueTest({ operator, operands }: Filter): Test<FieldValue> {
  const texts = operands.map(({ text }) => text);
  if (operator === 'like') return textTest(true, texts.map(likePredicate));
  if (operator === 'notlike') return textTest(false, texts.map(likePredicate));
  if (operator === 'contains') return textTest(true, texts.map(containsPredicate));
  if (operator === 'lacks') return textTest(false, texts.map(containsPredicate));
  const spans = operands.flatMap(({ span }) => span ?? []);
  if (spans.length > 0) return timeTest(operator, spans);
  const accepts = ORDERS[operator];
  const bound = normalize(operands[0]?.value ?? null);
  if (accepts) return (value) => value !== null && accepts(compareValues(normalize(value), bound));
  // A set, as `in` may list thousands of values.
  const values = new Set(operands.map(({ value }) => normalize(value)));
  return (value) => values.has(normalize(value)) === (operator !== 'ne');
}

function textTest(isWanted: boolean, tests: readonly Test<string>[]): Test<FieldValue> {
  const isFound = (value: FieldValue) => value !== null && tests.some((test) => test(`${value}`));
  return (value) => isFound(value) === isWanted;
}

function containsPredicate(part: string): Test<string> {
  const folded = foldCase(part);
  return (text) => foldCase(text).includes(folded);
}

/**
 * True if an instant that the time may mean is there: the least difference says whether it may be before, the greatest
 * whether it may be after.
 */
type TimeTest = (time: Time, span: Span) => boolean;

const endOf = (span: Span): Time => ({ ...span, at: span.end });
const beforeStart: TimeTest = (time, span) => timeDifference(time, span)[0] < 0;
const beforeEnd: TimeTest = (time, span) => timeDifference(time, endOf(span))[0] < 0;
const fromStart: TimeTest = (time, span) => timeDifference(time, span)[1] >= 0;
const fromEnd: TimeTest = (time, span) => timeDifference(time, endOf(span))[1] >= 0;
const within: TimeTest = (time, span) => fromStart(time, span) && beforeEnd(time, span);
const outside: TimeTest = (time, span) => beforeStart(time, span) || fromEnd(time, span);

const TIME_TESTS: PerOperator<TimeTest> = {
  lt: beforeStart,
  le: beforeEnd,
  gt: fromEnd,
  ge: fromStart,
  ne: outside,
};

/** Compares with times as typed, which are as long as their last unit. */
function timeTest(operator: Operator, spans: readonly Span[]): Test<FieldValue> {
  const test = TIME_TESTS[operator];
  return (value) => {
    if (value === null) return operator === 'ne';
    const time = parseTime(`${value}`);
    if (time === undefined) return true;
    // Of `eq` and `in`, one of the times has to be met.
    return test
      ? spans.every((span) => test(time, span))
      : spans.some((span) => within(time, span));
  };
}

/** Ignores case; % stands for any text and cannot be escaped. */
export function likePredicate(pattern: string): Test<string> {
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
