// Finds times in unknown zones: whether they decide which images match, or their order.

import { type Field, type ImageRecord, kindOf, readValue } from './fields.ts';
import type { Filter, Operator } from './filter.ts';
import { filterPredicate } from './filter-predicate.ts';
import { isFieldSort, type SortKey } from './sort.ts';
import { parseTime, UNREADABLE } from './timestamp.ts';

/** The zones that matter to the filters and sorts of a query. */
export class Zones {
  /** One for each filter of a time. */
  readonly #finders: readonly ZoneFinder[];
  readonly #timeSorts: readonly Field[];

  constructor(filters: readonly Filter[], sorts: readonly SortKey[]) {
    this.#finders = filters.flatMap((filter) => decidingZoneFinder(filter) ?? []);
    const fields = sorts.filter(isFieldSort).map(({ field }) => field);
    this.#timeSorts = fields.filter((field) => kindOf(field) === 'time');
  }

  /** True if times decide which images match, or their order. */
  get matter(): boolean {
    return this.#finders.length + this.#timeSorts.length > 0;
  }

  /** Returns the unknown zone that decides whether an image matches, or undefined. */
  deciding(image: ImageRecord): string | undefined {
    const [zone] = this.#finders.flatMap((findZone) => findZone(image) ?? []);
    return zone;
  }

  /** Returns the unknown zones of the times by which an image is sorted. */
  sorting(image: ImageRecord): string[] {
    return this.#timeSorts.flatMap((field) => unknownZone(image, field) ?? []);
  }
}

/** Returns the unknown zone of a time field, or UNREADABLE; undefined for all other values. */
function unknownZone(image: ImageRecord, field: Field): string | undefined {
  const value = readValue(image, field);
  if (value === null) return undefined;
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
type ZoneFinder = (image: ImageRecord) => string | undefined;

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
