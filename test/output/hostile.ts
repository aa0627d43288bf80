// Texts that are harmful if shown unescaped, and a pattern for them.

import fc from 'fast-check';

/** OSC 8, CSI, the one-byte CSI, CR, LF, a bidi override, a comma, a quote. */
export const HOSTILE =
  '=1+1\u001b]8;;http://example.net\u0007x\u001b]8;;\u0007\u001b[31m\u009b2J\r\n\t\u202eba, "q"';

export const HOSTILE_ESCAPED =
  '=1+1\\u001b]8;;http://example.net\\u0007x\\u001b]8;;\\u0007\\u001b[31m\\u009b2J\\r\\n\\t\\u202eba, "q"';

/** The ranges of src/output/text.ts by Unicode properties, without joiners and variation selectors. */
export const RAW_HARM =
  /(?!\u034f|[\u180b-\u180d]|\u180f|[\u200c-\u200d]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}])[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\ufffe\uffff]/u;

/** Any text, often with harmful characters or lone surrogates. */
export function anyText(): fc.Arbitrary<string> {
  const unit = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCodePoint(code)),
    fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    fc.constantFrom('\u001b[31m', '\u009b', '\r', '\n', '\t', '\u202e', '\u2028', '\u{e0041}'),
    fc.constantFrom(',', '"', "'", '=', '-', '+', '@', ' ', ': ', ' #'),
    fc.constantFrom('👨‍👩‍👧', '日本', 'e\u0301'),
  );
  return fc.array(unit, { maxLength: 6 }).map((units) => units.join(''));
}
