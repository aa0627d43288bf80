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

/** What is no version as the first group, a hash as the second, a version without groups. */
let tokens: RegExp | undefined;

function tokenPattern(): RegExp {
  tokens ??= new RegExp(
    `(?<!${EDGE})(?:(${Object.values(HIDDEN).join('|')})|(${HASH}))(?!${EDGE})|` +
      // A letter or a word such as rc begins a version only with digits.
      `(?:(?<!${EDGE})(?:sp|rc|alpha|beta)[-_. ]?|(?<!${EDGE}|\\.)${LETTER})?` +
      `(?<!\\d)\\d+(?:\\.\\d+|${SUFFIX}(?!${LETTER})\\d*)*`,
    'giu',
  );
  return tokens;
}

interface Version {
  readonly text: string;
  readonly start: number;
  readonly isHash: boolean;
}

/** A name, divided into words and places of versions. */
export interface Name {
  readonly text: string;
  /** Equal for names of one series: the words, and # for each place of versions between them. */
  readonly series: string;
  /** With # for each place: `ubuntu-#-server-#.ova`. */
  readonly pattern: string;
  readonly versions: readonly Version[];
  /** What is compared: a mark for each version, and its numbers, without zeros before them, and letters: 7, 0, u, 3. */
  readonly parts: readonly string[];
}

let last: Name | undefined;

export function readName(name: string): Name {
  if (last?.text !== name) last = read(name);
  return last;
}

/** Marks the first version of a place. Versions with only separators between them share a place. */
const PLACE = '\0';

/** Marks a further version of a place. */
const VERSION = '\n';

/** A hash has a place, but no order. */
const HASH_PART = '#';

