// Matches values of images against one filter, and texts against the pattern of `like`.

import { compareValues, type FieldValue, type ImageRecord, kindOf, readValue } from './fields.ts';
import type { Filter, Operator } from './filter.ts';
import { foldCase, normalize } from './fold-case.ts';
import { unknownZone } from './sort.ts';
import { parseTime, type Span, timeDifference } from './timestamp.ts';

export type Test<Subject> = (subject: Subject) => boolean;

/**
 * A missing value or null matches only `eq,null`, `ne` with anything else and the operators that negate. A time in an
 * unknown zone, or one that cannot be read, matches if any instant that it may mean does.
 */
export function filterPredicate(filter: Filter): Test<ImageRecord> {
  const test = valueTest(filter);
  return (image) => test(readValue(image, filter.field));
}

const OPPOSITES: { readonly [Word in Operator]?: Operator } = {
  ...{ lt: 'ge', le: 'gt', gt: 'le', ge: 'lt', eq: 'ne', ne: 'eq', in: 'ne' },
};

/** Returns a function that returns the unknown zone that decides whether an image matches; undefined for other fields. */
export function zoneTest(filter: Filter): ((image: ImageRecord) => string | undefined) | undefined {
  const { field, operator, operands } = filter;
  const { [operator]: opposite } = OPPOSITES;
  if (kindOf(field) !== 'time' || opposite === undefined) return undefined;
  const typed = operands.find(({ span }) => span?.unknownZone)?.span?.unknownZone;
  const [matches, fails] = [
    filterPredicate(filter),
    filterPredicate({ ...filter, operator: opposite }),
  ];
  return (image) =>
    matches(image) && fails(image) ? (unknownZone(image, field) ?? typed) : undefined;
}

const ORDERS: { readonly [Word in Operator]?: (order: number) => boolean } = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

function valueTest({ field, operator, operands }: Filter): Test<FieldValue> {
  if (operator === 'like' || operator === 'notlike') {
    return textTest(
      operator === 'like',
      operands.map(({ text }) => likePredicate(text)),
    );
  }
  if (operator === 'contains' || operator === 'lacks') {
    const parts = operands.map(({ text }) => foldCase(text));
    return textTest(
      operator === 'contains',
      parts.map((part) => (text) => foldCase(text).includes(part)),
    );
  }
  const isTime = kindOf(field) === 'time' && operands.some(({ span }) => span);
  if (isTime)
    return timeTest(
      operator,
      operands.flatMap(({ span }) => span ?? []),
    );
  const { [operator]: accepts } = ORDERS;
  const [{ value: bound } = { value: null }] = operands;
  if (accepts) return (value) => value !== null && accepts(compareValues(value, bound));
  // A set, as `in` may list thousands of values.
  const values = new Set(operands.map(({ value }) => normalize(value)));
  return (value) => values.has(normalize(value)) === (operator !== 'ne');
}

function textTest(isWanted: boolean, tests: readonly Test<string>[]): Test<FieldValue> {
  const isFound = (value: FieldValue) => value !== null && tests.some((test) => test(`${value}`));
  return (value) => isFound(value) === isWanted;
}

/** Compares with times as typed, which are as long as their last unit. */
function timeTest(operator: Operator, spans: readonly Span[]): Test<FieldValue> {
  return (value) => {
    if (value === null) return operator === 'ne';
    const time = parseTime(`${value}`);
    if (time === undefined) return true;
    const mayBeBefore = (at: number, span: Span) => timeDifference(time, { ...span, at })[0] < 0;
    const mayBeFrom = (at: number, span: Span) => timeDifference(time, { ...span, at })[1] >= 0;
    const tests: { readonly [Word in Operator]?: (span: Span) => boolean } = {
      lt: (span) => mayBeBefore(span.at, span),
      le: (span) => mayBeBefore(span.end, span),
      gt: (span) => mayBeFrom(span.end, span),
      ge: (span) => mayBeFrom(span.at, span),
      ne: (span) => mayBeBefore(span.at, span) || mayBeFrom(span.end, span),
    };
    const { [operator]: test } = tests;
    if (test) return spans.every(test);
    return spans.some((span) => mayBeFrom(span.at, span) && mayBeBefore(span.end, span));
  };
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
