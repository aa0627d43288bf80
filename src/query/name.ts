// Reads the name of an image into words and versions, compares versions, and matches words of a query: `help choosing`.

import { compareText } from './fields.ts';
import { foldCase, normalize } from './patterns.ts';

const LETTER = '\\p{L}';
const EDGE = '[\\p{L}\\p{N}]';
/** Not before a version: amd64-v1.2. */
const LEVEL = `[_-]?v[1-9](?!${EDGE}|\\.\\d)`;
const SUFFIX = `(?:sp|rc|alpha|beta|${LETTER})`;

/** Whole words whose digits are no version: as people read them, and as a pattern. */
const HIDDEN: Readonly<Record<string, string>> = {
  'processors such as amd64, x86_64 and i686': `(?:amd64|x86[_-]64|arm64)(?:${LEVEL})?|x64|x86|aarch64|armv[5-9][a-z]*|i[3-6]86|ppc64(?:le|el)?|s390x?|riscv64`,
  '32bit and 64bit': '(?:32|64)[_-]?bit',
  hw11: 'hw\\d+',
  el8: 'el\\d+',
  'sizes such as 20G and 4vcpu': '(?<!\\.)\\d+(?:\\.\\d)?(?:[gmt](?:i?b)?|v?cpus?|cores?)',
};

export function describeHiddenWords(): string {
  return Object.keys(HIDDEN).join('; ');
}

/** 7 to 40 hexadecimal digits with letters, not only a last one; git describe puts a g before them. */
const HASH = `g?(?=\\d*[a-f])(?=[a-f]*\\d)(?!\\d+[a-f](?!${EDGE}))[0-9a-f]{7,40}`;

/** What is no version as the first group, a hash as the second, a version as the third. */
let tokens: RegExp | undefined;

function scan(text: string) {
  tokens ??= new RegExp(
    `(?<!${EDGE})(?:(${Object.values(HIDDEN).join('|')})|(${HASH}))(?!${EDGE})|` +
      // A letter or a word such as rc begins a version only with digits.
      `((?:(?<!${EDGE})(?:sp|rc|alpha|beta)[-_. ]?|(?<!${EDGE}|\\.)${LETTER})?` +
      `(?<!\\d)\\d+(?:\\.\\d+|${SUFFIX}(?!${LETTER})\\d*)*)`,
    'giu',
  );
  return text.matchAll(tokens);
}

interface Version {
  readonly text: string;
  readonly start: number;
  /** Numbers and letters: 7, 0, u, 3. */
  readonly parts: readonly string[];
}

/** A name, divided into words and places of versions. */
export interface Name {
  readonly text: string;
  /** Equal for names of one series: the words, and # for each place of versions between them. */
  readonly series: string;
  /** With # for each place: `ubuntu-#-server-#.ova`. */
  readonly pattern: string;
  /** Versions with only separators between them share a place. */
  readonly places: readonly (readonly Version[])[];
}

let last: Name | undefined;

export function readName(name: string): Name {
  if (last?.text !== name) last = read(name);
  return last;
}

function read(text: string): Name {
  const name = normalize(text);
  const [extension = ''] = /\.ov[af]$/i.exec(name) ?? [];
  const stem = name.slice(0, name.length - extension.length);
  const places: Version[][] = [];
  const words: string[] = [];
  const shown: string[] = [];
  let end = 0;
  for (const { 0: found, 1: hidden, 2: hash, index: start } of scan(stem)) {
    if (hidden !== undefined) continue;
    const between = stem.slice(end, start);
    const isNext = end > 0 && !/[\p{L}\p{N}]/u.test(between);
    const place = isNext ? places.at(-1) : undefined;
    const parts = foldCase(found).match(/(?!^v)[^\d._ -]+|\d+/g) ?? [];
    const version = { text: found, start, parts: hash === undefined ? parts : [HASH_PART] };
    if (place) place.push(version);
    else {
      places.push([version]);
      words.push(...wordsOf(between), '#');
      shown.push(between);
    }
    end = start + found.length;
  }
  const rest = wordsOf(stem.slice(end));
  // Versions at the end make no other series.
  const series = (rest.length > 0 ? [...words, ...rest] : words.slice(0, -1)).join(' ');
  const pattern = [...shown, `${stem.slice(end)}${extension}`].join('#');
  return { text, series, pattern, places };
}

