// The words of images latest and images lock: they match whole numbers of a name, and cut none in two.

import { foldCase } from './plan.ts';
import { findTokens, parseVersion, type VersionedName } from './version.ts';

/** For each word of digits, the index of the number of the name that it means. */
export type Reading = readonly (readonly [word: string, index: number])[];

interface WordMatcher {
  readonly word: string;
  readonly isNumber: boolean;
  /** Returns the index of the first number that a word of digits matches; 0 if another word matches; else -1. */
  find(name: string, version: VersionedName): number;
}

/**
 * Reads names by the words of a query. 8 means the numbers 8 and 8.10, not 18, 9.8, 20260803, x86_64 or el8.
 * Another word must not end within a number, nor within x86_64 and the like.
 */
export class WordReader {
  readonly #matchers: readonly WordMatcher[];
  readonly #unmatched: Set<WordMatcher>;
  #rejected = 0;

  constructor(words: readonly string[]) {
    this.#matchers = words.map(matchWord);
    this.#unmatched = new Set(this.#matchers);
  }

  /** Returns undefined if a word does not match. */
  read(name: string, version: VersionedName): Reading | undefined {
    const reading: [string, number][] = [];
    let matches = true;
    for (const matcher of this.#matchers) {
      const index = matcher.find(name, version);
      if (index === -1) matches = false;
      else this.#unmatched.delete(matcher);
      if (matcher.isNumber) reading.push([matcher.word, index]);
    }
    if (matches) return reading;
    this.#rejected += 1;
    return undefined;
  }

  /** Returns how many names did not match, and the word to blame; undefined if every name matched. */
  get rejected(): Rejected | undefined {
    const [blamed = this.#matchers.find(({ isNumber }) => isNumber) ?? this.#matchers[0]] =
      this.#unmatched;
    if (blamed === undefined || this.#rejected === 0) return undefined;
    return { word: blamed.word, isNumber: blamed.isNumber, count: this.#rejected };
  }
}

export interface Rejected {
  readonly word: string;
  /** True for digits and dots, such as 22.04. */
  readonly isNumber: boolean;
  readonly count: number;
}

function matchWord(word: string): WordMatcher {
  const isNumber = /^[\d.]*\d[\d.]*$/.test(word);
  if (!isNumber) {
    const occursIn = searchFor(word);
    return { word, isNumber, find: (name) => (occursIn(name) ? 0 : -1) };
  }
  const start = word.endsWith('.') ? word : `${word}.`;
  const [digits = ''] = word.split('.');
  return {
    word,
    isNumber,
    find(_, version) {
      // Most names have no such number, and need no others.
      if (!version.numbers.includes(digits)) return -1;
      return numbersOf(version).findIndex(({ text }) => text === word || text.startsWith(start));
    },
  };
}

/** Returns a test for names that contain the word, but do not go on with a number or text word at its end. */
function searchFor(word: string): (name: string) => boolean {
  const part = foldCase(word);
  const own = findTokens(part);
  const startsWithToken = own[0]?.[0] === 0;
  const endsWithToken = own.at(-1)?.[1] === part.length;
  return (name) => {
    const text = foldCase(name);
    let at = text.indexOf(part);
    if (at === -1 || !(startsWithToken || endsWithToken)) return at !== -1;
    const tokens = findTokens(text);
    const cutsToken = (edge: number) => tokens.some(([from, to]) => from < edge && edge < to);
    for (; at !== -1; at = text.indexOf(part, at + 1)) {
      const startsWithin = startsWithToken && cutsToken(at);
      const endsWithin = endsWithToken && cutsToken(at + part.length);
      if (!startsWithin && !endsWithin) return true;
    }
    return false;
  };
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
export function patternOfReading(name: string, reading: Reading): string {
  const version = parseVersion(name);
  const numbers = numbersOf(version);
  const fixed = new Map<number, string>();
  for (const [word, index] of reading) {
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
