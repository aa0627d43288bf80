// Durations such as 30s, as users write them.

import { ImgctlError } from '../errors.ts';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** 24 days, the maximum of a timer. */
const MAX_TIMER = 2 ** 31 - 1;

/** A hundred years. */
export const MAX_AGE = 36_525 * 86_400_000;

/** Returns milliseconds. @throws ImgctlError usage */
export function parseDuration(text: string, what: string, max = MAX_TIMER): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= max) return Math.round(milliseconds);
  if (milliseconds > max) {
    const days = Math.floor(max / 86_400_000);
    throw new ImgctlError('usage', `${what} must be at most ${days} days (got ${text})`);
  }
  throw new ImgctlError('usage', `invalid ${what}: ${text}`, {
    hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
  });
}
