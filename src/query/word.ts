// Parses a word of a query, and matches it with names: `help choosing`.

import { isHash, LEVEL } from './find-versions.ts';
import { foldCase } from './fold-case.ts';
import { type Name, readName } from './name.ts';

export interface Word {
  readonly text: string;
  readonly matches: (name: string) => boolean;
  /** Texts that each name that matches contains, in this order and in any case. */
  readonly pieces: readonly string[];
  /**
   * Returns the position (see Name) of the version that the word matches in a name: 0.0 for 8 in
   * web-8.1-3, 0.1 in web-7-8. Only words that begin with a number have one.
   */
  readonly positionIn: (name: Name) => string | undefined;
}

/**
 * Parses one of three kinds of words:
 * - a number such as 8 or 8-1 matches a version that begins with it: 8.1, but not 18;
 * - a git hash matches what contains it: it may be the beginning of one;
 * - any other, such as rocky9-base, matches Rocky-9_Base, but not rocky-19.
 */
export function parseWord(text: string): Word {
  if (/^\d[\d._ -]*$/.test(text)) return numberWord(text);
  if (!isHash(text.toLowerCase())) return wordOfParts(text);
  const folded = foldCase(text);
  const matches = (name: string) => foldCase(name).includes(folded);
  return { text, matches, pieces: [text], positionIn: () => undefined };
}

function numberWord(text: string): Word {
  const pattern = wordPattern(text, 'uy');
  const positionIn = (name: Name) => {
    return name.positionOf((token) => {
      // The letter of v8 and R8 is not part of the number, which the pattern must match there.
      const hasLetter = /^\p{L}/u.test(token.text);
      pattern.lastIndex = token.start + (hasLetter ? 1 : 0);
      return !token.isHash && pattern.test(name.normalized);
    });
  };
  const matches = (name: string) => positionIn(readName(name)) !== undefined;
  return { text, matches, pieces: piecesOf(text), positionIn };
}

function wordOfParts(text: string): Word {
  const pattern = wordPattern(foldCase(text), 'u');
  const matches = (name: string) => pattern.test(foldCase(name));
  const beginsWithNumber = /^v?[._ -]*\d/i.test(text);
  /** Of v8-web in a-v8-web, the token with the 8: the first digit of what matches. */
  const positionIn = (name: Name) => {
    // As long as name.normalized, of which the indexes of tokens are, but for five rare letters.
    const found = pattern.exec(foldCase(name.text));
    if (!found || !beginsWithNumber) return undefined;
    const digit = found.index + found[0].search(/\d/);
    return name.positionOf((token) => token.start <= digit && digit < token.end);
  };
  return { text, matches, pieces: piecesOf(text), positionIn };
}

function piecesOf(text: string): string[] {
  return (text.match(/\d+|[^\d._ -]+/gu) ?? []).map(withoutZeros);
}

/**
 * Digits match whole runs, with zeros before them or without, letters any part; -, _, . and space
 * are alike, one or several, and optional between a letter and a digit. For each part of y8.1:
 *
 *     y    y
 *     8    [._ -]*(?<!\d)0*8(?!\d)
 *     .    [._ -]+
 *     1    (?<!\d)0*1(?!\d)
 *
 * At either end of the word, one separator matches the same names as several, and faster.
 */
function wordPattern(word: string, flags: string): RegExp {
  const parts = word.match(/\d+|[._ -]+|[^\d._ -]+/gu) ?? [];
  const sources = parts.map((part, index) => {
    const [before = '', after = ''] = [parts[index - 1], parts[index + 1]];
    if (/[._ -]/.test(part)) {
      if (before === '' || after === '') return '[._ -]';
      return areLetterAndDigit(before, after) ? '[._ -]*' : '[._ -]+';
    }
    const gap = areLetterAndDigit(before, part) ? '[._ -]*' : '';
    if (DIGIT.test(part)) return `${gap}(?<!\\d)0*${withoutZeros(part)}(?!\\d)`;
    return gap + part.replace(/[$()*+?[\\\]^{|}]/g, '\\$&');
  });
  const level = /(?:amd64|x86[._ -]*64)$/.test(word) ? `(?!${LEVEL})` : '';
  return new RegExp(sources.join('') + level, flags);
}

/** True for the parts y and 8, in any order. */
function areLetterAndDigit(one: string, other: string): boolean {
  return (LETTER.test(one) && DIGIT.test(other)) || (DIGIT.test(one) && LETTER.test(other));
}

const DIGIT = /\d/;
const LETTER = /[^\d._ -]/;

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}
