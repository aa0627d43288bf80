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
export const PLACE = '\0';

/** Marks a further version of a place. */
export const VERSION_MARK = '\n';

/** A hash has a place, but no order. */
export const HASH_PART = '#';

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

export function withoutZeros(text: string): string {
  return text.replace(/(?<!\d)0+(?=\d)/g, '');
}

/** Returns the versions of a name: `22.04-20240415`. */
export function describeVersion({ versions }: Name): string {
  return versions.map(({ text }) => text).join('-');
}
