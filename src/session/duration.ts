// Durations such as 30s, as users write and read them.

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
  throw new ImgctlError('usage', `invalid ${what}: ${text}`, {
    hint: 'use a duration such as 500ms, 30s, 5m, 1h or 2d',
  });
}

/** For people: `45 s`, `3 min 20 s`, `23 h 59 min`, `12 d 5 h`. From an hour on, in whole minutes. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const minutes = seconds < 3_600 ? Math.floor(seconds / 60) : Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 2) return `${days} d${hours % 24 === 0 ? '' : ` ${hours % 24} h`}`;
  if (hours > 0) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  if (minutes > 0) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  return `${seconds} s`;
}
