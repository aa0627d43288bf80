// Matches values of images against one filter, and texts against the pattern of `like`.

import { compareValues, type FieldValue, type ImageRecord, readValue } from './fields.ts';
import type { Filter } from './filter.ts';
import { foldCase, normalize } from './fold-case.ts';
import type { Span } from './time-value.ts';
import { parseTime, type Time, timeDifference } from './timestamp.ts';

export type Test<Subject> = (subject: Subject) => boolean;

/**
 * A missing value or null matches only `eq,null`, `ne` with anything else and the operators that
 * negate. A time in an unknown zone, or one that cannot be read, matches if any instant that it may
 * mean does.
 */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

function valueTest({ operator, operands }: Filter): Test<FieldValue> {
  const [{ text, value } = { text: '', value: null }] = operands;
  if (operator === 'like') return textTest(likePredicate(text));
  if (operator === 'notlike') return not(textTest(likePredicate(text)));
  if (operator === 'contains') return textTest(containsPredicate(text));
  if (operator === 'lacks') return not(textTest(containsPredicate(text)));
  const spans = operands.flatMap(({ span }) => span ?? []);
  if (spans.length > 0) return timeTest(operator, spans);
  if (operator === 'eq' || operator === 'in') return isOneOf(operands);
  if (operator === 'ne') return not(isOneOf(operands));
  const fits = ORDERS[operator];
  const bound = normalizeValue(value);
  return (each) => each !== null && fits(compareValues(normalizeValue(each), bound));
}

/** A set, as `in` may list thousands of values. */
function isOneOf(operands: Filter['operands']): Test<FieldValue> {
  const values = new Set(operands.map(({ value }) => normalizeValue(value)));
  return (value) => values.has(normalizeValue(value));
}

function normalizeValue(value: FieldValue): FieldValue {
  return typeof value === 'string' ? normalize(value) : value;
}

function not<Subject>(test: Test<Subject>): Test<Subject> {
  return (subject) => !test(subject);
}

function textTest(test: Test<string>): Test<FieldValue> {
  return (value) => value !== null && test(`${value}`);
}

function containsPredicate(part: string): Test<string> {
  const folded = foldCase(part);
  return (text) => foldCase(text).includes(folded);
}

const ORDERS = {
  lt: (order: number) => order < 0,
  le: (order: number) => order <= 0,
  gt: (order: number) => order > 0,
  ge: (order: number) => order >= 0,
};

/** True if an instant that the time may mean is there, in a time as typed. */
type TimeTest = (time: Time, start: Time, end: Time) => boolean;

const mayBeBefore = (time: Time, bound: Time) => timeDifference(time, bound)[0] < 0;
const mayBeFrom = (time: Time, bound: Time) => timeDifference(time, bound)[1] >= 0;
const mayBeWithin: TimeTest = (time, start, end) =>
  mayBeFrom(time, start) && mayBeBefore(time, end);

const TIME_TESTS = {
  lt: (time, start) => mayBeBefore(time, start),
  le: (time, _, end) => mayBeBefore(time, end),
  gt: (time, _, end) => mayBeFrom(time, end),
  ge: (time, start) => mayBeFrom(time, start),
  eq: mayBeWithin,
  in: mayBeWithin,
  ne: (time, start, end) => mayBeBefore(time, start) || mayBeFrom(time, end),
} satisfies Record<string, TimeTest>;

/** Compares with times as typed, which are as long as their last unit. */
function timeTest(operator: keyof typeof TIME_TESTS, spans: readonly Span[]): Test<FieldValue> {
  const test: TimeTest = TIME_TESTS[operator];
  const isNe = operator === 'ne';
  return (value) => {
    if (value === null) return isNe;
    const time = parseTime(`${value}`);
    if (time === undefined) return true;
    const fits = ({ start, end }: Span) => test(time, start, end);
    // Of several times after `in`, one has to fit; of `ne`, the opposite of `in`, all.
    return isNe ? spans.every(fits) : spans.some(fits);
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
    if (!folded.startsWith(first) || !folded.endsWith(last)) return false;
    let position = first.length;
    for (const part of middle) {
      const found = folded.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return position <= end;
  };
}
