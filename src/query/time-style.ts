// How time stamps are shown: --time wire, iso, local or age.

import { parseTimestamp } from './timestamp.ts';

export const TIME_STYLES = ['wire', 'iso', 'local', 'age'] as const;

export type TimeStyle = (typeof TIME_STYLES)[number];

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 1440 * MINUTE;
/** Rounded, for ages only. */
const YEAR = 365 * DAY;
const AGE_UNITS = [
  { name: 'year', span: YEAR },
  { name: 'month', span: YEAR / 12 },
  { name: 'day', span: DAY },
  { name: 'hour', span: 60 * MINUTE },
  { name: 'minute', span: MINUTE },
  { name: 'second', span: SECOND },
];

/**
 * A time stamp of the service in the style asked for: `2018-07-18T19:36:49Z` (iso),
 * `2018-07-18 21:36` (local, the zone of this process), `3 months ago` (age). What only a guess could
 * read stays as it was sent. `now` in milliseconds since the epoch.
 */
export function formatTimestamp(
  text: string,
  style: TimeStyle,
  { now }: { readonly now: number },
): string {
  const instant = style === 'wire' ? undefined : parseTimestamp(text);
  if (instant === undefined) return text;
  if (style === 'age') return ageOf(now - instant);
  if (style === 'iso') {
    const date = new Date(instant);
    return `${dayOf(date)}T${minuteOf(date)}:${twoDigits(date.getUTCSeconds())}Z`;
  }
  const minutesWest = new Date(instant).getTimezoneOffset();
  const shifted = new Date(instant - minutesWest * MINUTE);
  return `${dayOf(shifted)} ${minuteOf(shifted)}`;
}

// Put together by hand: Intl and toISOString take several times as long, and a long list has many.

function dayOf(date: Date): string {
  const year = `${date.getUTCFullYear()}`.padStart(4, '0');
  return `${year}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
}

function minuteOf(date: Date): string {
  return `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

/** The largest whole unit of an age in milliseconds; a negative one lies ahead. */
function ageOf(age: number): string {
  const span = Math.abs(age);
  const unit = AGE_UNITS.find((candidate) => span >= candidate.span);
  if (unit === undefined) return 'now';
  const count = Math.floor(span / unit.span);
  const amount = `${count} ${unit.name}${count === 1 ? '' : 's'}`;
  return age < 0 ? `in ${amount}` : `${amount} ago`;
}
