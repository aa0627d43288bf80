// Cells of a terminal.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth } from '../../src/output/terminal.ts';
import { anyText } from './hostile.ts';

describe('displayWidth', () => {
  it.each([
    ['', 0],
    ['ubuntu.ova', 10],
    ['Größe', 5],
    ['e\u0301', 1],
    ['日本語', 6],
    ['ｆｕｌｌ', 8],
    ['ﾊﾝｶｸ', 4],
    ['한국어', 6],
    ['\u1100\u1161\u11a8', 2],
    ['😀', 2],
    ['❤', 1],
    ['❤️', 2],
    ['1️⃣', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['🏴‍☠️', 2],
    ['🇩🇪🇫🇷', 4],
    ['นี้', 1],
    ['a\u200cb', 2],
    ['…', 1],
  ])('%j takes %i', (text, expected) => {
    expect(displayWidth(text)).toBe(expected);
  });
});

it('sees clusters in a long text too, in time linear in its length', () => {
  // Taken in one piece ICU takes half a minute.
  const text = '👍🏽e\u0301👨‍👩‍👧'.repeat(6_000);
  expect(displayWidth(text)).toBe(5 * 6_000);
  expect(displayWidth(`a${text}`)).toBe(5 * 6_000 + 1);
});

describe('cutToWidth', () => {
  it.each([
    ['ubuntu.ova', 10, true, 'ubuntu.ova'],
    ['ubuntu.ova', 9, true, 'ubuntu.o…'],
    ['ubuntu.ova', 9, false, 'ubuntu...'],
    ['ubuntu.ova', 2, false, '..'],
    ['ubuntu.ova', 1, true, '…'],
    ['ubuntu.ova', 0, true, ''],
    ['日本語', 6, true, '日本語'],
    ['日本語', 5, true, '日本…'],
    ['日本語', 4, true, '日…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, true, '👨‍👩‍👧…'],
    ['e\u0301e\u0301e\u0301', 2, true, 'e\u0301…'],
  ])('%j to %i cells, unicode %s: %j', (text, width, unicode, expected) => {
    expect(cutToWidth(text, width, unicode)).toBe(expected);
  });

  it('never takes more than asked for, and changes nothing that fits', () => {
    fc.assert(
      fc.property(anyText(), fc.nat(20), fc.boolean(), (text, width, unicode) => {
        const cut = cutToWidth(text, width, unicode);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut === text).toBe(displayWidth(text) <= width);
      }),
    );
  });
});
