// Reads the name of an image into words and versions, compares versions, and matches words of a query: `help choosing`.

import { compareText } from './fields.ts';
import { foldCase, normalize } from './fold-case.ts';

const LETTER = '\\p{L}';
const EDGE = '[\\p{L}\\p{N}]';
/** The level of a processor, but no version: x86_64_v3, not amd64-v1.2. */
const LEVEL = `[_-]?v[1-9](?!${EDGE}|\\.\\d)`;

/** Whole words whose digits are no version: as people read them, and as patterns. */
const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  'processors such as amd64, x86_64 and i686': [
    `(?:amd64|x86[_-]64|arm64)(?:${LEVEL})?`,
    'x86',
    'aarch64',
    'armv[5-9][a-z]*',
    'i[3-6]86',
    'ppc64(?:le|el)?',
    's390x?',
    'riscv64',
  ],
  '64bit, win64 and x64': ['(?:32|64)[_-]?bits?', '(?:win|linux|x)(?:32|64)'],
  'sizes such as 20G, 4vcpu and 4c8g': [
    '(?<!\\.)\\d+(?:\\.\\d)?(?:[gmt](?:i?b)?|v?cpus?|cores?)',
    '\\d+(?:c|v?cpu)[_-]?\\d+gb?',
  ],
  'hw11, gen2, el8': ['(?:hw|gen|el)\\d+'],
  // Not u3c, v1b and w11pro, which are versions.
  'k8s, universalk9': [`(?![bhmprsuv])${LETTER}\\d{1,2}${LETTER}{1,2}`, `${LETTER}*k9`],
};

export function describeHiddenWords(): string {
  return Object.keys(HIDDEN).join('; ');
}

/** cad2024, b202401, 01dec2024, 2024cafe, 20240115c3 */
const DATE_WITH_LETTERS =
  /^\d{0,2}[a-f]*20\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])?)?(?:[a-f]+\d*)?$/;

/**
 * True for 7 to 40 hexadecimal digits, such as a383732, and behind git's g, such as g1234567. False for what people write
 * as dates, and for numbers with a letter: 1234567, 151046b, b12345678.
 */
function isHash(text: string): boolean {
  const hex = text.replace(/^g/, '');
  if (!/^(?=.*\d)[0-9a-f]{7,40}$/.test(hex)) return false;
  if (hex !== text) return !/^\d{8,}$/.test(hex);
  const isNumber = /^[a-f]?\d{8,}$|^\d+[a-f]?$/.test(hex);
  return !isNumber && !DATE_WITH_LETTERS.test(hex);
}

/** Words that are part of a version if digits follow: SP5, rc1, cu4. */
const VERSION_WORD = '(?:sp|patch|hotfix|cu|rc|alpha|beta)';
const WORD_BEFORE = `(?<!${EDGE})${VERSION_WORD}[-_. ]?`;
const LETTER_BEFORE = `(?<!${EDGE}|\\.)${LETTER}`;
const LETTERS_WITHIN = `(?:${VERSION_WORD}|${LETTER})(?!${LETTER})\\d*`;

/** v1.2, 7.0U3c, SP5, rc.1 */
const VERSION = `(?:${WORD_BEFORE}|${LETTER_BEFORE})?(?<!\\d)\\d+(?:\\.\\d+|${LETTERS_WITHIN})*`;

/** Stands for a character of a hash while versions are searched. No name contains it. */
const HASH_MARK = '\x01';

/** What isHash decides about. Not digits alone: many names have dates. */
const MAYBE_HASH = '(?=g|\\d*[a-f])g?[0-9a-f]{7,40}';

/** Made at their first use, since most commands read no name. */
let patterns: { readonly words: RegExp; readonly versions: RegExp } | undefined;

function makePatterns() {
  const hidden = Object.values(HIDDEN).flat().join('|');
  return {
    words: new RegExp(`(?<!${EDGE})(?:(${hidden})|${MAYBE_HASH})(?!${EDGE})`, 'giu'),
    versions: new RegExp(`${HASH_MARK}+|${VERSION}`, 'giu'),
  };
}

interface Version {
  readonly text: string;
  readonly start: number;
  readonly isHash: boolean;
}

/** Returns the versions of a name, from the left. Digits of hidden words are none. */
function findVersions(name: string): Version[] {
  patterns ??= makePatterns();
  const masked = name.replace(patterns.words, (word: string, hidden: string | undefined) => {
    if (hidden !== undefined) return ' '.repeat(word.length);
    return isHash(word.toLowerCase()) ? HASH_MARK.repeat(word.length) : word;
  });
  let end = 0;
  return (masked.match(patterns.versions) ?? []).map((found) => {
    // Between two versions there is no digit, so `indexOf` finds this one.
    const start = masked.indexOf(found, end);
    end = start + found.length;
    return { text: name.slice(start, end), start, isHash: found.startsWith(HASH_MARK) };
  });
}