function wordsOf(text: string): string[] {
  return foldCase(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns the versions of a name: `22.04-20240415`. */
export function describeVersion({ places }: Name): string {
  return places.flatMap((versions) => versions.map(({ text }) => text)).join('-');
}

/**
 * Compares two names of a series version by version from the left, never across a separator. `order` is below 0 if the
 * left one is older; `isUnclear` tells that this takes a guess.
 */
export function difference(left: Name, right: Name): { order: number; isUnclear: boolean } {
  for (let place = 0; place < Math.max(left.places.length, right.places.length); place += 1) {
    const both = [left.places[place] ?? [], right.places[place] ?? []] as const;
    for (let index = 0; index < Math.max(both[0].length, both[1].length); index += 1) {
      const [one = [], other = []] = both.map((versions) => versions[index]?.parts ?? []);
      for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
        const order = compareParts(one[at], other[at]);
        if (order === 0) continue;
        const goesOn = () =>
          both.map((versions) => kindOf(versions[index + 1]?.parts[0]) > NOTHING);
        return {
          order,
          get isUnclear() {
            return isGuess(one.slice(at), other.slice(at), goesOn());
          },
        };
      }
    }
  }
  return { order: 0, isUnclear: false };
}

/** What is older than nothing, nothing, letters, and numbers: in this order. */
const [PRE_RELEASE, NOTHING, LETTERS, NUMBER] = [0, 1, 2, 3];

/** A hash has a place, but no order. */
const HASH_PART = '#';

function kindOf(part = HASH_PART) {
  if (part === HASH_PART) return NOTHING;
  if (/^\d/.test(part)) return NUMBER;
  return /^(?:alpha|beta|rc)$/.test(part) ? PRE_RELEASE : LETTERS;
}

function compareParts(left = HASH_PART, right = HASH_PART): number {
  if (left === right) return 0;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return kind - kindOf(right);
  if (kind !== NUMBER) return compareText(left, right);
  const [one, other] = [withoutZeros(left), withoutZeros(right)];
  return one.length - other.length || compareText(one, other);
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+(?=.)/, '');
}

/**
 * True if it takes a guess to say which of two versions is newer.
 * @param left from the part on in which they differ
 * @param goesOn whether versions follow behind a separator, left and right
 */
function isGuess(left: readonly string[], right: readonly string[], goesOn: readonly boolean[]) {
  const sides = [left, right].map((parts, side) => ({
    kind: kindOf(parts[0]),
    length: withoutZeros(parts[0] ?? '').length,
    isHash: parts[0] === HASH_PART,
    /** Letters before a number: the u of U3. */
    letters: parts.length > 1 && kindOf(parts[0]) === LETTERS ? `${parts[0]}` : '',
    isAlone: parts.length === 1 && goesOn[side] === false,
    goesOn: goesOn[side] === true,
  }));
  sides.sort((one, other) => one.kind - other.kind || one.length - other.length);
  const [low, high] = sides;
  if (low === undefined || high === undefined) return false;
  // 1.0b2 is a beta or a patch, 1.0M3 a milestone or a patch.
  if (low.isHash || (low.kind <= NOTHING && /^[abcm]$/.test(high.letters))) return true;
  // 1.2-3 beside 1.2.4
  if (low.kind === NOTHING) return high.kind === NUMBER && low.goesOn && !high.goesOn;
  if (low.kind === PRE_RELEASE) return false;
  // 12_sp3 beside 12_2021
  if (low.kind !== high.kind) return true;
  // 15.1R7 beside 15.1X49; a1 is older than b1.
  const both = [low.letters, high.letters];
  if (low.kind === LETTERS) return !both.includes('') && !/^[ab]{2}$/.test(both.join(''));
  // 21H2 beside 1909, 2211 beside 20141129, 9.16 beside 992
  const isOtherForm = low.isAlone !== high.isAlone;
  return high.length - low.length >= 2 && (high.length >= 4 || isOtherForm);
}

