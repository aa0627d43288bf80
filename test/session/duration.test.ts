// Durations as users write them, and as they read them.

import { describe, expect, it } from 'vitest';
import { describeDuration, parseDuration } from '../../src/session/duration.ts';

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    [' 5m ', 300_000],
    ['1h', 3_600_000],
    ['596h', 2_145_600_000],
    ['1ms', 1],
  ])('%j', (text, milliseconds) => {
    expect(parseDuration(text, 'timeout')).toBe(milliseconds);
  });

  it.each([
    '',
    '5',
    's',
    '-1s',
    '0s',
    '0.4ms',
    '1e3s',
    '597h',
    '1d',
    '5 m',
    '5M',
    '1m30s',
    '1.s',
    '٣s',
  ])('not %j', (text) => {
    expect(() => parseDuration(text, 'timeout')).toThrowError(
      expect.objectContaining({
        code: 'usage',
        message: `timeout is not a duration: ${text}`,
        hint: 'write it as 500ms, 30s, 5m or 1h',
      }),
    );
  });
});

it.each([
  [0, '0 s'],
  [-5_000, '0 s'],
  [400, '0 s'],
  [45_000, '45 s'],
  [59_700, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [86_340_000, '23 h 59 min'],
  [90_000_000, '25 h'],
])('%j ms for people: %s', (milliseconds, text) => {
  expect(describeDuration(milliseconds)).toBe(text);
});
