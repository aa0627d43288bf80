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

/** Returns start and end of each number, and of each text word such as x86_64 and hw11. */
export function findTokens(text: string): (readonly [start: number, end: number])[] {
  return [...scan(text)].map((match) => [match.index, match.index + match[0].length]);
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
