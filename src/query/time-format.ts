// Formats times of images: as sent, in UTC, in local time, or as an age.

import { offsetAt } from './local-time.ts';
import { DAY, HOUR, MINUTE, parseTimestamp, SECOND } from './timestamp.ts';

export const TIME_STYLES = ['raw', 'iso', 'local', 'age'] as const;

export type TimeStyle = (typeof TIME_STYLES)[number];

/** Returns the text unchanged if parseTimestamp cannot parse it. */
export function formatTimestamp(text: string, style: TimeStyle, now: number): string {
  const instant = style === 'raw' ? undefined : parseTimestamp(text);
  if (instant === undefined) return text;
  if (style === 'age') return formatAge(now - instant);
  const at = instant + (style === 'iso' ? 0 : offsetAt(instant));
  const day = Math.floor(at / DAY);
  const date = dateText(day);
  // Another zone can have another year, and years of five digits begin with a sign.
  if (date.length > 10) return text;
  const seconds = Math.floor((at - day * DAY) / SECOND);
  const clock = `${twoDigits(seconds / 3600)}:${twoDigits((seconds / 60) % 60)}`;
  return style === 'iso' ? `${date}T${clock}:${twoDigits(seconds % 60)}Z` : `${date} ${clock}`;
}

/** The dates that were formatted. A list has few, and Date is slow. */
const DATES = new Map<number, string>();
const MAX_DATES = 10_000;

/** Returns the date of a day since the epoch. */
function dateText(day: number): string {
  const known = DATES.get(day);
  if (known !== undefined) return known;
  if (DATES.size >= MAX_DATES) DATES.clear();
  const [date = ''] = new Date(day * DAY).toISOString().split('T');
  DATES.set(day, date);
  return date;
}

function twoDigits(number: number): string {
  return `${Math.floor(number)}`.padStart(2, '0');
}

const AGE_UNITS = [
  ['year', 365 * DAY],
  ['month', (365 / 12) * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;

let ages: Intl.RelativeTimeFormat | undefined;

function formatAge(age: number): string {
  const [unit, span] = AGE_UNITS.find((candidate) => Math.abs(age) >= candidate[1]) ?? [];
  if (unit === undefined) return 'now';
  ages ??= new Intl.RelativeTimeFormat('en');
  return ages.format(-Math.trunc(age / span), unit);
}
