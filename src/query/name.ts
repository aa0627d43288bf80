// Reads the name of an image into words and versions: `help choosing`.

import { foldCase, normalize } from './fold-case.ts';

const LETTER = '\\p{L}';
/** A letter or a digit: none is beside a whole word. */
export const EDGE = '[\\p{L}\\p{N}]';
/** The level of a processor, but no version: x86_64_v3, not amd64-v1.2. */
export const LEVEL = `[_-]?v[1-9](?!${EDGE}|\\.\\d)`;

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
export function isHash(text: string): boolean {
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

/** What isHash decides about. Not digits alone: many names have dates. */
const MAYBE_HASH = '(?=g|\\d*[a-f])g?[0-9a-f]{7,40}';

/** Stands for each place of versions, and for each character of a hash, while a name is read. */
const MARK = '\0';

/** Made at their first use, since most commands read no name. */
let patterns: { readonly masked: RegExp; readonly versions: RegExp } | undefined;

function makePatterns() {
  const hidden = Object.values(HIDDEN).flat().join('|');
  return {
    masked: new RegExp(`(?<!${EDGE})(?:(${hidden})|${MAYBE_HASH})(?!${EDGE})`, 'giu'),
    versions: new RegExp(`${MARK}+|${VERSION}`, 'giu'),
  };
}

/** A version as it stands in a name: 7.0U3, or a hash. */
interface FoundVersion {
  readonly text: string;
  readonly start: number;
  readonly isHash: boolean;
}

interface Version extends FoundVersion {
  /** A key of where it is compared: of `7.0-U3-15-amd64-2`, 7.0 is at 0.0, U3 at 0.0u, 15 at 0.1 and 2 at 1.0. */
  readonly position: string;
}

/**
 * Returns the versions of a name, from the left. Hidden words are masked by spaces and hashes by marks, so that the
 * rest is found where it stands: of `a-amd64-g1234567-2`, the versions of `a-      -########-2` are g1234567 and 2.
 */
function findVersions(name: string): FoundVersion[] {
  patterns ??= makePatterns();
  const masked = name.replace(patterns.masked, (word: string, hidden: string | undefined) => {
    if (hidden !== undefined) return ' '.repeat(word.length);
    return isHash(word.toLowerCase()) ? MARK.repeat(word.length) : word;
  });
  const versions: FoundVersion[] = [];
  let end = 0;
  for (const found of masked.match(patterns.versions) ?? []) {
    // Finds this one, as no digit is between two versions; matchAll would take longer.
    const start = masked.indexOf(found, end);
    end = start + found.length;
    versions.push({ text: name.slice(start, end), start, isHash: found.startsWith(MARK) });
  }
  return versions;
}

/** The numbers of a version, without zeros before them, and its letters: 7, 0, u, 3. Of a hash, only HASH. */
type Parts = readonly string[];

/** A hash has a place, but no order. */
export const HASH = '#';

/**
 * A name, divided into words and places of versions. The name `app-v7.0U03_2024-amd64-2.ova` has
 * the pattern `app-#-amd64-#.ova`, the series key `app # amd64`, the versions v7.0U03, 2024 and 2,
 * and the places [[7, 0, u, 3], [2024]] and [[2]].
 */
export interface Name {
  readonly text: string;
  /** Equal for names of one series: their words, with # for each place between words. */
  readonly seriesKey: string;
  /** The name with # for each place. */
  readonly pattern: string;
  readonly versions: readonly Version[];
  /**
   * What is compared: versions with only separators between them share a place, and one that begins with letters goes
   * on with the version before, so that 12-sp5 is 12sp5.
   */
  readonly places: readonly (readonly Parts[])[];
}

/** Each name is read several times in a row: by words, for its series, for its version. */
let lastRead: Name | undefined;

export function readName(name: string): Name {
  if (lastRead?.text !== name) lastRead = read(name);
  return lastRead;
}

function read(text: string): Name {
  // A service can put the mark into a name.
  const name = normalize(text).replaceAll(MARK, ' ');
  const extension = /\.ov[af]$/i.test(name) ? name.slice(-4) : '';
  const stem = name.slice(0, name.length - extension.length);
  const versions: Version[] = [];
  const places: Parts[][] = [];
  /** What is before each place and behind the last: `app-`, `-amd64-` and an empty text. */
  const words: string[] = [];
  let end = 0;
  for (const found of findVersions(stem)) {
    const before = stem.slice(end, found.start);
    end = found.start + found.text.length;
    if (places.length === 0 || /[\p{L}\p{N}]/u.test(before)) {
      words.push(before);
      places.push([]);
    }
    const place = places.at(-1) ?? [];
    const parts = found.isHash ? [HASH] : partsOf(found.text);
    const [first = ''] = parts;
    // Letters go on with the version before: 12-sp5 is 12sp5.
    const continued = /^\p{L}/u.test(first) ? place.pop() : undefined;
    place.push(continued ? [...continued, ...parts] : parts);
    const position = `${places.length - 1}.${place.length - 1}${continued ? first : ''}`;
    versions.push({ text: found.text, start: found.start, isHash: found.isHash, position });
  }
  words.push(stem.slice(end));
  const pattern = words.join('#') + extension;
  return {
    text,
    seriesKey: seriesKeyOf(words.join(MARK)),
    pattern,
    versions,
    // Cut to size, since a series holds them for each image.
    places: places.map((place) => place.slice()),
  };
}

const WORDS_AND_MARKS = new RegExp(`${EDGE}+|${MARK}`, 'gu');

/** Returns `app # amd64` for `app-?-amd64-?`, where ? is a mark. */
function seriesKeyOf(marked: string): string {
  const words = foldCase(marked).match(WORDS_AND_MARKS) ?? [];
  // Versions at the end make no other series.
  if (words.at(-1) === MARK) words.pop();
  return words.join(' ').replaceAll(MARK, '#');
}

/** Returns 7, 0, u, 3 for V7.0U03. */
function partsOf(version: string): Parts {
  const compared = foldCase(version).replace(/^v/, '');
  return compared.match(/[1-9]\d*|0(?!\d)|[^\d._ -]+/g) ?? [];
}

/** Returns the versions of a name: `22.04-20240415`. */
export function describeVersion({ versions }: Name): string {
  return versions.map(({ text }) => text).join('-');
}
