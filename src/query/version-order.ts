// Compares the versions in two names of a series, and says when that takes a guess.

import { compareText } from './fields.ts';
import { HASH, type Places } from './name.ts';

/** Returns a number above 0 if the left of two names of a series is newer, below 0 if the right. */
export function compareVersions(left: Places, right: Places): number {
  return firstDifference(left, right)?.order ?? 0;
}

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: Places, right: Places): boolean {
  const difference = firstDifference(left, right);
  if (!difference) return false;
  const [one, other] = [sideAt(difference, left), sideAt(difference, right)];
  const [older, newer] = difference.order < 0 ? [one, other] : [other, one];
  return ORDER_GUESSES.some(({ isNeeded }) => isNeeded(older, newer));
}

interface Guess {
  /** Two names, of which the newer one may be the older one for the reason after it. */
  readonly older: string;
  readonly newer: string;
  readonly because: string;
  readonly isNeeded: (older: Side, newer: Side) => boolean;
}

export const ORDER_GUESSES: readonly Guess[] = [
  {
    older: 'web-1-a383732',
    newer: 'web-1-1234567',
    because: 'a383732 is a git hash, which has no order',
    isNeeded: (older) => older.part === HASH,
  },
  {
    older: 'web-1.0',
    newer: 'web-1.0b2',
    because: 'b2 may be a beta of 1.0',
    isNeeded: (older, newer) =>
      older.kind <= NOTHING && isBeforeNumber(newer) && /^[abcm]$/.test(newer.part),
  },
  {
    older: 'web-1.2-3',
    newer: 'web-1.2.4',
    because: '4 may be a build of 1.2, as 3 is',
    isNeeded: (older, newer) =>
      older.kind === NOTHING && older.buildsAfter.length > newer.buildsAfter.length,
  },
  {
    older: 'web',
    newer: 'web-20240115',
    because: 'the build of that day may be older than the one without a date',
    isNeeded: (older, newer) => older.kind === NOTHING && newer.beginsPlace && hasDate(newer),
  },
  {
    older: 'web-7.0U3',
    newer: 'web-7.0.1',
    because: 'update 3 may be newer than release 7.0.1',
    isNeeded: (older, newer) =>
      older.kind === LETTERS && newer.kind === NUMBER && !goesOnWith(older.part, newer),
  },
  {
    older: 'web-15.1R7',
    newer: 'web-15.1X49',
    because: 'R and X may be two lines of releases',
    isNeeded: (older, newer) => isBeforeNumber(older) && isBeforeNumber(newer),
  },
  {
    older: 'web-32',
    newer: 'web-64',
    because: 'they may be one version for two processors',
    isNeeded: (older, newer) => older.part === '32' && newer.part === '64',
  },
  {
    older: 'web-21H2',
    newer: 'web-1909',
    because: '1909 may be a year and a month',
    isNeeded: (older, newer) => isMuchLonger(newer, older) && newer.part.length >= 4,
  },
  {
    older: 'web-9.16',
    newer: 'web-992',
    because: '992 may be release 9.9.2',
    isNeeded: (older, newer) =>
      isMuchLonger(newer, older) && !(endsPlace(older) && endsPlace(newer)),
  },
];

/** What a name has from the first different part on: u, 3 and 15 of 7.0U3-15 beside 7.0.1. */
interface Side {
  /** Empty if the name has no part there. */
  readonly part: string;
  readonly kind: number;
  /** True if the part is the first of its place. */
  readonly beginsPlace: boolean;
  /** The parts behind it in its version. */
  readonly partsAfter: readonly string[];
  /** The versions behind that in its place, but for hashes. */
  readonly buildsAfter: Places[number];
}

function sideAt(at: Difference, places: Places): Side {
  const [version = [], ...versionsAfter] = places[at.place]?.slice(at.version) ?? [];
  const [part = '', ...partsAfter] = version.slice(at.part);
  const beginsPlace = at.version === 0 && at.part === 0;
  const buildsAfter = versionsAfter.filter(([first]) => first !== HASH);
  return { part, kind: partKind(part), beginsPlace, partsAfter, buildsAfter };
}

/** True for a number that has two digits more than the older one. 10 and 100 are newer than 9. */
function isMuchLonger(newer: Side, older: Side): boolean {
  return older.kind === NUMBER && newer.part.length - older.part.length >= 2;
}

function endsPlace({ partsAfter, buildsAfter }: Side): boolean {
  return partsAfter.length + buildsAfter.length === 0;
}

/** True for letters before a number: the u of U3. */
function isBeforeNumber({ kind, partsAfter }: Side): boolean {
  return kind === LETTERS && partsAfter.length > 0;
}

/** True for 20240115, 202401, 2024-1-15 and 15-1-2024. */
function hasDate({ part, partsAfter, buildsAfter }: Side): boolean {
  return [part, ...partsAfter, ...buildsAfter.flat()].some((each) =>
    /^20\d\d(?:\d\d){0,2}$/.test(each),
  );
}

/**
 * True for the r of 3.20-r5 beside 3.20.1-r0: only a number is between. But not for the u of 7.0U3
 * beside 7.0.0U1, as .0 may be omitted.
 */
function goesOnWith(letters: string, { part, beginsPlace, partsAfter }: Side): boolean {
  return !beginsPlace && part !== '0' && partsAfter.includes(letters);
}

/** Where two names differ first: the indexes of a place, a version in it, and a part in that. */
interface Difference {
  readonly order: number;
  readonly place: number;
  readonly version: number;
  readonly part: number;
}

/** Of 1.2-3 and 1.2.4, the 4 is newer than nothing, whatever the next version is. */
function firstDifference(left: Places, right: Places): Difference | undefined {
  for (let place = 0; place < left.length || place < right.length; place += 1) {
    const [one = [], other = []] = [left[place], right[place]];
    for (let version = 0; version < one.length || version < other.length; version += 1) {
      const [parts = [], otherParts = []] = [one[version], other[version]];
      for (let part = 0; part < parts.length || part < otherParts.length; part += 1) {
        const order = compareParts(parts[part], otherParts[part]);
        if (order !== 0) return { order, place, version, part };
      }
    }
  }
  return undefined;
}

/**
 * The kinds of parts, oldest first: 1.0rc1, 1.0, 1.0u1, 1.0.1. NOTHING stands for a hash, and for
 * the part that only the other name has.
 */
const PRE_RELEASE = 0;
const NOTHING = 1;
const LETTERS = 2;
const NUMBER = 3;

function partKind(part = ''): number {
  if (part === '' || part === HASH) return NOTHING;
  if (/^\d/.test(part)) return NUMBER;
  return /^(?:alpha|beta|rc)$/.test(part) ? PRE_RELEASE : LETTERS;
}

function compareParts(left = '', right = ''): number {
  if (left === right) return 0;
  const kind = partKind(left);
  const otherKind = partKind(right);
  if (kind !== otherKind) return kind - otherKind;
  if (kind === NOTHING) return 0;
  if (kind === NUMBER && left.length !== right.length) return left.length - right.length;
  return compareText(left, right);
}

/** True for rc, alpha, beta, and a, b or m between two numbers: 2.1-rc1, 3.0.0b2, 11.0.0-M20. */
export function isPreRelease(places: Places): boolean {
  return places.flat().some((parts) =>
    parts.some((part, at) => {
      if (partKind(part) === PRE_RELEASE) return true;
      if (!/^[abm]$/.test(part)) return false;
      return partKind(parts[at - 1]) === NUMBER && partKind(parts[at + 1]) === NUMBER;
    }),
  );
}
