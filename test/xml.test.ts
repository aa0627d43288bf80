// The XML of a descriptor: what is parsed and what is refused.

import { describe, expect, it } from 'vitest';
import { DESCRIPTOR_LIMITS } from '../src/ovf/descriptor.ts';
import { mayBeXml, parseXml as parseWithin } from '../src/xml.ts';
import { rows } from './support/rows.ts';

const parseXml = (bytes: Uint8Array) => parseWithin(bytes, DESCRIPTOR_LIMITS);

const claiming = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>`;
const NO_ROOT = 'document must contain a root element';
const NO_TYPE = 'document type declarations are not allowed';

function utf16(text: string, bigEndian: boolean, mark = '\ufeff'): Buffer {
  const bytes = Buffer.from(`${mark}${text}`, 'utf16le');
  return bigEndian ? bytes.swap16() : bytes;
}

const entities = Array.from(
  { length: 20 },
  (_, index) => `<!ENTITY b${index} "${'&b;'.repeat(50)}">`,
);
const BOMB = `<!DOCTYPE a [<!ENTITY b "${'c'.repeat(100)}">${entities.join('')}]><a>&b19;</a>`;
const LARGE_TYPE = `<!DOCTYPE a [${' '.repeat(2e6)}]><a/>`;
const EXTERNAL_ENTITY = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>';

describe('parseXml', () => {
  it('returns a tree with lines, namespaces, attributes and text', () => {
    const start = '<?xml version="1.0"?>\n<o:a xmlns:o="urn:o" o:x="1" y="&lt;&#65;">\n';
    const root = parseXml(Buffer.from(`${start}<b> t<![CDATA[<&]]></b></o:a>`));
    expect(root).toEqual({
      ...{ name: 'a', namespace: 'urn:o', line: 2, text: '\n' },
      attributes: [
        expect.objectContaining({ local: 'o', uri: 'http://www.w3.org/2000/xmlns/' }),
        expect.objectContaining({ local: 'x', uri: 'urn:o', value: '1' }),
        expect.objectContaining({ local: 'y', uri: '', value: '<A' }),
      ],
      children: [{ name: 'b', namespace: '', line: 3, text: ' t<&', attributes: [], children: [] }],
    });
  });

  it('joins text that is parsed in several slices', () => {
    const text = '😀'.repeat(1_000_000);
    expect(parseXml(Buffer.from(`<a>${text}</a>`)).text).toBe(text);
  });

  it.each([
    ['UTF-8 with a mark', Buffer.from('\ufeff<a>é</a>')],
    ['UTF-16, little end first', utf16('<a>é</a>', false)],
    ['UTF-16 without mark, big end first', utf16('<a>é</a>', true, '')],
    ['ISO 8859-1', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', 'latin1')],
    ['a claim in a comment', Buffer.from(`<!--${claiming('x-none')}--><a>é</a>`)],
    ['a wrong claim of UTF-16LE', Buffer.from(`${claiming('UTF-16LE')}<a>é</a>`)],
    ['a wrong claim of UTF-16', Buffer.from('<?xml version="1.0" encoding="utf-16"?><a>é</a>')],
  ])('reads %s', (_, bytes) => {
    expect(parseXml(bytes).text).toBe('é');
  });

  it.each([
    ['nothing', '', 'xml-syntax', 1, NO_ROOT],
    ['an open element', '<a>\n<b>\n</a>', 'xml-syntax', 3, 'unexpected close tag'],
    ['control characters', '<a>\u0001</a>', 'xml-syntax', 1, 'disallowed character'],
    ['an unknown entity', '<a>\n&nbsp;</a>', 'xml-entity', 2, 'undefined entity'],
    [
      ...([
        'an unknown entity far below',
        `${'\n'.repeat(11)}<a>&nbsp;</a>`,
        'xml-entity',
        12,
      ] as const),
      'undefined entity',
    ],
    ['a NUL', '<a>\0<b/></a>', 'xml-syntax', 1, 'disallowed character'],
    ['an external entity', EXTERNAL_ENTITY, 'xml-doctype', 1, NO_TYPE],
    ['a bomb of entities', BOMB, 'xml-doctype', 1, NO_TYPE],
    ['a document type without end', `<!DOCTYPE a [${' '.repeat(1000)}`, 'xml-syntax', 1, NO_ROOT],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x3c, 0x61, 0x3e, 0xff]),
      'xml-encoding',
      1,
      'cannot be decoded as utf-8',
    ],
    [
      'an unknown encoding',
      '<?xml version="1.0" encoding="x-none"?><a/>',
      'xml-encoding',
      1,
      'cannot be decoded as x-none',
    ],
    [
      ...(['an encoding that ends in UTF-16', claiming('x-utf-16'), 'xml-encoding', 1] as const),
      'cannot be decoded as x-utf-16',
    ],
    ['a document type of 2 MiB', LARGE_TYPE, 'xml-too-complex', 1, 'no element in the first 1 MiB'],
  ])('refuses %s', (_, xml, code, line, message) => {
    const error = expect.objectContaining({ code, line, message });
    expect(() => parseXml(Buffer.from(xml))).toThrow(error);
  });

  it.each([
    ['<a b="1"><c/><c/></a>', '<a b="1"><c d=""/><c/></a>', 'more than 4 elements and attributes'],
    ['<a><b/><b/></a>', '<a><b><c/></b></a>', 'nested more than 2 levels deep'],
    [`<a>${'x'.repeat(23)}</a>`, `<a>${'x'.repeat(24)}</a>`, 'more than 30 bytes'],
  ])('accepts %s within its limits, and refuses %s', (within, beyond, message) => {
    const limits = { bytes: 30, nodes: 4, depth: 2 };
    expect(parseWithin(Buffer.from(within), limits).name).toBe('a');
    const error = expect.objectContaining({ code: 'xml-too-complex', line: 1, message });
    expect(() => parseWithin(Buffer.from(beyond), limits)).toThrow(error);
  });
});

it.each([
  ...rows(true, '<a', '\u00ef\u00bb\u00bf<a', '\0<', '\u00ff\u00fe<\0', '\n\n <a'),
  ...rows(false, '', 'a<b', 'text\n<a>', '\u0080\u0080\u0080\u0080<', '\n'),
])('bytes that start with %j may be XML: %s', (text, expected) => {
  expect(mayBeXml(Buffer.from(text, 'latin1'))).toBe(expected);
});
