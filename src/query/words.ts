// Words of a query: 8 means the numbers 8 and 8.10, not 18, 9.8, 20260803, x86_64 or el8.

import { foldCase } from './patterns.ts';
import { parseVersion, type VersionedName } from './version.ts';

export function parseWord(text: string) {
  /** Digits and dots, such as 22.04. */
  const isNumber = /^[\d.]*\d[\d.]*$/.test(text);
  const part = foldCase(text);
  /** True if the name contains it, in any case. */
  const isPartOf = (name: string) => foldCase(name).includes(part);
  const edges = edgesOf(part);
  /** True if it may not match a name that contains it. */
  const isStrict = isNumber || edges !== undefined;
  const matches = (name: string) => {
    if (!isPartOf(name)) return false;
    if (isNumber) return firstNumber(text, parseVersion(name)) !== -1;
    return edges === undefined || edges.test(foldCase(name));
  };
  return { text, isNumber, isStrict, isPartOf, matches };
}

/** Returns what a word must match so that it is no part of a number, nor x86_64 of x86_64_v3. */
function edgesOf(part: string): RegExp | undefined {
  const start = /^\d/.test(part) ? '(?<!\\d)' : '';
  const level = /(?:amd64|x86[_-]64)$/.test(part) ? '(?![_-]?v[1-4])' : '';
  const end = /\d$/.test(part) ? `(?!\\d)${level}` : '';
  if (start + end === '') return undefined;
  return new RegExp(`${start}${part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}${end}`, 'u');
}

/** Returns the index of the first number of the name that the word means, or -1. */
function firstNumber(word: string, version: VersionedName): number {
  const start = word.endsWith('.') ? word : `${word}.`;
  return numbersOf(version).findIndex(({ text }) => text === word || text.startsWith(start));
}

/** For each word of digits, the index of the number of the name that it means. */
export type NumberMatch = readonly (readonly [word: string, index: number])[];

/** @param words of digits */
export function numberMatch(words: readonly string[], version: VersionedName): NumberMatch {
  return words.map((word) => [word, firstNumber(word, version)]);
}

export function isSameMatch(left: NumberMatch, right: NumberMatch): boolean {
  return left.every(([, index], at) => index === right[at]?.[1]);
}

/** Returns the numbers of a name: its runs of digits, joined if only a dot is between them. */
function numbersOf({ texts, numbers }: VersionedName) {
  const found: { text: string; readonly firstRun: number }[] = [];
  for (const [index, digits] of numbers.entries()) {
    const last = found.at(-1);
    if (last && texts[index] === '.') last.text += `.${digits}`;
    else found.push({ text: digits, firstRun: index });
  }
  return found;
}

/** Returns a pattern for `like` that fits the names of a series with the word at this number. */
export function patternOfMatch(name: string, match: NumberMatch): string {
  const version = parseVersion(name);
  const numbers = numbersOf(version);
  const fixed = new Map<number, string>();
  for (const [word, index] of match) {
    const first = numbers[index]?.firstRun ?? 0;
    for (const [offset, digits] of word.split('.').entries()) {
      if (digits !== '') fixed.set(first + offset, digits);
    }
  }
  const { texts } = version;
  return texts
    .map((text, index) => `${text}${index < texts.length - 1 ? (fixed.get(index) ?? '%') : ''}`)
    .join('');
}
