// Text compared regardless of case and Unicode form.

const NON_ASCII = /[\x80-\uffff]/;

/** No name is longer, and the time of normalize grows with the square of the length. */
const MAX_NORMALIZED = 1_000;

/** Returns the same text for texts that look the same: é for é and for e with an accent. */
export function normalize(text: string): string {
  const isName = text.length <= MAX_NORMALIZED;
  return isName && NON_ASCII.test(text) ? text.normalize('NFC') : text;
}

/**
 * Returns the text in lower case. ß stays, although its upper case is SS, as a service would not
 * find strasse in straße. U+0130 and the Kelvin sign stay, as their lower case is ASCII. A Greek
 * sigma is the same at the end of a word.
 */
export function foldCase(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  const lower = text.replace(/[^\u0130\u212a]+/g, (part) => part.toLowerCase());
  return normalize(lower).replaceAll('ς', 'σ');
}
