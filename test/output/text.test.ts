// Harmful characters are escaped, all others are not; long texts are written in chunks.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, printable, writeText } from '../../src/output/text.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

describe('printable', () => {
  it.each([
    ['plain.ova', 'plain.ova'],
    ['a\nb\rc\td', 'a\\nb\\rc\\td'],
    ['\u0000\u001b[0m\u0085\u009b31m', '\\u0000\\u001b[0m\\u0085\\u009b31m'],
    ['a\u202eb\u200ed', 'a\\u202eb\\u200ed'],
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

  it('escapes any text', () => {
    fc.assert(fc.property(anyText(), (text) => !RAW_HARM.test(printable(text))));
  });
});

describe('jsonText', () => {
  it('changes neither the values nor line breaks between them', () => {
    const value = ['\u007f\u009b\u2028\u202e\u{e0001}\ud800', 'ä日😀'];
    expect(jsonText(value, 2)).toBe(
      '[\n  "\\u007f\\u009b\\u2028\\u202e\\udb40\\udc01\\ud800",\n  "ä日😀"\n]',
    );
  });

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
  });
});

it('writeText writes the next chunk after the sink has accepted the one before', async () => {
  let isWriting = false;
  const pieces: string[] = [];
  const write = async (text: string) => {
    expect(isWriting).toBe(false);
    isWriting = true;
    await new Promise(setImmediate);
    isWriting = false;
    pieces.push(text);
  };
  const sink = { isTTY: false, columns: undefined, write };
  await writeText(sink, []);
  expect(pieces).toEqual([]);
  const texts = Array.from({ length: 50_000 }, (_, index) => `${index} 😀\n`);
  await writeText(sink, texts);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.length).toBeLessThan(20);
  expect(pieces.join('')).toBe(texts.join(''));
});