/** A name, divided into words and places of versions. */
export interface Name {
  readonly text: string;
  /** Equal for names of one series: the words, and # for each place of versions between them. */
  readonly seriesKey: string;
  /** With # for each place: `ubuntu-#-server-#.ova`. */
  readonly pattern: string;
  readonly versions: readonly Version[];
  /** What is compared: a mark for each version, and its numbers, without zeros before them, and letters: 7, 0, u, 3. */
  readonly parts: readonly string[];
}

let lastRead: Name | undefined;

export function readName(name: string): Name {
  if (lastRead?.text !== name) lastRead = read(name);
  return lastRead;
}

/** Marks the first version of a place. Versions with only separators between them share a place. */
const PLACE = '\0';

/** Marks a further version of a place. */
const VERSION_MARK = '\n';

/** A hash has a place, but no order. */
const HASH_PART = '#';

function read(text: string): Name {
  // A service can put the marks into a name.
  const name = normalize(text).replace(/[\0\x01]/g, ' ');
  const extension = /\.ov[af]$/i.test(name) ? name.slice(-4) : '';
  const stem = name.slice(0, name.length - extension.length);
  const versions = findVersions(stem);
  /** The name with a mark for each place, and what is in the places. */
  let withPlaces = '';
  let compared = '';
  let end = 0;
  for (const { text: version, start, isHash } of versions) {
    const between = stem.slice(end, start);
    const sharesPlace = end > 0 && !/[\p{L}\p{N}]/u.test(between);
    if (!sharesPlace) withPlaces += between + PLACE;
    compared += sharesPlace ? VERSION_MARK : PLACE;
    compared += isHash ? HASH_PART : version.replace(/^v/i, '');
    end = start + version.length;
  }
  withPlaces += stem.slice(end);
  const words = foldCase(withPlaces).match(/[\p{L}\p{N}]+|\0/gu) ?? [];
  // Versions at the end make no other series.
  if (words.at(-1) === PLACE) words.pop();
  const seriesKey = words.join(' ').replaceAll(PLACE, '#');
  const pattern = withPlaces.replaceAll(PLACE, '#') + extension;
  return { text, seriesKey, pattern, versions, parts: partsOf(compared) };
}

