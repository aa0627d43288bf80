// Harmful characters are escaped, all others are not.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, printable } from '../../src/output/text.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

describe('printable', () => {
  it.each([
    ['\u0000\u001b[0m\u0085\u009b31m', '\\u0000\\u001b[0m\\u0085\\u009b31m'],
    ['\ud83d and \ude00', '\\ud83d and \\ude00'],
    ['hidden \u{e0041}', 'hidden \\udb40\\udc41'],
    ['C:\\n', 'C:\\n'],
    [HOSTILE, HOSTILE_ESCAPED],
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
});

describe('jsonText', () => {
  it('writes any value without harmful characters, and it parses to the same', () => {
    const text = anyText();
    const member = fc.oneof(text, fc.array(text), fc.double(), fc.constant(null));
    fc.assert(
      fc.property(fc.dictionary(text, member), fc.constantFrom(0, 2), (value, indent) => {
        const json = jsonText(value, indent);
        expect(json.replaceAll('\n', '')).not.toMatch(RAW_HARM);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(jsonText(['ä日😀\u009b'], 2)).toBe('[\n  "ä日😀\\u009b"\n]');
  });
});
