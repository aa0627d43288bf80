// The words of images latest and images lock: they match whole numbers of a name, and cut none in two.

import { foldCase } from './plan.ts';
import { findTextWords, parseVersion, type VersionedName } from './version.ts';

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
  if (!isNumber) return { word, isNumber, find: (name) => (containsWhole(name, word) ? 0 : -1) };
  const start = word.endsWith('.') ? word : `${word}.`;
  return {
    word,
    isNumber,
    find: (_, version) =>
      numbersOf(version).findIndex(({ text }) => text === word || text.startsWith(start)),
  };
}

interface NameNumber {
  /** `22.04` */
  readonly text: string;
  /** The index of its first run of digits. */
  readonly first: number;
}

/** Returns the numbers of a name: its runs of digits, joined if only a dot is between them. */
function numbersOf({ texts, numbers }: VersionedName): NameNumber[] {
  const found: { text: string; first: number }[] = [];
  for (const [index, digits] of numbers.entries()) {
    const last = found.at(-1);
    if (last && texts[index] === '.') last.text += `.${digits}`;
    else found.push({ text: digits, first: index });
  }
  return found;
}

function containsWhole(name: string, word: string): boolean {
  const [text, part] = [foldCase(name), foldCase(word)];
  const [starts, ends] = [startsWhole(text, part), endsWhole(text, part)];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    if (starts(at) && ends(at + part.length)) return true;
  }
  return false;
}

type Edge = (at: number) => boolean;

function startsWhole(text: string, part: string): Edge {
  const [start, end] = findTextWords(part)[0] ?? [];
  if (start === 0) {
    const words = findTextWords(text);
    return (at) => words.some(([from, to]) => from === at && to === at + (end ?? 0));
  }
  return /^\d/.test(part) ? (at) => !isDigit(text[at - 1]) : () => true;
}

function endsWhole(text: string, part: string): Edge {
  const [start, end] = findTextWords(part).at(-1) ?? [];
  if (end === part.length) {
    const length = end - (start ?? 0);
    const words = findTextWords(text);
    return (at) => words.some(([from, to]) => to === at && to - from === length);
  }
  return /\d$/.test(part) ? (at) => !isDigit(text[at]) : () => true;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

/** Returns a pattern for `like` that fits the names of a series with the word at this number. */
export function patternOfReading(name: string, reading: Reading): string {
  const version = parseVersion(name);
  const numbers = numbersOf(version);
  const fixed = new Map<number, string>();
  for (const [word, index] of reading) {
    const first = numbers[index]?.first ?? 0;
    for (const [offset, digits] of word.split('.').entries()) {
      if (digits !== '') fixed.set(first + offset, digits);
    }
  }
  const { texts } = version;
  return texts
    .map((text, index) => `${text}${index < texts.length - 1 ? (fixed.get(index) ?? '%') : ''}`)
    .join('');
}