export function isPreRelease({ places }: Name): boolean {
  return places.flat().some(({ parts }) => parts.some((part) => kindOf(part) === PRE_RELEASE));
}

/** Days such as 31.01.2024, 01_31_2024 and 31012024, months such as 012024, and 01-2024, W52-2023 and 4Q2024. */
const YEAR_LAST = /(?<!\d)(?:(\d\d?)([-_.])(\d\d?)\2|(\d\d)?(\d\d)|(\d\d?)[-_.q])(20\d\d)(?!\d)/gi;

/** Returns the name with the year first in its dates; undefined if it has none with the year last. */
export function withYearFirst(name: Name, monthFirst: boolean): Name | undefined {
  let isDated = false;
  const text = name.text.replace(YEAR_LAST, (found: string, ...groups: string[]) => {
    const [day1, , month1, day2, month2, week, year] = groups;
    const day = day1 ?? day2;
    const [one, two] = [day ?? '1', month1 ?? month2 ?? week ?? ''];
    const [less = 0, more = 0] = [Number(one), Number(two)].sort((a, b) => a - b);
    if (less < 1 || less > 12 || more > (week ? 53 : day ? 31 : 12)) return found;
    isDated = true;
    return [year, ...(monthFirst ? [one, two] : [two, one])].join('-');
  });
  return isDated ? read(text) : undefined;
}

/** Parses a word of a query. */
export function parseWord(text: string) {
  /** Digits and dots, such as 22.04. */
  const isNumber = /^[\d.]*\d[\d.]*$/.test(text);
  const part = foldCase(text);
  const isHash = new RegExp(`^${HASH}$`, 'i').test(text);
  /** True if the name contains it, in any case. */
  const isPartOf = (name: string) => foldCase(name).includes(part);
  /** True if it may not match a name that contains it. */
  const isStrict = /\d/.test(text) && !isHash;
  const pattern = isStrict ? patternOf(part, isNumber ? 'uy' : 'u') : undefined;
  const pieces = (isStrict && part.match(/\d+|[^\d._ -]+/gu)) || [part];
  const matches = (name: string) => {
    if (pattern === undefined) return isPartOf(name);
    return isNumber ? placeOf(pattern, readName(name)) !== -1 : pattern.test(foldCase(name));
  };
  /** Returns which version of the name a number means, or -1. */
  const versionOf = (name: Name) => (pattern && isNumber ? placeOf(pattern, name) : -1);
  /** `pieces` are found in this order in each name that matches. */
  return { text, isNumber, isStrict, isPartOf, matches, versionOf, pieces };
}

export type Word = ReturnType<typeof parseWord>;

/** Digits match whole runs, letters any part; -, _, . and space are alike, and optional between a letter and a digit. */
function patternOf(word: string, flags: string): RegExp {
  const level = /(?:amd64|x86[_-]?64)$/.test(word) ? `(?!${LEVEL})` : '';
  const source = word
    .replace(/[$()*+?[\\\]^{|}]/g, '\\$&')
    .replace(
      /((?<=\d)[._ -]*(?=[^\d._ -])|(?<=[^\d._ -])[._ -]*(?=\d))|[._ -]+/g,
      (_, optional?: string) => `[._ -]${optional === undefined ? '' : '?'}`,
    )
    .replace(/\d+/g, '(?<!\\d)$&(?!\\d)');
  return new RegExp(source + level, flags);
}

/** Returns which version of a name begins with the sticky pattern, or -1. */
function placeOf(pattern: RegExp, { text, places }: Name): number {
  const name = normalize(text);
  return places.flat().findIndex(({ start, parts, text: found }) => {
    pattern.lastIndex = start + (/^\p{L}\d/u.test(found) ? 1 : 0);
    return parts[0] !== HASH_PART && pattern.test(name);
  });
}
