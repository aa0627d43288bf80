// Reads names by words, groups images into series, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, readValue } from './fields.ts';
import { foldCase } from './plan.ts';
import { parseTimestamp } from './timestamp.ts';
import {
  compareVersions,
  describeSeries,
  findTokens,
  parseVersion,
  seriesKey,
  type VersionedName,
} from './version.ts';

export interface Series<Row extends ImageRecord> {
  readonly key: string;
  /** `ubuntu-#.#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** Several images if neither names nor created_on tell which one is newer. */
  readonly newest: readonly [Row, ...Row[]];
  /** Several if a word means different numbers: 8 in web-8.1-3 and web-7.2-8. The newest comes first. */
  readonly readings: readonly {
    readonly reading: Reading;
    readonly newest: readonly [Row, ...Row[]];
  }[];
}

interface Entry<Row extends ImageRecord> {
  readonly image: Row;
  readonly key: string;
  readonly version: VersionedName;
  readonly reading: Reading;
}

interface Candidate<Row extends ImageRecord> extends Entry<Row> {
  readonly pattern: string;
  /** 1 for the newest of its series; equal for images of which neither is newer. */
  readonly rank: number;
}

/** Collects the images that a reader accepts, and holds only those that may be the newest of their series. */
export class SeriesIndex<Row extends ImageRecord> {
  readonly #reader: WordReader;
  readonly #holdsAll: boolean;
  /** By series and reading. */
  readonly #groups = new Map<string, [Entry<Row>, ...Entry<Row>[]]>();

  /** @param holdsAll holds every image that the reader accepts */
  constructor(reader = new WordReader([]), holdsAll = false) {
    this.#reader = reader;
    this.#holdsAll = holdsAll;
  }

  /** Ignores an image without a name. */
  add(image: Row): void {
    const version = versionOf(image);
    if (version === undefined) return;
    const reading = this.#reader.read(nameOf(image), version);
    if (reading === undefined) return;
    const key = seriesKey(version);
    const groupKey = `${reading.map(([, index]) => index)} ${key}`;
    const entry = { image, key, version, reading };
    const group = this.#groups.get(groupKey);
    const order = group ? compareVersions(version, group[0].version) : 1;
    if (group && (this.#holdsAll || order === 0)) group.push(entry);
    else if (order > 0) this.#groups.set(groupKey, [entry]);
  }

  /** Returns the images that it holds, series by series in the order of their names, the newest first. */
  ranked(): Candidate<Row>[] {
    const entries = [...this.#groups.values()].flat().map((entry) => {
      return { ...entry, pattern: describeSeries(entry.version), created: createdOn(entry.image) };
    });
    entries.sort(
      (left, right) =>
        // A # in a name can give two series the same pattern.
        compareText(left.pattern, right.pattern) ||
        compareText(left.key, right.key) ||
        compareVersions(right.version, left.version) ||
        // Not a difference: infinity minus infinity is not a number.
        Number(left.created < right.created) - Number(left.created > right.created) ||
        compareValues(readValue(left.image, 'id'), readValue(right.image, 'id')),
    );
    let rank = 0;
    return entries.map(({ created, ...entry }, index) => {
      const before = entries[index - 1];
      if (before?.key !== entry.key) rank = 0;
      const isOlder =
        before === undefined ||
        compareVersions(before.version, entry.version) !== 0 ||
        (before.created !== created && before.created !== Number.POSITIVE_INFINITY);
      if (isOlder || rank === 0) rank += 1;
      return { ...entry, rank };
    });
  }

  /** Returns the series in the order of their names. */
  all(): Series<Row>[] {
    type Read = { reading: Reading; newest: [Row, ...Row[]]; rank: number };
    const all: (Omit<Series<Row>, 'readings'> & { readings: Read[] })[] = [];
    for (const { key, pattern, reading, rank, image } of this.ranked()) {
      const series = all.at(-1);
      const first: Read = { reading, rank, newest: [image] };
      if (series?.key !== key) {
        all.push({ key, pattern, newest: first.newest, readings: [first] });
        continue;
      }
      const same = series.readings.find((each) => isSameReading(each.reading, reading));
      if (same === undefined) series.readings.push(first);
      else if (same.rank === rank) same.newest.push(image);
    }
    return all;
  }
}

export function isSameReading(left: Reading, right: Reading = []): boolean {
  return left.every(([, index], at) => index === right[at]?.[1]);
}

/** Returns an empty text if the image has no name. */
function nameOf(image: ImageRecord): string {
  return `${readValue(image, 'name') ?? ''}`;
}

export function versionOf(image: ImageRecord): VersionedName | undefined {
  const name = nameOf(image);
  return name === '' ? undefined : parseVersion(name);
}

/** Returns Infinity for a time that cannot be read: the image counts as equal to the newest, so it comes first. */
function createdOn(image: ImageRecord): number {
  return parseTimestamp(`${readValue(image, 'created_on')}`) ?? Number.POSITIVE_INFINITY;
}

/** For each word of digits, the index of the number of the name that it means. */
type Reading = readonly (readonly [word: string, index: number])[];

type WordMatcher = ReturnType<typeof matchWord>;

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
  get rejected() {
    const [blamed = this.#matchers.find(({ isNumber }) => isNumber) ?? this.#matchers[0]] =
      this.#unmatched;
    if (blamed === undefined || this.#rejected === 0) return undefined;
    return { word: blamed.word, isNumber: blamed.isNumber, count: this.#rejected };
  }
}

function matchWord(word: string) {
  /** True for digits and dots, such as 22.04. */
  const isNumber = /^[\d.]*\d[\d.]*$/.test(word);
  const occursIn = searchFor(word);
  const start = word.endsWith('.') ? word : `${word}.`;
  const [digits = ''] = word.split('.');
  /** Returns the index of the first number that a word of digits matches; 0 if another word matches; else -1. */
  const find = (name: string, version: VersionedName): number => {
    if (!isNumber) return occursIn(name) ? 0 : -1;
    // Most names have no such number, and need no others.
    if (!version.numbers.includes(digits)) return -1;
    return numbersOf(version).findIndex(({ text }) => text === word || text.startsWith(start));
  };
  return { word, isNumber, find };
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
