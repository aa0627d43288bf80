// Finds the tokens of versions in a name. The digits of x86_64 are in none: `help choosing`.

/** Characters that belong together: 7.0U3, SP05 or a git hash. A version has one or more. */
export interface VersionToken {
  readonly text: string;
  /** An index in the normalized name. */
  readonly start: number;
  /** The index after its last character. */
  readonly end: number;
  readonly isHash: boolean;
}

const LETTER = '\\p{L}';
/** A word is whole if none of these is beside it. */
export const LETTER_OR_DIGIT = '[\\p{L}\\p{N}]';
/** The level of a processor, but no version: x86_64_v3, not amd64-v1.2. */
export const LEVEL = `[_-]?v[1-9](?!${LETTER_OR_DIGIT}|\\.\\d)`;

/** Whole words whose digits are no version. */
const HIDDEN: readonly (readonly [label: string, ...patterns: string[]])[] = [
  [
    'processors such as amd64, x86_64 and i686',
    `(?:amd64|x86[_-]64|arm64)(?:${LEVEL})?`,
    'x86|aarch64|armv[5-9][a-z]*|i[3-6]86|ppc64(?:le|el)?|s390x?|riscv64',
  ],
  ['64bit, win64 and x64', '(?:32|64)[_-]?bits?', '(?:win|linux|x)(?:32|64)'],
  [
    'sizes such as 20G, 4vcpu and 4c8g',
    '(?<!\\.)\\d+(?:\\.\\d)?(?:[gmt](?:i?b)?|v?cpus?|cores?)',
    '\\d+(?:c|v?cpu)[_-]?\\d+gb?',
  ],
  ['hw11, gen2, el8', '(?:hw|gen|el)\\d+'],
  // k8s, i18n. The other letters begin versions: b build, h hotfix, m milestone, p patch,
  // r release, s service pack, u update (u3c), v version (v1b).
  ['k8s, universalk9', `(?![bhmprsuv])${LETTER}\\d{1,2}${LETTER}{1,2}`, `${LETTER}*k9`],
];

/** 6.5g, a version between 6.5f and 6.5h; 1.5G is a size. */
const VERSION_LIKE_SIZE = /\.\d[gmt]$/;

export function describeHiddenWords(): string {
  return HIDDEN.map(([label]) => label).join('; ');
}

/** Before or after a number. */
const VERSION_WORD = '(?:sp|patch|hotfix|cu|rc|alpha|beta)';

const TOKEN = [
  // Perhaps a version word, the SP- of 7.0-SP-5, but not that of WASP-5;
  `(?:(?<!${LETTER_OR_DIGIT})${VERSION_WORD}[-_. ]?`,
  // or a letter, the v of a-v12, but neither that of av12 nor that of a.v12.
  `|(?<!${LETTER_OR_DIGIT}|\\.)${LETTER})?`,
  // A number: 7.
  '(?<!\\d)\\d+',
  // Perhaps dots with digits, the .0 of 7.0U3c, and letters, the U3 and c, but none of 7.0abc.
  `(?:\\.\\d+|(?:${VERSION_WORD}|${LETTER})(?!${LETTER})\\d*)*`,
].join('');

/** What isHash decides about. Not digits alone: many names have dates, and this takes less time. */
const MAYBE_HASH = '(?=g|\\d*[a-f])g?[0-9a-f]{7,40}';

/** 1234567, 151046b; b12345678, as fewer digits after a letter are rather a hash: b5969303 */
const NUMBER_WITH_LETTER = /^\d+[a-f]?$|^[a-f]\d{8,}$/;

/** cad2024, b202401, 01dec2024, 2024cafe, 20240115c3 */
const DATE_WITH_LETTERS =
  /^\d{0,2}[a-f]*20\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])?)?(?:[a-f]+\d*)?$/;

/**
 * Says whether a text in lower case is 7 to 40 digits of a git hash, perhaps after git's g:
 *
 *     a383732, b5969303, g1234567    yes
 *     g20240115                      no, a date
 *     1234567, 151046b, b12345678    no, numbers, which may have a letter
 *     cad2024, 01dec2024             no, dates with letters
 */
export function isHash(text: string): boolean {
  const isBehindG = text.startsWith('g');
  const hex = isBehindG ? text.slice(1) : text;
  if (!/^(?=.*\d)[0-9a-f]{7,40}$/.test(hex)) return false;
  if (isBehindG) return !/^\d{8,}$/.test(hex);
  return !NUMBER_WITH_LETTER.test(hex) && !DATE_WITH_LETTERS.test(hex);
}

/** Stands for each character of a hash. No name that is read has it. */
export const MARK = '\0';

/** Made at their first use, since most commands read no name. */
let patterns: { readonly masked: RegExp; readonly tokens: RegExp } | undefined;

function makePatterns() {
  const hidden = HIDDEN.flatMap(([, ...hiddenPatterns]) => hiddenPatterns).join('|');
  return {
    masked: new RegExp(
      `(?<!${LETTER_OR_DIGIT})(?:(${hidden})|${MAYBE_HASH})(?!${LETTER_OR_DIGIT})`,
      'giu',
    ),
    tokens: new RegExp(`${MARK}+|${TOKEN}`, 'giu'),
  };
}

/**
 * Returns the tokens of a name, from the left. Hidden words are masked by spaces and hashes by
 * marks, so that the rest is found where it stands: `a-amd64-g1234567-2` becomes
 * `a-      -########-2`, where # is a mark, and has the tokens g1234567 and 2.
 */
export function findVersionTokens(name: string): VersionToken[] {
  patterns ??= makePatterns();
  const masked = name.replace(patterns.masked, (word: string, hidden: string | undefined) => {
    if (hidden !== undefined && !VERSION_LIKE_SIZE.test(word)) return ' '.repeat(word.length);
    return isHash(word.toLowerCase()) ? MARK.repeat(word.length) : word;
  });
  let end = 0;
  // No text between two tokens has a digit or a mark, so indexOf finds the token itself. matchAll
  // takes half as much time again.
  return (masked.match(patterns.tokens) ?? []).map((found) => {
    const start = masked.indexOf(found, end);
    end = start + found.length;
    return { text: name.slice(start, end), start, end, isHash: found.startsWith(MARK) };
  });
}
