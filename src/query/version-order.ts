// Compares the versions in two names of a series, and says when that takes a guess.

import { compareText } from './fields.ts';
import { type ComparedPlaces, HASH } from './name.ts';

/**
 * The kinds of parts, the oldest first: 1.0-rc is older than 1.0 and 1.0-a383732, which are older
 * than 1.0u, which is older than 1.0.1.
 */
const PRE_RELEASE = 0;
const ABSENT_OR_HASH = 1;
const LETTERS = 2;
const NUMBER = 3;

function kindOfPart(part: string): number {
  if (part === '' || part === HASH) return ABSENT_OR_HASH;
  if (/\d/.test(part)) return NUMBER;
  return ['alpha', 'beta', 'rc'].includes(part) ? PRE_RELEASE : LETTERS;
}

/**
 * Returns a number above 0 if the left part is newer, below 0 if the right one is. A part that a
 * name does not have, as 1.0 beside 1.0.1, is an empty text. Alpha, beta and rc are in this order.
 */
function compareParts(left: string, right: string): number {
  if (left === right) return 0;
  const kind = kindOfPart(left);
  const rightKind = kindOfPart(right);
  if (kind !== rightKind) return kind - rightKind;
  if (kind === ABSENT_OR_HASH) return 0;
  if (kind === NUMBER && left.length !== right.length) return left.length - right.length;
  return compareText(left, right);
}

/** Where two names differ first: the indexes of a place, a version in it, and a part in that. */
interface Difference {
  /** As compareParts returns it. */
  readonly order: number;
  readonly place: number;
  readonly version: number;
  readonly part: number;
}

/**
 * Of 1.2-3 and 1.2.4, which are [[1, 2], [3]] and [[1, 2, 4]], the third part of the first version:
 * the left has none there. The 3 is in the next version, which does not count any more.
 */
function firstDifference(left: ComparedPlaces, right: ComparedPlaces): Difference | undefined {
  for (let place = 0; place < left.length || place < right.length; place += 1) {
    const lefts = left[place] ?? [];
    const rights = right[place] ?? [];
    for (let version = 0; version < lefts.length || version < rights.length; version += 1) {
      const leftParts = lefts[version] ?? [];
      const rightParts = rights[version] ?? [];
      for (let part = 0; part < leftParts.length || part < rightParts.length; part += 1) {
        const order = compareParts(leftParts[part] ?? '', rightParts[part] ?? '');
        if (order !== 0) return { order, place, version, part };
      }
    }
  }
  return undefined;
}

/** Returns a number above 0 if the left of two names of a series is newer, below 0 if the right. */
export function compareVersions(left: ComparedPlaces, right: ComparedPlaces): number {
  return firstDifference(left, right)?.order ?? 0;
}

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: ComparedPlaces, right: ComparedPlaces): boolean {
  const difference = firstDifference(left, right);
  if (!difference) return false;
  const isLeftNewer = difference.order > 0;
  const older = new Side(isLeftNewer ? right : left, difference);
  const newer = new Side(isLeftNewer ? left : right, difference);
  return GUESSES.some((applies) => applies(older, newer));
}

/** What a name has where two differ first: 7.0U3-15 beside 7.0.1 has u, and 3 and 15 after it. */
class Side {
  /** The versions of the place: 7, 0, u, 3 and 15; none if the name does not have the place */
  readonly place: ComparedPlaces[number];
  /** The version with the part: 7, 0, u and 3 */
  readonly version: readonly string[];
  /** u; an empty text if the name has no part there */
  readonly part: string;
  readonly #at: Difference;

  constructor(places: ComparedPlaces, at: Difference) {
    this.#at = at;
    this.place = places[at.place] ?? [];
    this.version = this.place[at.version] ?? [];
    this.part = this.version[at.part] ?? '';
  }

