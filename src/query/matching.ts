// Matches values of images against one filter.

import { compareValues, type FieldValue, type ImageRecord, readValue } from './fields.ts';
import type { Filter, Operator } from './filter.ts';
import { likePredicate, normalize } from './patterns.ts';
import { parseTime, type Time, timeDifference, UNREADABLE } from './timestamp.ts';

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
  const times = operands.flatMap(({ time }) => time ?? []);
  if (accepts) {
    const [{ value: bound } = { value: null }] = operands;
    const [time] = times;
    if (time) return (value) => value !== null && timeVerdict(value, time, accepts);
    return (value) => value !== null && accepts(compareValues(value, bound));
  }
  // Sets, as `in` may list thousands of values.
  const values = new Set(operands.map(({ value }) => normalize(value)));
  const equals: Test<FieldValue> = (value) => {
    if (values.has(normalize(value))) return true;
    if (value === null) return false;
    const verdicts = times.map((time) => timeVerdict(value, time, isZero));
    return verdicts.includes(true) || (verdicts.find((verdict) => verdict !== false) ?? false);
  };
  if (operator !== 'ne') return equals;
  return (value) => {
    const verdict = equals(value);
    return typeof verdict === 'string' ? verdict : !verdict;
  };
}

const isZero = (order: number) => order === 0;

/** Tests the difference of a value to a time, unless it depends on an unknown zone. */
function timeVerdict(value: FieldValue, bound: Time, accepts: (order: number) => boolean): Verdict {
  const time = parseTime(`${value}`);
  if (time === undefined) return UNREADABLE;
  const [least, greatest] = timeDifference(time, bound);
  const isSame = accepts(least) === accepts(greatest);
  // Between them may be the instant for which a test for equality holds.
  const mayBeZero = accepts === isZero && least < 0 && greatest > 0;
  if (isSame && !mayBeZero) return accepts(least);
  return time.unknownZone ?? bound.unknownZone ?? false;
}
