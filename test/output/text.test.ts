// Harmful characters are escaped, all others are not.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeInJson, printable } from '../../src/output/text.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

describe('printable', () => {
  it.each([
    ['plain.ova', 'plain.ova'],
    ['a\nb\rc\td', 'a\\nb\\rc\\td'],
    ['\u0000\u001b[0m\u007f', '\\u0000\\u001b[0m\\u007f'],
    ['\u0085\u009b31m', '\\u0085\\u009b31m'],
    ['a\u202eb\u2066c\u200ed', 'a\\u202eb\\u2066c\\u200ed'],
    ['\ufeffa\u200bb\u00adc\u2060d', '\\ufeffa\\u200bb\\u00adc\\u2060d'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['\ud83d and \ude00', '\\ud83d and \\ude00'],
    ['hidden \u{e0041}', 'hidden \\udb40\\udc41'],
    ['C:\\n', 'C:\\n'],
  ])('writes %j as %j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it('escapes control, reordering and invisible characters and lone surrogates only', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      const isEscaped = printable(character) !== character;
      if (isEscaped !== RAW_HARM.test(character)) expect.fail(`U+${code.toString(16)}`);
    }
  });

  it('escapes any text', () => {
    fc.assert(fc.property(anyText(), (text) => !RAW_HARM.test(printable(text))));
    expect(printable(HOSTILE)).toBe(HOSTILE_ESCAPED);
  });
});

describe('escapeInJson', () => {
  it('changes neither the values nor line breaks between them', () => {
    const value = ['\u007f\u009b\u2028\u202e\u{e0001}\ud800', 'ä日😀'];
    const json = escapeInJson(JSON.stringify(value, null, 2));
    expect(json).toBe('[\n  "\\u007f\\u009b\\u2028\\u202e\\udb40\\udc01\\ud800",\n  "ä日😀"\n]');
    expect(JSON.parse(json)).toEqual(value);
  });
});
