// Finds times in unknown zones: whether they decide which images match.

import { type Field, type ImageRecord, kindOf, readValue } from './fields.ts';
import type { Filter, Operator } from './filter.ts';
import { filterPredicate } from './filter-predicate.ts';
import { parseTime, UNREADABLE } from './timestamp.ts';

/** Returns the unknown zone of a time, or UNREADABLE; undefined for all other values. */
export function unknownZone(image: ImageRecord, field: Field): string | undefined {
  const value = readValue(image, field);
  if (kindOf(field) !== 'time' || value === null) return undefined;
  const time = parseTime(`${value}`);
  return time ? time.unknownZone : UNREADABLE;
}

const OPPOSITES: Readonly<Partial<Record<Operator, Operator>>> = {
  lt: 'ge',
  le: 'gt',
  gt: 'le',
  ge: 'lt',
  eq: 'ne',
  ne: 'eq',
  in: 'ne',
};

/** Returns the unknown zone that decides about an image, or undefined. */
export type ZoneFinder = (image: ImageRecord) => string | undefined;

/**
 * Returns a function that finds the zone that decides whether an image matches; undefined if the
 * filter is not of a time. 12:00 IST may be before 11:00 UTC and may be after it: the image matches
 * both `<` and its opposite, so IST decides.
 */
export function decidingZoneFinder(filter: Filter): ZoneFinder | undefined {
  const { field, operator, operands } = filter;
  const opposite = OPPOSITES[operator];
  if (kindOf(field) !== 'time' || opposite === undefined) return undefined;
  const [typedZone] = operands.flatMap(({ span }) => span?.start.unknownZone ?? []);
  const mayMatch = filterPredicate(filter);
  const mayFail = filterPredicate({ ...filter, operator: opposite });
  return (image) => {
    const isUnsure = mayMatch(image) && mayFail(image);
    return isUnsure ? (unknownZone(image, field) ?? typedZone) : undefined;
  };
}
