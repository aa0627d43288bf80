// Durations and times of day for people; digits, and words on one line.

import { expect, it } from 'vitest';
import { describeDuration, describeLater, isDigits, oneLine } from '../src/words.ts';

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