/** Returns the marks, numbers and letters of versions, without zeros before numbers. */
function partsOf(compared: string): string[] {
  return withoutZeros(foldCase(compared)).match(/[\0\n#]|\d+|[^\d._ \0\n-]+/g) ?? [];
}

const withoutZeros = (text: string) => text.replace(/(?<!\d)0+(?=\d)/g, '');

/** Returns the versions of a name: `22.04-20240415`. */
export function describeVersion({ versions }: Name): string {
  return versions.map(({ text }) => text).join('-');
}

type Parts = Name['parts'];

/** Compares two names of a series version by version from the left, never across a separator. */
export function compareVersions(left: Parts, right: Parts): number {
  const [leftAt, rightAt] = firstDifference(left, right);
  return compareParts(left[leftAt], right[rightAt]);
}

/** Returns the indexes of the first parts that differ; of equal names, their lengths. */
function firstDifference(left: Parts, right: Parts): readonly [number, number] {
  let leftAt = 0;
  let rightAt = 0;
  while (leftAt < left.length || rightAt < right.length) {
    const leftPart = left[leftAt] ?? PLACE;
    const rightPart = right[rightAt] ?? PLACE;
    if (compareParts(leftPart, rightPart) !== 0) break;
    // The side whose place has fewer versions stays at the end of that place.
    if (leftPart !== PLACE || rightPart === PLACE) leftAt += 1;
    if (rightPart !== PLACE || leftPart === PLACE) rightAt += 1;
  }
  return [leftAt, rightAt];
}

/** The kinds of parts, oldest first; NOTHING is a place without a part. */
const [PRE_RELEASE, NOTHING, LETTERS, NUMBER] = [0, 1, 2, 3];

function partKind(part = PLACE) {
  if (/^[\0\n#]/.test(part)) return NOTHING;
  if (/^\d/.test(part)) return NUMBER;
  return /^(?:alpha|beta|rc)$/.test(part) ? PRE_RELEASE : LETTERS;
}

function compareParts(left = PLACE, right = PLACE): number {
  if (left === right) return 0;
  const kind = partKind(left);
  if (kind !== partKind(right)) return kind - partKind(right);
  if (kind === NOTHING) return 0;
  if (kind === NUMBER && left.length !== right.length) return left.length - right.length;
  return compareText(left, right);
}

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: Parts, right: Parts): boolean {
  const [one, other] = sidesOf(left, right);
  const [low, high] = compareParts(one.part, other.part) <= 0 ? [one, other] : [other, one];
  if (low.part === HASH_PART) return true;
  // 1.0b2 is a beta or a patch, 1.0M3 a milestone or a patch.
  if (low.kind <= NOTHING && /^[abcm]$/.test(high.letters)) return true;
  // web beside web-20240115, 1.2-3 beside 1.2.4
  const isBuild = low.isFollowed && !high.isFollowed && high.kind === NUMBER;
  if (low.kind === NOTHING) return isBuild || high.isDate();
  if (low.kind === PRE_RELEASE) return false;
  // 12_sp3 beside 12_2021
  if (low.kind !== high.kind) return true;
  return low.kind === LETTERS ? areOtherLetters(low, high) : areOtherNumbers(low, high);
}

/** True for 15.1R7 beside 15.1X49; but a1 is older than b1. */
function areOtherLetters({ letters: low }: Side, { letters: high }: Side): boolean {
  if (low === '' || high === '') return false;
  return !/^[ab]{2}$/.test(low + high);
}

function areOtherNumbers(low: Side, high: Side): boolean {
  // win-64 beside win-32
  if (low.part === '32' && high.part === '64') return true;
  // 21H2 beside 1909, 2211 beside 20141129, 9.16 beside 992
  const isMuchLonger = high.part.length - low.part.length >= 2;
  return isMuchLonger && (high.part.length >= 4 || low.isAlone !== high.isAlone);
}

/** True if the numbers that differ are of one form and one has at most one digit more, such as 999 and 1000. */
export function isStep(left: Parts, right: Parts): boolean {
  const [one, other] = sidesOf(left, right);
  const areNumbers = one.kind === NUMBER && other.kind === NUMBER;
  const isSameForm = one.isAlone === other.isAlone;
  const isNear = Math.abs(one.part.length - other.part.length) <= 1;
  return areNumbers && isSameForm && isNear && !isGuess(left, right);
}

function sidesOf(left: Parts, right: Parts) {
  const [leftAt, rightAt] = firstDifference(left, right);
  return [sideOf(left, leftAt), sideOf(right, rightAt)] as const;
}

/** 20240115, 202401, 2024-1-15, 15-1-2024 */
const DATE_PARTS =
  /^(?:20\d\d(?:0[1-9]|1[0-2])(?:\d\d)?|20\d\d-(?:\d|1[0-2])|\d\d?-\d\d?-20\d\d)(?!\d)/;

type Side = ReturnType<typeof sideOf>;

/** Describes a part and what follows it. */
function sideOf(parts: Parts, at: number) {
  const part = parts[at] ?? PLACE;
  const kind = partKind(part);
  let end = at;
  while (partKind(parts[end]) !== NOTHING) end += 1;
  /** By another version, behind a separator. */
  const isFollowed = parts[end] === VERSION_MARK && partKind(parts[end + 1]) > NOTHING;
  /** Letters before a number: the u of U3. */
  const letters = kind === LETTERS && end > at + 1 ? part : '';
  const isAlone = end === at + 1 && !isFollowed;
  /** Returns true if a date begins the place. */
  const isDate = () => {
    const numbers = parts.slice(at, at + 5).filter((each) => each !== VERSION_MARK);
    return parts[at - 1] === PLACE && DATE_PARTS.test(numbers.join('-'));
  };
  return { part, kind, letters, isAlone, isFollowed, isDate };
}

/** True for rc, alpha and beta, and for a, b or m between two numbers: 2.1-rc1, 3.0.0b2, 11.0.0-M20. */
export function isPreRelease(parts: Parts): boolean {
  return parts.some((part, at) => {
    if (partKind(part) === PRE_RELEASE) return true;
    if (!/^[abm]$/.test(part)) return false;
    const before = parts[at - 1] === VERSION_MARK ? parts[at - 2] : parts[at - 1];
    return partKind(before) === NUMBER && partKind(parts[at + 1]) === NUMBER;
  });
}

const WEEK = '(?<week>\\d\\d?)';
const SHORT_YEAR = '[-_.]?(?:fy)?(?:20)?(?<year>1[5-9]|2\\d)';
const wholeWord = (pattern: string) => new RegExp(`(?<!${EDGE})${pattern}(?!${EDGE})`, 'giu');

/** Made at their first use, too. */
let yearLast: readonly RegExp[] | undefined;

/** Dates with the year last, such as 31.01.2024 and 01_31_2024; a week can be a month, a quarter or a half. */
const makeYearLast = () => [
  /(?<!\d)(?<day>\d\d?)(?<gap>[-_.])(?<month>\d\d?)\k<gap>(?<year>20\d\d)(?!\d)/gi,
  // 31012024, 012024
  /(?<!\d)(?<day>\d\d)?(?<month>\d\d)(?<year>20\d\d)(?!\d)/gi,
  // 01-2024, W52-2023, 4Q2024
  /(?<!\d)(?<week>\d\d?)[-_.q](?<year>20\d\d)(?!\d)/gi,
  // q4fy23, kw52-23, q42023; 4q23
  wholeWord(`(?:q|h|kw|w|week)[-_]?${WEEK}${SHORT_YEAR}`),
  wholeWord(`${WEEK}(?:q|h|kw|w)${SHORT_YEAR}`),
];

/** 28.02.24 */
const SHORT_DATE =
  /(?<![\d.])(?<day>\d\d?)(?<gap>[-_.])(?<month>\d\d?)\k<gap>(?<year>1[5-9]|2\d)(?![-_.]?\d)/g;

/** True if all names have a date such as 28.02.24, and in some it is no version: its first number is 28 or 02. */
function haveShortDates(names: readonly string[]): boolean {
  const firsts = names.map((name) => {
    const [date] = name.matchAll(SHORT_DATE);
    return date?.groups?.day ?? '';
  });
  if (firsts.includes('')) return false;
  return firsts.some((first) => first.startsWith('0') || Number(first) > 12);
}

/**
 * Returns a function that puts the year first in the dates of these names; a name without such a date stays as it is.
 * The two numbers before the year are read as day and month. If they are month and day, comparing them as numbers is
 * right already.
 */
export function yearFirstIn(names: readonly string[]): (name: string) => string {
  yearLast ??= makeYearLast();
  const forms = haveShortDates(names) ? [...yearLast, SHORT_DATE] : yearLast;
  return (name) => {
    for (const form of forms) {
      const dated = name.replace(form, putYearFirst);
      if (dated !== name) return dated;
    }
    return name;
  };
}

function putYearFirst(found: string, ...match: unknown[]): string {
  const { day, month, week, year } = match.at(-1) as Record<string, string | undefined>;
  const first = day ?? '1';
  const second = month ?? week ?? '';
  // Either may be the month.
  const less = Math.min(Number(first), Number(second));
  const more = Math.max(Number(first), Number(second));
  const maxDay = day ? 31 : 12;
  if (less < 1 || less > 12 || more > (week ? 53 : maxDay)) return found;
  return [year, second, first].join('-');
}

/** Parses a word of a query. */
export function parseWord(text: string) {
  /** Digits and dots, such as 22.04. */
  const isNumber = /^[\d.]*\d[\d.]*$/.test(text);
  const part = foldCase(text);
  /** True if it may not match a name that contains it. */
  const needsWholeNumbers = /\d/.test(text) && !isHash(text.toLowerCase());
  const pattern = wordPattern(part, isNumber ? 'uy' : 'u');
  const runs = text.match(/\d+|[^\d._ -]+/gu) ?? [];
  /** Parts of the word that each name that matches contains, in this order and in any case. */
  const pieces = needsWholeNumbers ? runs.map(withoutZeros) : [text];
  /** Returns which version of the name a number means, or -1. */
  const versionIndexIn = (name: Name) => versionIndexOf(pattern, name);
  const matches = (name: string) => {
    if (isNumber) return versionIndexIn(readName(name)) !== -1;
    return needsWholeNumbers ? pattern.test(foldCase(name)) : foldCase(name).includes(part);
  };
  return { text, isNumber, needsWholeNumbers, matches, versionIndexIn, pieces };
}

export type Word = ReturnType<typeof parseWord>;

/**
 * Digits match whole runs, with zeros before them or without, letters any part; -, _, . and space are alike, and optional
 * between a letter and a digit.
 */
function wordPattern(word: string, flags: string): RegExp {
  const level = /(?:amd64|x86[_-]?64)$/.test(word) ? `(?!${LEVEL})` : '';
  const source = word
    .replace(/[$()*+?[\\\]^{|}]/g, '\\$&')
    .replace(SEPARATORS, (_, border?: string) => (border === undefined ? '[._ -]' : '[._ -]?'))
    .replace(/\d+/g, (digits) => `(?<!\\d)0*${withoutZeros(digits)}(?!\\d)`);
  return new RegExp(source + level, flags);
}

/** Finds where a word has separators, or could have them: at a border between a digit and a letter. */
const SEPARATORS = /((?<=\d)[._ -]*(?=[^\d._ -])|(?<=[^\d._ -])[._ -]*(?=\d))|[._ -]+/g;

/** Returns which version of a name begins with the sticky pattern, or -1. */
function versionIndexOf(pattern: RegExp, { text, versions }: Name): number {
  const name = normalize(text);
  return versions.findIndex(({ start, isHash, text: version }) => {
    const isLetterFirst = /^\p{L}\d/u.test(version);
    pattern.lastIndex = isLetterFirst ? start + 1 : start;
    return !isHash && pattern.test(name);
  });
}
