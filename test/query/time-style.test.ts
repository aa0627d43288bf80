// Time stamps as they are shown.

import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { formatTimestamp, TIME_STYLES } from '../../src/query/time-style.ts';
import { parseTimestamp } from '../../src/query/timestamp.ts';

const STAMP = '2018-07-18 Wed 15:36:49 EDT';
const AT = Date.UTC(2018, 6, 18, 19, 36, 49);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('formatTimestamp', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['wire', 'UTC', STAMP],
    ['iso', 'Asia/Tokyo', '2018-07-18T19:36:49Z'],
    ['local', 'Europe/Berlin', '2018-07-18 21:36'],
    ['local', 'Asia/Kolkata', '2018-07-19 01:06'],
    ['local', 'America/New_York', '2018-07-18 15:36'],
  ] as const)('%s for a user in the zone %s: %s', (style, zone, expected) => {
    vi.stubEnv('TZ', zone);
    expect(formatTimestamp(STAMP, style, { now: AT })).toBe(expected);
  });

  it('shows winter times by the winter clock', () => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    expect(formatTimestamp('2018-01-18 Thu 15:36:49 UTC', 'local', { now: AT })).toBe(
      '2018-01-18 16:36',
    );
  });

  it.each([
    [0, 'now'],
    [999, 'now'],
    [1000, '1 second ago'],
    [59_999, '59 seconds ago'],
    [60_000, '1 minute ago'],
    [HOUR - 1, '59 minutes ago'],
    [HOUR, '1 hour ago'],
    [DAY - 1, '23 hours ago'],
    [DAY, '1 day ago'],
    [30 * DAY, '30 days ago'],
    [31 * DAY, '1 month ago'],
    [100 * DAY, '3 months ago'],
    [365 * DAY - 1, '11 months ago'],
    [365 * DAY, '1 year ago'],
    [800 * DAY, '2 years ago'],
    [-2 * HOUR, 'in 2 hours'],
    [-500, 'now'],
  ])('%i ms later it is of age "%s"', (later, expected) => {
    expect(formatTimestamp(STAMP, 'age', { now: AT + later })).toBe(expected);
  });

  it.each([
    ['2018-07-18 Wed 15:36:49 CST'],
    ['2018-07-18 Thu 15:36:49 EDT'],
    ['2018-07-18'],
    ['soon'],
    [''],
  ])('shows %j as it was sent in every style', (text) => {
    expect(TIME_STYLES.map((style) => formatTimestamp(text, style, { now: AT }))).toEqual(
      TIME_STYLES.map(() => text),
    );
  });

  it('writes ISO 8601 that reads back as the same instant', () => {
    const date = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (when) => {
        const iso = formatTimestamp(when.toISOString(), 'iso', { now: AT });
        expect(iso).toBe(`${when.toISOString().slice(0, 19)}Z`);
        expect(parseTimestamp(iso)).toBe(Math.floor(when.getTime() / 1000) * 1000);
      }),
    );
  });
});
