// How wide texts are, and where they are cut.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutMiddle, displayWidth } from '../../src/output/width.ts';
import { rows } from '../support/rows.ts';
import { anyText } from './hostile.ts';

describe('displayWidth', () => {
  it.each([
    ...rows(1, 'e\u0301', '❤'),
    ...rows(2, '😀', '❤️', '1️⃣', '👍🏽', '👨‍👩‍👧', '🏴‍☠️'),
    ...rows(4, '🇩🇪🇫🇷'),
    ...rows(6, '日本語', '한국어'),
  ])('of %j is %i', (text, expected) => {
    expect(displayWidth(text)).toBe(expected);
  });

  it('and a cut of a long text take linear time', () => {
    const text = '👍🏽e\u0301👨‍👩‍👧'.repeat(20_000);
    const start = performance.now();
    expect(displayWidth(text)).toBe(5 * 20_000);
    expect(cutMiddle(text, 20, true)).toMatch(/…/);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('cutMiddle', () => {
  it.each([
    ['debian-12-server-cloudimg-amd64-20231111.ova', 30, true, 'debian-12-…-amd64-20231111.ova'],
    ['debian-12-server-cloudimg-amd64-20231111.ova', 16, false, 'debian-1...1.ova'],
    ['ubuntu.ova', 9, true, 'ubuntu.o…'],
    ['ubuntu.ova', 2, false, '..'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, true, '👨‍👩‍👧…'],
    ['日本語日本語日本語日本語.ova', 16, true, '日本語日…語.ova'],
  ])('cuts %j to %i cells (unicode: %s): %j', (text, width, unicode, expected) => {
    expect(cutMiddle(text, width, unicode)).toBe(expected);
  });
});

it('cutMiddle never exceeds the width, and changes nothing that fits', () => {
  const text = fc.array(anyText(), { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.nat(40), fc.boolean(), (original, width, unicode) => {
      const result = cutMiddle(original, width, unicode);
      expect(displayWidth(result)).toBeLessThanOrEqual(width);
      expect(result === original).toBe(displayWidth(original) <= width);
    }),
    { numRuns: 1_000 },
  );
});
