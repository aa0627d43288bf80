// How wide texts are, and where they are cut.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth } from '../../src/output/width.ts';
import { rows } from '../support/rows.ts';
import { anyText } from './hostile.ts';

describe('displayWidth', () => {
  it.each([
    ...rows(0, ''),
    ...rows(1, 'e\u0301', '❤', 'นี้'),
    // Text that ends within a character has an end too.
    ...rows(2, 'é\ud83d'),
    ...rows(2, '\u1100\u1161\u11a8', 'a\u200cb', '😀', '❤️', '1️⃣', '👍🏽', '👨‍👩‍👧', '🏴‍☠️'),
    ...rows(4, 'ﾊﾝｶｸ', '🇩🇪🇫🇷'),
    ...rows(2, 'é\ud800', '\ud800é'),
    ...rows(6, '日本語', '한국어'),
    ...rows(257, `${'é'.repeat(255)}\ud800\ud800`, `${'é'.repeat(255)}😀`),
    ...rows(8, 'ｆｕｌｌ'),
  ])('of %j is %i', (text, expected) => {
    expect(displayWidth(text)).toBe(expected);
  });

  it('of a long text takes linear time', () => {
    // In one piece ICU takes half a minute.
    const text = '👍🏽e\u0301👨‍👩‍👧'.repeat(6_000);
    expect(displayWidth(text)).toBe(5 * 6_000);
    expect(displayWidth(`a${text}`)).toBe(5 * 6_000 + 1);
  });
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
  ])('cuts %j to %i cells, unicode %s: %j', (text, width, unicode, expected) => {
    expect(cutToWidth(text, width, unicode)).toBe(expected);
  });

  it('never exceeds the width, and changes nothing that fits', () => {
    fc.assert(
      fc.property(anyText(), fc.nat(20), fc.boolean(), (text, width, unicode) => {
        const cut = cutToWidth(text, width, unicode);
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        expect(cut === text).toBe(displayWidth(text) <= width);
      }),
    );
  });
});
