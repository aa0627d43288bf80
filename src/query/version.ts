// Version order of image names: runs of digits compare as numbers, so that 8.10 is newer than 8.9.

import { compareText } from './fields.ts';

/** A name, divided at its runs of digits: texts[0], numbers[0], texts[1]… */
export interface VersionedName {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
}

/** Words whose digits are no version, as whole words in any case: as people read them, and as a pattern. */
const TEXT_WORDS: readonly (readonly [shown: string, pattern: string])[] = [
  ['amd64', 'amd64(?:[_-]?v[1-4])?'],
  ['x86_64 and x86-64, also with v1 to v4', 'x86[_-]64(?:[_-]?v[1-4])?'],
  ['x64', 'x64'],
  ['x86', 'x86'],
  ['arm64', 'arm(?:64|32)(?:v[5-9])?'],
  ['aarch64', 'aarch64'],
  ['armhf', 'armhf'],
  ['armv6 and armv7', 'armv[5-9][a-z]*'],
  ['i386 to i686', 'i[3-6]86'],
  ['ppc64le and other ppc', 'p(?:ower)?pc(?:32|64)?(?:le|el)?'],
  ['mips64el and other mips', 'mips(?:isa)?(?:32|64)?(?:r[1-6])?(?:el|le)?'],
  ['s390x', 's390x?'],
  ['riscv64', 'riscv(?:32|64)'],
  ['32bit and 64bit', '(?:32|64)[_-]?bit'],
  ['win32 and win64', 'win(?:32|64)'],
  ['hw11 and other virtual hardware', 'hw\\d+'],
  ['el8 and other Enterprise Linux', 'el\\d+'],
  ['sizes such as 10G and 20GB', '\\d+(?:\\.\\d)?gb?'],
];

export function describeTextWords(): string {
  return TEXT_WORDS.map(([shown]) => shown).join('; ');
}

let textWordOrDigits: RegExp | undefined;

/** Matches a text word, or a run of digits as its first group. */
function scan(text: string) {
  textWordOrDigits ??= new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${TEXT_WORDS.map(([, pattern]) => pattern).join('|')})(?![\\p{L}\\p{N}])|(\\d+)`,
    'giu',
  );
  return text.matchAll(textWordOrDigits);
}

export function parseVersion(name: string): VersionedName {
  const texts: string[] = [];
  const numbers: string[] = [];
  let start = 0;
  for (const match of scan(name)) {
    const [, digits] = match;
    if (digits === undefined) continue;
    texts.push(name.slice(start, match.index));
    numbers.push(digits);
    start = match.index + digits.length;
  }
  texts.push(name.slice(start));
  return { texts, numbers };
}

/** Returns a key that is equal for names of one series. */
export function seriesKey({ texts }: VersionedName): string {
  return JSON.stringify(texts);
}

/** Returns the series as people read it: `ubuntu-#.#-server-cloudimg-amd64-#.ova`. */
export function describeSeries({ texts }: VersionedName): string {
  return texts.join('#');
}

/** Compares part by part from the left, text by code point. 0 does not mean equal: 8.1 and 8.01. */
export function compareVersions(left: VersionedName, right: VersionedName): number {
  for (let index = 0; index < left.texts.length && index < right.texts.length; index += 1) {
    const order =
      compareText(left.texts[index] ?? '', right.texts[index] ?? '') ||
      compareDigits(left.numbers[index] ?? '', right.numbers[index] ?? '');
    if (order !== 0) return order;
  }
  return left.texts.length - right.texts.length;
}

/** Returns the index of the first number of a date: 31-01-2024 or 01_31_2024. */
export function findDate({ texts, numbers }: VersionedName): number | undefined {
  const isJoined = (index: number) => texts[index] === '-' || texts[index] === '_';
  const year = numbers.findIndex((digits, index) => {
    const [first = '', second = ''] = [numbers[index - 2], numbers[index - 1]];
    const [less = 0, more = 0] = [Number(first), Number(second)].sort((a, b) => a - b);
    const isDay = first.length === 2 && second.length === 2 && less > 0 && less <= 12 && more <= 31;
    return isDay && isJoined(index - 1) && isJoined(index) && /^(?:199|20\d)\d$/.test(digits);
  });
  return year === -1 ? undefined : year - 2;
}

/**
 * Returns the names of a series for comparison: with year, month and day of their dates in this order. A number above
 * 12 in any of them tells which is the day.
 * @param at the place of the dates; undefined if not every name of the series has one there
 * @param monthFirst how to read dates if none tells
 */
export function inDateOrder(
  names: readonly VersionedName[],
  at: number | undefined,
  monthFirst: boolean,
) {
  if (at === undefined) return { names, isUnclear: false };
  const [dayFirst, daySecond] = [at, at + 1].map((index) =>
    names.some(({ numbers }) => Number(numbers[index]) > 12),
  );
  const isUnclear = dayFirst === daySecond;
  const order = (isUnclear ? monthFirst : daySecond) ? [2, 0, 1] : [2, 1, 0];
  const inOrder = names.map(({ texts, numbers }) => {
    const date = order.map((offset) => numbers[at + offset] ?? '');
    return { texts, numbers: numbers.toSpliced(at, 3, ...date) };
  });
  return { names: inOrder, isUnclear };
}

/** Compares numbers of any length; no number comes first. */
function compareDigits(left: string, right: string): number {
  if (left === right) return 0;
  if (left === '' || right === '') return left === '' ? -1 : 1;
  const first = withoutZeros(left);
  const second = withoutZeros(right);
  return first.length - second.length || compareText(first, second);
}

function withoutZeros(digits: string): string {
  return digits.startsWith('0') ? digits.replace(/^0+(?=.)/, '') : digits;
}
