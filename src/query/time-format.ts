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
  const shown = new Date(instant + (style === 'iso' ? 0 : offsetAt(instant))).toISOString();
  // Another zone can have another year, and years of five digits begin with a sign.
  if (!/^\d/.test(shown)) return text;
  return style === 'iso' ? `${shown.slice(0, 19)}Z` : shown.slice(0, 16).replace('T', ' ');
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
