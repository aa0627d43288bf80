// Harmful characters are escaped, and texts are measured and cut by the cells that they take.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonText, printable, wrapWords } from '../../src/output/text.ts';
import { cutMiddle, displayWidth } from '../../src/output/width.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { rows } from '../support/rows.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

it.each([
  ['\u0000\u001b[0m\u0085\u009b31m', '\\u0000\\u001b[0m\\u0085\\u009b31m'],
  ['\ud83d and \ude00', '\\ud83d and \\ude00'],
  ['hidden \u{e0041}', 'hidden \\udb40\\udc41'],
  ['C:\\n', 'C:\\n'],
  [HOSTILE, HOSTILE_ESCAPED],
])('printable writes %j as %j', (text, expected) => {
  expect(printable(text)).toBe(expected);
});

it('printable escapes control, reordering and invisible characters and lone surrogates only', () => {
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    const isEscaped = printable(character) !== character;
    if (isEscaped !== RAW_HARM.test(character)) expect.fail(`U+${code.toString(16)}`);
  }
});

it('jsonText writes any value without harmful characters, and it parses to the same', () => {
  const text = anyText();
  const member = fc.oneof(text, fc.array(text), fc.double(), fc.constant(null));
  const values = fc.dictionary(text, member);
  const property = fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
    const json = jsonText(value, indent);
    expect(json.replaceAll('\n', '')).not.toMatch(RAW_HARM);
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
  });
  fc.assert(property);
  expect(jsonText('\u007f', 0)).toBe('"\\u007f"');
  expect(jsonText(['ä日😀\u009b'], 2)).toBe('[\n  "ä日😀\\u009b"\n]');
});

it.each([
  ...rows(1, 'e\u0301', '❤'),
  ...rows(2, '😀', '❤️', '1️⃣', '👍🏽', '👨‍👩‍👧', '🏴‍☠️'),
  ...rows(4, '🇩🇪🇫🇷'),
  ...rows(6, '日本語', '한국어'),
])('the width of %j is %i', (text, expected) => {
  expect(displayWidth(text)).toBe(expected);
});

it('a long text is measured and cut in linear time', async () => {
  const text = '👍🏽e\u0301👨‍👩‍👧'.repeat(20_000);
  const seconds = await cpuSeconds(() => {
    expect(displayWidth(text)).toBe(5 * 20_000);
    expect(cutMiddle(text, 20, true)).toMatch(/…/);
  });
  expect(seconds).toBeLessThan(1);
});

const DEBIAN = 'debian-12-server-cloudimg-amd64-20231111.ova';
it.each([
  [DEBIAN, 30, true, 'debian-12-…-amd64-20231111.ova'],
  [DEBIAN, 16, false, 'debian-1...1.ova'],
  ['ubuntu.ova', 9, true, 'ubuntu.o…'],
  ['ubuntu.ova', 2, false, '..'],
  ['👨‍👩‍👧👨‍👩‍👧', 3, true, '👨‍👩‍👧…'],
  ['日本語日本語日本語日本語.ova', 16, true, '日本語日…語.ova'],
  ['👨‍👩‍👧'.repeat(60), 60, true, `${'👨‍👩‍👧'.repeat(10)}…${'👨‍👩‍👧'.repeat(19)}`],
])('%j is cut to %i cells (unicode: %s): %j', (text, width, unicode, expected) => {
  expect(cutMiddle(text, width, unicode)).toBe(expected);
});

it('a cut text never exceeds the width, and one that fits is unchanged', () => {
  const text = fc.array(anyText(), { maxLength: 8 }).map((parts) => parts.join(''));
  const property = fc.property(text, fc.nat(40), fc.boolean(), (original, width, unicode) => {
    const result = cutMiddle(original, width, unicode);
    expect(displayWidth(result)).toBeLessThanOrEqual(width);
    expect(result === original).toBe(displayWidth(original) <= width);
  });
  fc.assert(property, { numRuns: 1_000 });
});

it('wrapWords counts what it is told to', () => {
  expect(wrapWords('日本 日本 b c', 6, { measure: displayWidth })).toEqual(['日本', '日本 b', 'c']);
});

it('wrapWords counts an indent, and what else is on the first line', () => {
  const lines = wrapWords('a b ccc d e', 7, { indent: '  ', used: 4 });
  expect(lines).toEqual(['a b', '  ccc d', '  e']);
});

it('wrapWords makes no line of several words wider than the width', () => {
  const words = fc.array(anyText(), { minLength: 1, maxLength: 8 });
  const property = fc.property(words, fc.nat(20), (parts, width) => {
    const lines = wrapWords(parts.join(' '), width);
    expect(lines.join(' ')).toBe(parts.join(' '));
    const several = lines.filter((line) => line.includes(' '));
    expect(several.filter((line) => displayWidth(line) > Math.max(width, 0))).toEqual([]);
  });
  fc.assert(property, { numRuns: 300 });
});