  /** The parts after it in its version: 3 */
  get after(): readonly string[] {
    return this.version.slice(this.#at.part + 1);
  }

  /** The versions after that one in its place, but for git hashes: 15 */
  get builds(): ComparedPlaces[number] {
    return this.place.slice(this.#at.version + 1).filter((version) => version[0] !== HASH);
  }
}

const isNumber = (part = '') => kindOfPart(part) === NUMBER;
const isLetters = (part: string) => kindOfPart(part) === LETTERS;

/** True if the newer one of two names may in fact be the older one. */
type Guess = (older: Side, newer: Side) => boolean;

/** web-1-a383732, web-1-1234567: a git hash has no order. */
const isBesideHash: Guess = (older) => older.part === HASH;

/** Before a number, these mean alpha, beta, candidate and milestone. */
const PRE_RELEASE_LETTERS = ['a', 'b', 'c', 'm'];

/** web-1.0, web-1.0b2: b2 may be a beta of 1.0. */
const mayBeBeta: Guess = (_, newer) =>
  PRE_RELEASE_LETTERS.includes(newer.part) && isNumber(newer.after[0]);

/** web-1.2-3, web-1.2.4: 4 may be a build of 1.2, as 3 is. */
const mayBeBuild: Guess = (older, newer) =>
  older.part === '' && older.builds.length > newer.builds.length;

/** web, web-20240115: the build of that day may be older than the one without a date. */
const isDatedBesideUndated: Guess = (older, newer) =>
  older.place.length === 0 && newer.place.flat().some((part) => /^20\d\d(?:\d\d){0,5}$/.test(part));

/** web-7.0U3, web-7.0.1: update 3 may be newer than release 7.0.1. */
const isReleaseBesideUpdate: Guess = (older, newer) =>
  isLetters(older.part) && isNumber(newer.part) && !hasSameLettersLater(older, newer);

/**
 * True if the newer one has the same letters later, so that both are of one scheme: 3.20-r5,
 * 3.20.1-r0. But not 7.0U3, 7.0.0U1, as .0 can be omitted; and only after equal numbers, so not
 * SP3, 12-SP3.
 */
function hasSameLettersLater(older: Side, newer: Side): boolean {
  const beginAlike = older.version[0] === newer.version[0];
  return beginAlike && newer.part !== '0' && newer.after.includes(older.part);
}

/** web-15.1R7, web-15.1X49: R and X may be two lines of releases. But not 7.0U3b, 7.0U3c. */
const areTwoLines: Guess = (older, newer) =>
  isLetters(older.part) &&
  isLetters(newer.part) &&
  (isNumber(older.after[0]) || isNumber(newer.after[0]));

/** web-32, web-64: they may be one version for two processors. */
const areProcessors: Guess = (older, newer) =>
  older.part === '32' && newer.part === '64' && older.version.length + newer.version.length === 2;

/** web-1.5g-2, web-2.5g-1: they may be of two sizes. But not 6.5f, 6.5g. */
const areSizes: Guess = (older, newer) => isNumber(newer.part) && (isSize(older) || isSize(newer));

const isSize = ({ version }: Side) => /^\d+,\d,[gmt]$/.test(`${version}`);

/**
 * web-21H2, web-1909: 1909 may be a year and a month. web-9.16, web-992: 992 may be release 9.9.2.
 * But not web-9, web-100.
 */
const isMuchLonger: Guess = (older, newer) => {
  if (!isNumber(older.part) || newer.part.length - older.part.length < 2) return false;
  return newer.part.length >= 4 || !isLast(older) || !isLast(newer);
};

const isLast = ({ after, builds }: Side) => after.length + builds.length === 0;

const GUESSES: readonly Guess[] = [
  isBesideHash,
  mayBeBeta,
  mayBeBuild,
  isDatedBesideUndated,
  isReleaseBesideUpdate,
  areTwoLines,
  areProcessors,
  areSizes,
  isMuchLonger,
];

/** True for 2.1-rc1, 3.0.0b2 and 11.0.0-M20. */
export function isPreRelease(places: ComparedPlaces): boolean {
  return places.flat().some((version) => version.some(isPreReleasePart));
}

/** True for rc, alpha and beta, and for a, b, c or m between two numbers. */
function isPreReleasePart(part: string, index: number, version: readonly string[]): boolean {
  if (kindOfPart(part) === PRE_RELEASE) return true;
  if (!PRE_RELEASE_LETTERS.includes(part)) return false;
  return isNumber(version[index - 1]) && isNumber(version[index + 1]);
}
