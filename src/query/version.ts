// Version order of image names: runs of digits compare as numbers, so that 8.10 is newer than 8.9.

import { compareText } from './fields.ts';

/** A name, divided at its runs of digits: texts[0], numbers[0], texts[1]… */
export interface VersionedName {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
}

/** Architectures count as text: x86_64 is no version. */
const ARCHITECTURES = [
  'amd64',
  'x86[_-]64',
  'x64',
  'x86',
  'arm64',
  'aarch64',
  'armhf',
  'armv[67]',
  'i[36]86',
  'ppc64le',
  's390x',
  'riscv64',
];

let architectureOrNumber: RegExp | undefined;

export function parseVersion(name: string): VersionedName {
  const texts: string[] = [];
  const numbers: string[] = [];
  let start = 0;
  architectureOrNumber ??= new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${ARCHITECTURES.join('|')})(?![\\p{L}\\p{N}])|(\\d+)`,
    'giu',
  );
  for (const match of name.matchAll(architectureOrNumber)) {
    const [, digits] = match;
    if (digits === undefined) continue;
    texts.push(name.slice(start, match.index));
    numbers.push(digits);
    start = match.index + digits.length;
  }
  texts.push(name.slice(start));
  return { texts, numbers };
}

/** Returns a key that is equal for names of one series. No text of a name holds a single digit. */
export function seriesKey({ texts }: VersionedName): string {
  return texts.join('0');
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
