// Parses times as users type them: points in time, ages such as 30d, and local times.

import { MAX_INSTANT } from '../words.ts';
import { localSpan, offsetAt } from './local-time.ts';
import { DAY, HOUR, MINUTE, parseTime, parseTimeText, SECOND, type Time } from './timestamp.ts';

/** Milliseconds of each unit of a duration. */
export const UNITS: Readonly<Record<string, number> & Record<'d', number>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
  y: 365 * DAY,
};
export const DURATION = `(\\d+(?:\\.\\d+)?)(${Object.keys(UNITS).join('|')})`;
const RELATIVE = new RegExp(`^([+-]?)${DURATION}$`);

/** A time as typed: as long as its last unit. */
export interface Span {
  readonly start: Time;
  /** The first time after it. */
  readonly end: Time;
  /** Set if it means other instants elsewhere, as it has no offset, or later, as it is an age. */
  readonly dependsOn: 'zone' | 'now' | undefined;
}

/** Parses what parseTime does, ages such as `30d`, `-30d` and `+1d`, and ISO 8601 as local time. */
export function parseTimeValue(text: string, now: number): Span | undefined {
  const [, sign, amount, unit = ''] = RELATIVE.exec(text) ?? [];
  if (amount !== undefined) {
    const age = Math.round(Number(amount) * (UNITS[unit] ?? 0));
    const at = sign === '+' ? now + age : now - age;
    if (Math.abs(at) > MAX_INSTANT) return undefined;
    return { ...spanFrom({ at, unknownZone: undefined }, 1), dependsOn: 'now' };
  }
  const { utc, zone, clock } = parseTimeText(text);
  const length = clock === undefined ? DAY : lengthOf(clock);
  if (utc !== undefined && zone === undefined) {
    return { ...localSpan(utc, length), dependsOn: 'zone' };
  }
  const time = parseTime(text);
  return time && { ...spanFrom(time, length), dependsOn: undefined };
}

function spanFrom(start: Time, length: number) {
  return { start, end: { ...start, at: start.at + length } };
}

/** Returns the milliseconds of the last unit of `12:42`, `12:42:05` or `12:42:05.5`. */
function lengthOf(clock: string): number {
  const [, fraction] = clock.split('.');
  if (fraction !== undefined) return Math.max(1, SECOND / 10 ** fraction.length);
  return clock.length > 5 ? SECOND : MINUTE;
}

const UNIT_WORDS = 'sec|second|min|minute|hr|hour|day|wk|week|mo|month|yr|year';
const AGE_IN_WORDS = new RegExp(
  `^(?:last |past )?(\\d{0,4}) ?((?:${UNIT_WORDS})s?|[smhdwy])(?: ago)?$`,
);

/** Returns what words mean: 30d for 1month and 1M, 2w for 2 weeks ago, the local date for today. */
export function timeInWords(text: string, now: number): string | undefined {
  const words = text
    .replace(/(\d+ ?)M$/, '$1month')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ');
  const daysAgo = ['today', 'yesterday'].indexOf(words);
  // A local day may have 23 hours.
  if (daysAgo >= 0) return new Date(now + offsetAt(now) - daysAgo * DAY).toISOString().slice(0, 10);
  const [, amount, unit] = AGE_IN_WORDS.exec(words) ?? [];
  if (unit === undefined) return undefined;
  const count = Number(amount || 1);
  return unit.startsWith('mo') ? `${30 * count}d` : `${count}${unit.charAt(0)}`;
}
