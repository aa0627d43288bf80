// Durations, times of day, sizes and quotes for people; digits, and words on one line.

import { expect, it } from 'vitest';
import {
  counted,
  describeBytes,
  describeDuration,
  describeLater,
  describeRate,
  isDigits,
  oneLine,
  quoted,
  shellQuote,
  shorten,
  utcTime,
} from '../src/words.ts';
import { rows } from './support/rows.ts';

it.each([
  [-5_000, '0 s'],
  [45_000, '45 s'],
  [59_700, '1 min'],
  [200_000, '3 min 20 s'],
  [86_340_000, '23 h 59 min'],
  [3_599_000, '59 min 59 s'],
  [90_000_000, '25 h'],
  [3_660_000, '1 h 1 min'],
  [172_800_000, '48 h'],
  [259_200_000, '3 d'],
  [262_800_000, '3 d 1 h'],
])('describeDuration shows %j ms as %s', (milliseconds, text) => {
  expect(describeDuration(milliseconds)).toBe(text);
});

it.each([
  [57_001, 'at 10:00:58 (in 58 s)'],
  [12 * 3_600_000, 'at 22:00:00 (in 12 h)'],
  [12 * 3_600_000 + 1, 'on 2026-01-05 at 22:00:01'],
  [-5, 'at 10:00:00 (in 0 s)'],
  [9e15, 'later'],
])('describeLater shows an instant %j ms later as %s', (wait, text) => {
  // In the zone of this machine.
  const now = new Date(2026, 0, 5, 10, 0, 0).getTime();
  expect(describeLater(now + wait, now)).toBe(text);
});

it.each([
  [true, ['0', '42', '007', '12345678901234567890']],
  [false, ['', 'a4', '4a', '-4', '4.0', '1e3', ' 4', '4 ']],
])('isDigits is %s for %j', (expected, texts) => {
  expect(texts.map(isDigits)).toEqual(texts.map(() => expected));
});

it('oneLine keeps one blank between two words', () => {
  expect(oneLine('\n a\t\tb\u00a0c \n')).toBe('a b c');
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, '1023 bytes'],
  [1_024, '1 KiB'],
  [1_536, '1.5 KiB'],
  [10_752, '11 KiB'],
  [1_047_552, '1023 KiB'],
  [1_048_063, '1023 KiB'],
  [1_048_064, '1 MiB'],
  [2 ** 31, '2 GiB'],
  [1.5 * 2 ** 40, '1.5 TiB'],
  [2 ** 50, '1 PiB'],
  [2 ** 61, '2048 PiB'],
])('describeBytes shows %j as %s', (bytes, text) => {
  expect(describeBytes(bytes)).toBe(text);
});

it.each([
  [[0, 0, 0], '100 %'],
  [[0, 100, 1_000], '0 %'],
  [[50, 100, 1_000, 50], '50 %'],
  [[999, 1_000, 999], '99 %, 1000 bytes/s, 0 s left'],
  [[2_048, 4_096, 1_000], '50 %, 2 KiB/s, 1 s left'],
  [[3_072, 4_096, 1_000, 1_024], '75 %, 2 KiB/s, 1 s left'],
  [[1_000, 2_000, 0], '50 %, 977 KiB/s, 0 s left'],
  [[1, 121, 1e9], '0 %, 0 bytes/s, 2 min left'],
] as const)('describeRate shows %j as %s', ([done, total, elapsed, known], text) => {
  expect(describeRate(done, total, elapsed, known)).toBe(text);
});

it.each([
  ['x'.repeat(60), 'x'.repeat(60)],
  ['x'.repeat(61), `${'x'.repeat(59)}…`],
  [`${'x'.repeat(58)}😀yz`, `${'x'.repeat(58)}…`],
  [`${'x'.repeat(57)}😀yz`, `${'x'.repeat(57)}😀…`],
])('shorten and quoted show %s as %s', (text, short) => {
  expect([shorten(text), quoted(text)]).toEqual([short, `'${short}'`]);
});

it.each<readonly [string, string]>([
  ...['a', 'images', 'http://host:80/v2', 'a,b', '-x', 'a_b.c'].map(
    (text) => [text, text] as const,
  ),
  ...rows("''", ''),
  ...rows("'a b'", 'a b'),
  ...rows("'a;'", 'a;'),
  ...rows("' a'", ' a'),
  ["it's o'clock", "'it'\\''s o'\\''clock'"],
])('shellQuote writes %s as %s', (text, written) => {
  expect(shellQuote(text)).toBe(written);
});

it('counted uses the singular for one only', () => {
  const texts = [0, 1, 2].map((count) => counted(count, 'image'));
  expect(texts).toEqual(['0 images', '1 image', '2 images']);
});

it('utcTime has no fractions, and ends with the calendar', () => {
  expect([1, 8.64e15 + 1].map(utcTime)).toEqual([
    '1970-01-01T00:00:01Z',
    '+275760-09-13T00:00:00Z',
  ]);
});
