// Durations such as 30s, as users write them.

import { ImgctlError } from '../errors.ts';

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY,
  w: 7 * DAY,
};

/** Days that fit into a timer. */
export const MAX_TIMER_DAYS = 24;

/** Returns milliseconds. @throws ImgctlError usage */
export function parseDuration(text: string, what: string, maxDays = MAX_TIMER_DAYS): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|[smhdw])$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= maxDays * DAY) return Math.round(milliseconds);
  if (milliseconds > 1) {
    throw new ImgctlError('usage', `${what} must be at most ${maxDays} days (got ${text})`);
  }
  throw new ImgctlError('usage', `invalid ${what}: ${text}`, {
    hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
  });
}
