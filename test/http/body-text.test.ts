// Bodies in UTF-8 and UTF-16.

import { describe, expect, it } from 'vitest';
import { bodyText } from '../../src/http/body-text.ts';

function utf16(text: string, bigEndian = false): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return bigEndian ? bytes.swap16() : bytes;
}

describe('bodyText', () => {
  it.each<[string, Buffer, string]>([
    ['UTF-8', Buffer.from('{"a":"ä😀"}'), '{"a":"ä😀"}'],
    ['nothing', Buffer.alloc(0), ''],
    ['one zero', Buffer.from('0123456789\0'), '0123456789\0'],
    ['little-endian UTF-16 with a mark', utf16('\ufeff日本'), '日本'],
    ['big-endian UTF-16 with a mark', utf16('\ufeff日本', true), '日本'],
    ['little-endian UTF-16 without a mark', utf16('{"a":"ä😀"}'), '{"a":"ä😀"}'],
    ['big-endian UTF-16 without a mark', utf16('{"a":"ä😀"}', true), '{"a":"ä😀"}'],
    ['UTF-16 with many other letters', utf16('ab 日本語日本語日本語'), 'ab 日本語日本語日本語'],
    ['half a character at the end', Buffer.from([0, 65, 0, 66, 0]), 'AB'],
  ])('decodes %s', (_case, bytes, text) => {
    expect(bodyText(bytes)).toBe(text);
  });
});
