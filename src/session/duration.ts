// Durations such as 30s, as users write and read them.

import { ImgctlError } from '../errors.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns milliseconds, at most 24 days, the maximum of a timer. @throws ImgctlError usage */
export function parseDuration(text: string, what: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds < 2 ** 31) return Math.round(milliseconds);
  throw new ImgctlError('usage', `invalid ${what}: ${text}`, {
    hint: 'use a duration such as 500ms, 30s, 5m or 1h',
  });
}

/** For people: `45 s`, `3 min 20 s`, `23 h 59 min`. From an hour on, in whole minutes. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const minutes = seconds < 3_600 ? Math.floor(seconds / 60) : Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours > 0) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  if (minutes > 0) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  return `${seconds} s`;
}
