// Parses a word of a query, and matches it with names: `help choosing`.

import { foldCase, normalize } from './fold-case.ts';
import { isHash, LEVEL, type Name, readName } from './name.ts';

/**
 * Parses a word of a query. A number such as 8 or 8-1 matches a version that begins with it, 8.1 but not 18; a word with
 * digits such as rocky9 matches Rocky-9-Base, but not rocky-19; any other word, and a hash, matches what contains it.
 */
export function parseWord(text: string) {
  const part = foldCase(text);
  const isNumber = /^[\d.]*\d[\d._ -]*$/.test(text);
  /** True if it may not match a name that contains it. */
  const needsWholeNumbers = /\d/.test(text) && !isHash(text.toLowerCase());
  const pattern = wordPattern(part, isNumber ? 'uy' : 'u');
  const runs = text.match(/\d+|[^\d._ -]+/gu) ?? [];
  /** Parts of the word that each name that matches contains, in this order and in any case. */
  const pieces = needsWholeNumbers ? runs.map(withoutZeros) : [text];
  /** True if it begins with a number, so that the names that it matches may have that number at different positions. */
  const meansVersion = needsWholeNumbers && /^v?[\d.]/i.test(text);
  /** Returns the position of the version of the name that the word means, or nothing. */
  const positionIn = (name: Name) =>
    isNumber ? positionAtStart(pattern, name) : positionWithin(pattern, name);
  const matches = (name: string) => {
    if (isNumber) return positionIn(readName(name)) !== undefined;
    return needsWholeNumbers ? pattern.test(foldCase(name)) : foldCase(name).includes(part);
  };
  return { text, meansVersion, matches, positionIn, pieces };
}

export type Word = ReturnType<typeof parseWord>;

/** Finds where a word has separators, or could have them: at a border between a digit and a letter. */
const SEPARATORS = /((?<=\d)[._ -]*(?=[^\d._ -])|(?<=[^\d._ -])[._ -]*(?=\d))|[._ -]+/g;

/**
 * Digits match whole runs, with zeros before them or without, letters any part; -, _, . and space are alike, and optional
 * between a letter and a digit: y8.1 becomes `y[._ -]?(?<!\d)0*8(?!\d)[._ -](?<!\d)0*1(?!\d)`.
 */
function wordPattern(word: string, flags: string): RegExp {
  const level = /(?:amd64|x86[_-]?64)$/.test(word) ? `(?!${LEVEL})` : '';
  const source = word
    .replace(/[$()*+?[\\\]^{|}]/g, '\\$&')
    .replace(SEPARATORS, (_, border?: string) => (border === undefined ? '[._ -]' : '[._ -]?'))
    .replace(/\d+/g, (digits) => `(?<!\\d)0*${withoutZeros(digits)}(?!\\d)`);
  return new RegExp(source + level, flags);
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

/** Finds the version that begins with the sticky pattern, behind a letter such as v. */
function positionAtStart(pattern: RegExp, { text, versions }: Name): string | undefined {
  const name = normalize(text);
  const found = versions.find(({ start, isHash, text: version }) => {
    const isLetterFirst = /^\p{L}\d/u.test(version);
    pattern.lastIndex = isLetterFirst ? start + 1 : start;
    return !isHash && pattern.test(name);
  });
  return found?.position;
}

/** Finds the version that has the first digit of what the pattern matches. */
function positionWithin(pattern: RegExp, { text, versions }: Name): string | undefined {
  const name = foldCase(text);
  const at = name.search(pattern);
  const digit = at + name.slice(at).search(/\d/);
  return versions.find(({ start, text: { length } }) => start <= digit && digit < start + length)
    ?.position;
}
