// Points in time: parsed and formatted.

import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withOffset } from '../../src/query/local-time.ts';
import { formatTimestamp, TIME_STYLES } from '../../src/query/time-format.ts';
import { parseTimeValue, timeInWords } from '../../src/query/time-value.ts';
import {
  isSameTime,
  parseTime,
  parseTimestamp,
  type Time,
  timeDifference,
} from '../../src/query/timestamp.ts';
import { rows } from '../support/rows.ts';

const NOW = Date.UTC(2024, 5, 15, 12);
const STAMP = '2018-07-18 Wed 15:36:49 EDT';
const LAST_DAY = '9999-12-31 Fri 23:59:59 EST';
const INSTANT = Date.UTC(2018, 6, 18, 19, 36, 49);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('parseTimestamp', () => {
  const UNKNOWN_ZONES = ['IST', 'BST', 'AST', 'MSK', 'XYZ', 'edt'];

  it.each([
    ['2018-07-18 Wed 15:36:49 EDT', '2018-07-18T19:36:49Z'],
    ['2018-07-18 Wed 15:36:49 ACST', '2018-07-18T06:06:49Z'],
    ['2018-07-18 Wed 15:36:49 -03', '2018-07-18T18:36:49Z'],
    ['2018-07-18 Wed 15:36:49 +05:30', '2018-07-18T10:06:49Z'],
    ['2000-02-29 Tue 00:00:00 UTC', '2000-02-29T00:00:00Z'],
    ['2018-07-18 Wed 15:36:49 GMT', '2018-07-18T15:36:49Z'],
    ['0099-01-01 Thu 00:00:00 UTC', '0099-01-01T00:00:00Z'],
    ['2018-07-18T15:36:49Z', '2018-07-18T15:36:49Z'],
    ['2018-07-18t15:36:49z', '2018-07-18T15:36:49Z'],
    ['2018-07-18 15:36:49+02:00', '2018-07-18T13:36:49Z'],
    ['2018-07-18 15:36:49+23:00', '2018-07-17T16:36:49Z'],
    ['2018-07-18T15:36Z', '2018-07-18T15:36:00Z'],
    ['2018-07-18T15:36:49.123456789Z', '2018-07-18T15:36:49.123Z'],
    ['2018-07-18T15:36:49.5-0400', '2018-07-18T19:36:49.500Z'],
  ])('parses %s as %s', (text, iso) => {
    expect(parseTimestamp(text)).toBe(Date.parse(iso));
  });

  it.each([
    ...rows('the wrong weekday', '2018-07-18 Thu 15:36:49 EDT', '2018-07-18 Mit 15:36:49 EDT'),
    ...rows('no zone', '2018-07-18 Wed 15:36:49', '2018-07-18T15:36:49', '2018-07-18', ''),
    ...rows('invalid offset', '2018-07-18 Wed 15:36:49 +24:00', '2018-07-18 Wed 15:36:49 +02:60'),
    ...rows('invalid offset', '2018-07-18 Wed 15:36:49 +02:'),
    ...rows('not a leap year', '1900-02-29 Thu 00:00:00 UTC'),
    ...rows('invalid day', '2018-06-31 Sun 00:00:00 UTC', '2018-07-00 Sat 00:00:00 UTC'),
    ...rows('invalid month', '2018-13-01 Tue 00:00:00 UTC', '2018-00-10T00:00:00Z'),
    ...rows('invalid hour', '2018-07-18 Wed 24:00:00 UTC', '2018-07-18T25:00:00Z'),
    ...rows('invalid time', '2018-07-18 Wed 15:60:00 UTC', '2018-07-18 Wed 15:36:60 UTC'),
    ...rows('unknown zone', ...UNKNOWN_ZONES.map((zone) => `2018-07-18 Wed 15:36:49 ${zone}`)),
    ...rows('more text', '2018-07-18 Wed 15:36:49 EDT ', '2018-07-18 Wed 15:36:49 EDT\n'),
  ])('returns undefined for %j: %s', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it.each([
    ...[
      ['today', '2024-06-15'],
      ['Yesterday', '2024-06-14'],
      ['500 ms', undefined],
      ['last week', '1w'],
      ['2 Weeks ago', '2w'],
      ['last 2 weeks', '2w'],
      ['past 2-weeks', '2w'],
      ['last 6M', '180d'],
      ['1234 days', '1234d'],
      ['12345 days', undefined],
      ['5 s', '5s'],
      ['1 h ago', '1h'],
      ['2 d', '2d'],
      ['3 w', '3w'],
      ['1 y', '1y'],
      ['1 year', '1y'],
    ],
    ...[
      ['1M', '30d'],
      ['12 M', '360d'],
      ['1Ms', undefined],
      ['2  weeks__ago', '2w'],
      ['3months', '90d'],
      ['2_days', '2d'],
      ['90 minutes ago', '90m'],
      ['12hrs', '12h'],
    ],
    ...[
      ['30 sec', '30s'],
      ['2 seconds', '2s'],
      ['5mins', '5m'],
      ['past hour', '1h'],
      ['3 days', '3d'],
      ['2wks', '2w'],
      ['6mo', '180d'],
      ['6M', '180d'],
      ['6m', '6m'],
      ['3yr', '3y'],
      ['year', '1y'],
    ],
    ...[
      ['friday', undefined],
      ['may', undefined],
      ['1 fortnight', undefined],
      ['', undefined],
    ],
  ])('reads the time in words %j as %s', (text = '', age) => {
    expect(timeInWords(text, NOW)).toBe(age);
  });

  it('parses every second from year 1 to 9999, with any offset and the right weekday only', () => {
    const second = fc.integer({ min: -62_135_510_400, max: 253_402_214_400 });
    const offset = fc.integer({ min: -23 * 60, max: 23 * 60 });
    const property = fc.property(second, offset, fc.nat(6), (seconds, minutes, days) => {
      const there = new Date((seconds + minutes * 60) * 1000);
      const text = serviceText(there, (there.getUTCDay() + days) % 7, minutes);
      expect(parseTimestamp(text)).toBe(days === 0 ? seconds * 1000 : undefined);
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it.each([
    ...['America/New_York EST EDT', 'America/Chicago CST CDT', 'America/Denver MST MDT'],
    ...['America/Los_Angeles PST PDT'],
    ...['America/Anchorage AKST AKDT', 'Pacific/Honolulu HST -', 'Europe/Lisbon WET WEST'],
    ...['Europe/Berlin CET CEST', 'Europe/Helsinki EET EEST', 'Africa/Lagos WAT -'],
    ...['Africa/Maputo CAT -', 'Africa/Johannesburg SAST -', 'Africa/Nairobi EAT -'],
    ...['Asia/Karachi PKT -', 'Asia/Jakarta WIB -', 'Asia/Makassar WITA -', 'Asia/Jayapura WIT -'],
    ...['Asia/Hong_Kong HKT -', 'Asia/Tokyo JST -', 'Australia/Perth AWST -'],
    ...['Australia/Darwin ACST -', 'Australia/Brisbane AEST -', 'Australia/Adelaide ACDT ACST'],
    ...['Australia/Sydney AEDT AEST', 'Pacific/Auckland NZDT NZST'],
  ])('agrees with the time zone database about %s', (zones) => {
    const [timeZone, january, july] = zones.split(' ');
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
    const shown = (text: string) => clock.format(parseTimestamp(text));
    if (january !== '-') expect(shown(`2024-01-15 Mon 15:00:00 ${january}`)).toBe('15:00');
    if (july !== '-') expect(shown(`2024-07-15 Mon 15:00:00 ${july}`)).toBe('15:00');
  });
});

it.each<readonly [string, string]>([
  ['-30d', '2024-05-16T12:00:00Z'],
  ['30d', '2024-05-16T12:00:00Z'],
  ['-2w', '2024-06-01T12:00:00Z'],
  ['+1d', '2024-06-16T12:00:00Z'],
  ['500ms', '2024-06-15T11:59:59.500Z'],
  ['90s', '2024-06-15T11:58:30Z'],
  ['5m', '2024-06-15T11:55:00Z'],
  ['1y', '2023-06-16T12:00:00Z'],
  ['-1.5h', '2024-06-15T10:30:00Z'],
  ['1.25h', '2024-06-15T10:45:00Z'],
  ['2024-01-31T08:30:15+01:00', '2024-01-31T07:30:15Z'],
  ['2018-07-18 Wed 15:36:49 EDT', '2018-07-18T19:36:49Z'],
  ...rows('', '-30', '-30x', '30dx', 'h', '1.h', '-30D', '- 30d', '-1.5', '-999999999w'),
  ...rows('', '2024-1-31', '2024-02-30', 'yesterday', '2018-07-18 Wed 15:36:49 +24:00', ''),
])('parseTimeValue of %j is %j', (text, iso) => {
  expect(parseTimeValue(text, NOW)?.start.at).toBe(iso ? Date.parse(iso) : undefined);
});

it('yesterday is the local day before, even if that has 23 hours', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  expect(timeInWords('yesterday', Date.parse('2026-03-30T00:30+02:00'))).toBe('2026-03-29');
});

describe('a time without an offset', () => {
  it.each([
    ['2026-11-01', 'Europe/Berlin', '2026-11-01T00:00:00+01:00'],
    ['2026-07-01 10:15', 'America/New_York', '2026-07-01T10:15:00-04:00'],
    ['2026-07-01T10:15:30.5', 'Asia/Kolkata', '2026-07-01T10:15:30.500+05:30'],
    // Occurs twice: the first.
    ['2026-10-25 02:30', 'Europe/Berlin', '2026-10-25T02:30:00+02:00'],
    // Does not exist: the next time that does.
    ['2026-03-29 02:30', 'Europe/Berlin', '2026-03-29T03:00:00+02:00'],
    ['2026-10-04 02:10', 'Australia/Lord_Howe', '2026-10-04T02:30:00+11:00'],
    ['2011-12-30', 'Pacific/Apia', '2011-12-31T00:00:00+14:00'],
  ])('%s is in %s %s', (text, zone, expected) => {
    vi.stubEnv('TZ', zone);
    const { at = 0 } = parseTimeValue(text, NOW)?.start ?? {};
    expect(withOffset(at)).toBe(expected);
    expect(at).toBe(Date.parse(expected));
  });

  // What clocks show, minute by minute, says when a time begins and ends.
  it.each([
    ['Europe/Berlin', '2026-10-24T20:00Z', '2026-10-25T04:00Z'],
    ['Europe/Berlin', '2026-03-28T20:00Z', '2026-03-29T04:00Z'],
    ['America/New_York', '2026-11-01T02:00Z', '2026-11-01T09:00Z'],
    ['America/New_York', '2026-03-08T04:00Z', '2026-03-08T10:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T11:00Z', '2026-04-04T18:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T12:00Z', '2026-10-03T18:00Z'],
    ['America/Sao_Paulo', '2018-11-03T22:00Z', '2018-11-04T06:00Z'],
  ])('lasts in %s as clocks show it: %s', (timeZone, from, to) => {
    vi.stubEnv('TZ', timeZone);
    const style = { dateStyle: 'short', timeStyle: 'short' } as const;
    const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, ...style });
    const shown = new Map<string, [first: number, end: number]>();
    for (let at = Date.parse(from) - 2 * DAY; at < Date.parse(to) + 2 * DAY; at += 60_000) {
      const minute = clock.format(at);
      for (const text of [minute, minute.slice(0, 10)]) {
        shown.set(text, [shown.get(text)?.[0] ?? at, at + 60_000]);
      }
    }
    const spanOf = (text: string) => {
      const { start, end } = parseTimeValue(text, NOW) ?? {};
      return [start?.at, end?.at];
    };
    const [, ...days] = [...shown.keys()].filter((text) => text.length === 10);
    for (const day of days.slice(0, -1)) expect([day, spanOf(day)]).toEqual([day, shown.get(day)]);
    const first = Date.parse(`${clock.format(Date.parse(from)).replace(' ', 'T')}Z`);
    for (let wall = first; wall < first + 10 * HOUR; wall += 60_000) {
      const text = new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
      // What no clock shows is at the end of the gap.
      const after = [...shown].find(([minute]) => minute.length > 10 && minute > text)?.[1][0];
      expect([text, spanOf(text)]).toEqual([text, shown.get(text) ?? [after, after]]);
    }
  });

  it.each([
    ['2026-11-01T10:00:00Z', 1_000],
    ['2026-11-01T10:00Z', 60_000],
    ['2026-11-01T10:00:00.5Z', 100],
    ['2026-11-01T10:00:00.1234Z', 1],
    ['2026-11-01 10:00', 60_000],
    ['2026-11-01', DAY],
    [STAMP, 1_000],
    ['30d', 1],
  ])('%s is %i ms long', (text, length) => {
    vi.stubEnv('TZ', 'UTC');
    const { start, end } = parseTimeValue(text, NOW) ?? {};
    expect(end?.at).toBe((start?.at ?? 0) + length);
  });

  it.each(['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'])(
    'that a table shows in %s is not after the time that it stands for',
    (zone) => {
      vi.stubEnv('TZ', zone);
      const instants = fc.integer({
        min: Date.UTC(2000, 0, 1) / 1000,
        max: Date.UTC(2040, 0, 1) / 1000,
      });
      const property = fc.property(instants, (seconds) => {
        const stamp = new Date(seconds * 1000).toISOString();
        const shown = formatTimestamp(stamp, 'local', NOW);
        const at = parseTimeValue(shown, NOW)?.start.at ?? Number.NaN;
        expect(formatTimestamp(new Date(at).toISOString(), 'local', NOW)).toBe(shown);
        expect(at).toBeLessThanOrEqual(seconds * 1000);
      });
      fc.assert(property, { numRuns: 1000 });
    },
  );
});

it.each(['J', 'edt', 'EASTER'])('the zone %s is unknown', (zone) => {
  const at = Date.UTC(2018, 6, 18, 15, 36, 49);
  expect(parseTime(`2018-07-18 Wed 15:36:49 ${zone}`)).toEqual({ at, unknownZone: zone });
});

it.each([
  [STAMP, '2018-07-18T19:36:49Z', true],
  [STAMP, '2018-07-18T19:36:50Z', false],
  ['soon', 'soon', false],
  ['soon', STAMP, false],
])('%s and %s are the same time: %s', (left, right, isSame) => {
  expect(isSameTime(left, right)).toBe(isSame);
});

describe('timeDifference', () => {
  const noon = (zone: string) => parseTime(`2024-06-15 Sat 12:00:00 ${zone}`) as Time;

  it.each([
    ['UTC', 'UTC', 0, 0],
    ['EDT', 'UTC', 4, 4],
    // The first may be anything from 14 hours earlier to 12 hours later.
    ['IST', 'UTC', -14, 12],
    ['UTC', 'IST', -12, 14],
    ['IST', 'BST', -26, 26],
    ['IST', 'IST', 0, 0],
  ])('of the same time in %s and %s is from %i to %i hours', (left, right, least, greatest) => {
    const hours = timeDifference(noon(left), noon(right)).map((difference) => difference / HOUR);
    expect(hours).toEqual([least, greatest]);
  });
});

describe('formatTimestamp', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    [STAMP, 'raw', 'UTC', STAMP],
    [STAMP, 'iso', 'Asia/Tokyo', '2018-07-18T19:36:49Z'],
    [STAMP, 'local', 'Europe/Berlin', '2018-07-18 21:36'],
    [STAMP, 'local', 'Asia/Kolkata', '2018-07-19 01:06'],
    [STAMP, 'local', 'America/New_York', '2018-07-18 15:36'],
    [LAST_DAY, 'iso', 'UTC', LAST_DAY],
    [LAST_DAY, 'local', 'America/New_York', '9999-12-31 23:59'],
    [LAST_DAY, 'local', 'Asia/Tokyo', LAST_DAY],
  ] as const)('returns for %s with style %s in zone %s %s', (text, style, zone, expected) => {
    vi.stubEnv('TZ', zone);
    expect(formatTimestamp(text, style, INSTANT)).toBe(expected);
  });

  it.each([
    [1000, '1 second ago'],
    [HOUR - 1, '59 minutes ago'],
    [2 * MINUTE, '2 minutes ago'],
    [DAY - 1, '23 hours ago'],
    [3 * DAY, '3 days ago'],
    [(365 / 12) * DAY - 1, '30 days ago'],
    [(365 / 12) * DAY, '1 month ago'],
    [365 * DAY - 1, '11 months ago'],
    [365 * DAY, '1 year ago'],
    [31 * DAY, '1 month ago'],
    [800 * DAY, '2 years ago'],
    [-2 * HOUR, 'in 2 hours'],
    [-500, 'now'],
  ])('after %i ms returns the age "%s"', (later, expected) => {
    expect(formatTimestamp(STAMP, 'age', INSTANT + later)).toBe(expected);
  });

  it.each(['2018-07-18 Wed 15:36:49 IST', '2018-07-18', ''])('leaves %j in any style', (text) => {
    for (const style of TIME_STYLES) expect(formatTimestamp(text, style, INSTANT)).toBe(text);
  });
});

function serviceText(date: Date, weekday: number, offset: number): string {
  const iso = date.toISOString();
  const zone = new Date(Math.abs(offset) * 60_000).toISOString().slice(11, 16);
  const day = 'SunMonTueWedThuFriSat'.slice(3 * weekday, 3 * weekday + 3);
  return `${iso.slice(0, 10)} ${day} ${iso.slice(11, 19)} ${offset < 0 ? '-' : '+'}${zone}`;
}