const PARTS = /[\0\n#]|(?!(?<=[\0\n])v)[^\d._ \0\n-]+|(?!0+\d)\d+/g;

function read(text: string): Name {
  // A service can put the mark of a place into a name.
  const name = normalize(text).replaceAll(PLACE, ' ');
  const extension = /\.ov[af]$/i.test(name) ? name.slice(-4) : '';
  const stem = name.slice(0, name.length - extension.length);
  const versions: Version[] = [];
  let order = '';
  let end = 0;
  const addVersion = (found: string, hidden: string, hash: string, start: number) => {
    if (hidden !== undefined) return found;
    const isHash = hash !== undefined;
    const isNext = end > 0 && !/[\p{L}\p{N}]/u.test(stem.slice(end, start));
    order += (isNext ? VERSION : PLACE) + (isHash ? HASH_PART : found);
    versions.push({ text: found, start, isHash });
    end = start + found.length;
    return PLACE;
  };
  const marked = stem.replace(tokenPattern(), addVersion).replace(/\0[^\p{L}\p{N}]*\0/gu, PLACE);
  const words = foldCase(marked).match(/[\p{L}\p{N}]+|\0/gu) ?? [];
  // Versions at the end make no other series.
  if (words.at(-1) === PLACE) words.pop();
  const series = words.join(' ').replaceAll(PLACE, '#');
  const pattern = marked.replaceAll(PLACE, '#') + extension;
  return { text, series, pattern, versions, parts: foldCase(order).match(PARTS) ?? [] };
}

/** Returns the versions of a name: `22.04-20240415`. */
export function describeVersion({ versions }: Name): string {
  return versions.map(({ text }) => text).join('-');
}

type Parts = Name['parts'];

/** Compares two names of a series version by version from the left, never across a separator. */
export function compareVersions(left: Parts, right: Parts): number {
  const [at, other] = firstDifference(left, right);
  return compareParts(left[at], right[other]);
}

/** Returns the indexes of the first parts that differ; of equal names, their lengths. */
function firstDifference(left: Parts, right: Parts): readonly [number, number] {
  let [at, other] = [0, 0];
  while (at < left.length || other < right.length) {
    const [one = PLACE, two = PLACE] = [left[at], right[other]];
    if (compareParts(one, two) !== 0) break;
    // A place may have fewer versions than the other: it waits at its end.
    if (one !== PLACE || two === PLACE) at += 1;
    if (two !== PLACE || one === PLACE) other += 1;
  }
  return [at, other];
}

/** What is older than nothing, nothing, letters, and numbers: in this order. */
const [PRE_RELEASE, NOTHING, LETTERS, NUMBER] = [0, 1, 2, 3];

function kindOf(part = PLACE) {
  if (/^[\0\n#]/.test(part)) return NOTHING;
  if (/^\d/.test(part)) return NUMBER;
  return /^(?:alpha|beta|rc)$/.test(part) ? PRE_RELEASE : LETTERS;
}

function compareParts(left = PLACE, right = PLACE): number {
  if (left === right) return 0;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return kind - kindOf(right);
  if (kind === NOTHING) return 0;
  return (kind === NUMBER ? left.length - right.length : 0) || compareText(left, right);
}

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: Parts, right: Parts): boolean {
  const difference = firstDifference(left, right);
  const one = sideOf(left, difference[0]);
  const other = sideOf(right, difference[1]);
  const order = one.kind - other.kind || one.length - other.length;
  const [low, high] = order < 0 ? [one, other] : [other, one];
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

/** Describes a part and what follows it. */
function sideOf(parts: Parts, at: number) {
  const { [at]: part = PLACE } = parts;
  const kind = kindOf(part);
  let end = at;
  while (kindOf(parts[end]) !== NOTHING) end += 1;
  /** A version follows behind a separator. */
  const goesOn = parts[end] === VERSION && kindOf(parts[end + 1]) > NOTHING;
  /** Letters before a number: the u of U3. */
  const letters = kind === LETTERS && end > at + 1 ? part : '';
  const isAlone = end === at + 1 && !goesOn;
  return { kind, length: part.length, isHash: part === HASH_PART, letters, isAlone, goesOn };
}

export function isPreRelease(parts: Parts): boolean {
  return parts.some((part) => kindOf(part) === PRE_RELEASE);
}

/** Days such as 31.01.2024, 01_31_2024 and 31012024, months such as 012024, and 01-2024, W52-2023 and 4Q2024. */
const YEAR_LAST = /(?<!\d)(?:(\d\d?)([-_.])(\d\d?)\2|(\d\d)?(\d\d)|(\d\d?)[-_.q])(20\d\d)(?!\d)/gi;

/**
 * Returns the name with the year first in its dates, or as it is if no year is last. What stands before the year is read
 * as day and month: as month and day, the dates of a year would be in the order that they have as numbers.
 */
export function withYearFirst(name: string): string {
  return name.replace(YEAR_LAST, (found: string, ...groups: string[]) => {
    const [day1, , month1, day2, month2, week, year] = groups;
    const day = day1 ?? day2;
    const [one, two] = [day ?? '1', month1 ?? month2 ?? week ?? ''];
    const [less = 0, more = 0] = [Number(one), Number(two)].sort((a, b) => a - b);
    if (less < 1 || less > 12 || more > (week ? 53 : day ? 31 : 12)) return found;
    return [year, two, one].join('-');
  });
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
  const pattern = patternOf(part, isNumber ? 'uy' : 'u');
  const pieces = (isStrict && part.match(/\d+|[^\d._ -]+/gu)) || [part];
  /** Returns which version of the name a number means, or -1. */
  const versionOf = (name: Name) => placeOf(pattern, name);
  const matches = (name: string) => {
    if (isNumber) return versionOf(readName(name)) !== -1;
    return isStrict ? pattern.test(foldCase(name)) : isPartOf(name);
  };
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
function placeOf(pattern: RegExp, { text, versions }: Name): number {
  const name = normalize(text);
  return versions.findIndex(({ start, isHash, text: found }) => {
    pattern.lastIndex = start + (/^\p{L}\d/u.test(found) ? 1 : 0);
    return !isHash && pattern.test(name);
  });
}
