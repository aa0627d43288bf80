// Text compared regardless of case and Unicode form.

/** No name is longer, and the time of normalize grows with the square of the length. */
const MAX_NORMALIZED = 1_000;

/** Texts that look the same are equal, whatever their Unicode form. */
export function normalize<Value>(value: Value): Value | string {
  const isName = typeof value === 'string' && value.length <= MAX_NORMALIZED;
  return isName && NON_ASCII.test(value) ? value.normalize('NFC') : value;
}

const NON_ASCII = /[\x80-\uffff]/;

/**
 * Returns the text in lower case. The upper case of some letters is ASCII, such as SS for ß: a
 * service would not find strasse in straße. The lower case of two others is ASCII, so they stay. A
 * Greek sigma has another form at the end of a word.
 */
export function foldCase(text: string): string {
  const lower = NON_ASCII.test(text)
    ? text.replace(/[^\u0130\u212a]+/g, (part) => part.toLowerCase())
    : text.toLowerCase();
  return NON_ASCII.test(lower) ? `${normalize(lower)}`.replaceAll('ς', 'σ') : lower;
}
