// Texts for properties.

import fc from 'fast-check';

/** Any character, a third of them of ASCII. fast-check's own unit of all of them lists a million at its first use. */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0x20, max: 0x7e }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));
