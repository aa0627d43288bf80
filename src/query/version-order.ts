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
  if (/^\d/.test(part)) return NUMBER;
  return /^(?:alpha|beta|rc)$/.test(part) ? PRE_RELEASE : LETTERS;
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
    const [lefts = [], rights = []] = [left[place], right[place]];
    for (let version = 0; version < lefts.length || version < rights.length; version += 1) {
      const [leftParts = [], rightParts = []] = [lefts[version], rights[version]];
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
  const [one, other] = [sideAt(difference, left), sideAt(difference, right)];
  const [older, newer] = difference.order < 0 ? [one, other] : [other, one];
  return ORDER_GUESSES.some(({ applies }) => applies(older, newer));
}

/** What a name has where two differ first: 7.0U3-15 beside 7.0.1 has u, and 3 and 15 after it. */
interface Side {
  /** u; an empty text if the name has no part there */
  readonly part: string;
  /** PRE_RELEASE, ABSENT_OR_HASH, LETTERS or NUMBER */
  readonly kind: number;
  /** True if the part is the first one of its place. */
  readonly beginsPlace: boolean;
  /** The version with the part: 7, 0, u and 3 */
  readonly version: readonly string[];
  /** The parts after it in its version: 3 */
  readonly partsAfter: readonly string[];
  /** The versions after that one in its place, but for git hashes: 15 */
  readonly versionsAfter: ComparedPlaces[number];
}

function sideAt(at: Difference, places: ComparedPlaces): Side {
  const [version = [], ...laterVersions] = places[at.place]?.slice(at.version) ?? [];
  const [part = '', ...partsAfter] = version.slice(at.part);
  const beginsPlace = at.version === 0 && at.part === 0;
  const versionsAfter = laterVersions.filter(([first]) => first !== HASH);
  return { part, kind: kindOfPart(part), beginsPlace, version, partsAfter, versionsAfter };
}

const isAbsent = ({ part }: Side) => part === '';

const isBeforePart = ({ kind, partsAfter }: Side) => kind === LETTERS && partsAfter.length > 0;

/** True for the u of U3, but neither for that of 7.0u nor for that of 7.0u-SP1. */
const isBeforeNumber = ({ kind, partsAfter: [next = ''] }: Side) =>
  kind === LETTERS && /^\d/.test(next);

/** True for the b of 1.0b2: a beta, or a version that came after 1.0. So may be c, a candidate. */
const mayBePreRelease = (side: Side) => isBeforeNumber(side) && /^[abcm]$/.test(side.part);

/** True if the number of the newer name has at least two digits more: 992 beside 9, not 10. */
function isMuchLonger(older: Side, newer: Side): boolean {
  return older.kind === NUMBER && newer.part.length - older.part.length >= 2;
}

/** True for 1.5g, which rather is a version. */
const mayBeSize = ({ version }: Side) => /^\d+,\d,[gmt]$/.test(`${version}`);

/** False for 6.5f, whose letter shows that 6.5g is a version. */
const hasNoOtherLetter = ({ version }: Side) => /^[\d,]*[gmt]?$/.test(`${version}`);

const endsPlace = (side: Side) => side.partsAfter.length + side.versionsAfter.length === 0;

/** True for 20240115, 202401, 2024-1-15 and 15-1-2024. */
function hasDate({ part, partsAfter, versionsAfter }: Side): boolean {
  return [part, ...partsAfter, ...versionsAfter.flat()].some((each) =>
    /^20\d\d(?:\d\d){0,2}$/.test(each),
  );
}

/**
 * True for 3.20-r5 and 3.20.1-r0: the newer name has one more number before the same letters. But
 * not for 7.0U3 and 7.0.0U1, as .0 can be omitted.
 */
function hasOneMoreNumber(older: Side, newer: Side): boolean {
  return !newer.beginsPlace && newer.part !== '0' && newer.partsAfter.includes(older.part);
}

interface Guess {
  /** Two names, of which the newer one may be the older one for the reason after it. */
  readonly older: string;
  readonly newer: string;
  readonly because: string;
  readonly applies: (older: Side, newer: Side) => boolean;
}

export const ORDER_GUESSES: readonly Guess[] = [
  {
    older: 'web-1-a383732',
    newer: 'web-1-1234567',
    because: 'a383732 is a git hash, which has no order',
    applies: (older) => older.part === HASH,
  },
  {
    older: 'web-1.0',
    newer: 'web-1.0b2',
    because: 'b2 may be a beta of 1.0',
    applies: (older, newer) =>
      (isAbsent(older) || older.kind === PRE_RELEASE) && mayBePreRelease(newer),
  },
  {
    older: 'web-1.2-3',
    newer: 'web-1.2.4',
    because: '4 may be a build of 1.2, as 3 is',
    applies: (older, newer) =>
      isAbsent(older) && older.versionsAfter.length > newer.versionsAfter.length,
  },
  {
    older: 'web',
    newer: 'web-20240115',
    because: 'the build of that day may be older than the one without a date',
    applies: (older, newer) => isAbsent(older) && newer.beginsPlace && hasDate(newer),
  },
  {
    older: 'web-7.0U3',
    newer: 'web-7.0.1',
    because: 'update 3 may be newer than release 7.0.1',
    applies: (older, newer) =>
      older.kind === LETTERS && newer.kind === NUMBER && !hasOneMoreNumber(older, newer),
  },
  {
    older: 'web-15.1R7',
    newer: 'web-15.1X49',
    because: 'R and X may be two lines of releases',
    // Not 7.0b-SP1 and 7.0c-SP1, but 7.0b-SP1 and 7.0-SP2.
    applies: (...sides) => sides.every(isBeforePart) && sides.some(isBeforeNumber),
  },
  {
    older: 'web-32',
    newer: 'web-64',
    because: 'they may be one version for two processors',
    applies: (older, newer) => `${older.version}` === '32' && `${newer.version}` === '64',
  },
  {
    older: 'web-1.5g-2',
    newer: 'web-2.5g-1',
    because: '1.5g and 2.5g may be sizes',
    applies: (older, newer) =>
      newer.kind === NUMBER &&
      [older, newer].some(mayBeSize) &&
      [older, newer].every(hasNoOtherLetter),
  },
  {
    older: 'web-21H2',
    newer: 'web-1909',
    because: '1909 may be a year and a month',
    applies: (older, newer) => isMuchLonger(older, newer) && newer.part.length >= 4,
  },
  {
    older: 'web-9.16',
    newer: 'web-992',
    because: '992 may be release 9.9.2',
    applies: (older, newer) =>
      isMuchLonger(older, newer) && !(endsPlace(older) && endsPlace(newer)),
  },
];

/** True for 2.1-rc1, 3.0.0b2 and 11.0.0-M20. */
export function isPreRelease(places: ComparedPlaces): boolean {
  return places.flat().some((version) => version.some(isPreReleasePart));
}

/** True for rc, alpha and beta, and for a, b or m between two numbers. */
function isPreReleasePart(part: string, index: number, version: readonly string[]): boolean {
  if (kindOfPart(part) === PRE_RELEASE) return true;
  if (!/^[abm]$/.test(part)) return false;
  const [before = '', after = ''] = [version[index - 1], version[index + 1]];
  return kindOfPart(before) === NUMBER && kindOfPart(after) === NUMBER;
}
