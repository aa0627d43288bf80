// Compares the versions in two names of a series, and says when that takes a guess.

import { compareText } from './fields.ts';
import { HASH, type Name } from './name.ts';

type Places = Name['places'];

/**
 * Compares two names of a series by the first part that differs: the 4 of 1.2.4 is newer than nothing in the first version
 * of 1.2-3, whatever the next version is.
 */
export function compareVersions(left: Places, right: Places): number {
  const at = firstDifference(left, right);
  return at ? compareParts(partOf(left, at), partOf(right, at)) : 0;
}

/** The indexes of a place, of a version in it, and of a part in that. */
type Position = readonly [place: number, version: number, part: number];

function partOf(places: Places, [place, version, part]: Position): string | undefined {
  return places[place]?.[version]?.[part];
}

/** Returns where two names differ first: 1.2-3 and 1.2.4 at [0, 0, 2]. */
function firstDifference(left: Places, right: Places): Position | undefined {
  for (let place = 0; place < left.length || place < right.length; place += 1) {
    const one = left[place] ?? [];
    const other = right[place] ?? [];
    for (let version = 0; version < one.length || version < other.length; version += 1) {
      const parts = one[version] ?? [];
      const otherParts = other[version] ?? [];
      for (let part = 0; part < parts.length || part < otherParts.length; part += 1) {
        if (compareParts(parts[part], otherParts[part]) !== 0) return [place, version, part];
      }
    }
  }
  return undefined;
}

/**
 * The kinds of parts, oldest first: 1.0rc1, 1.0, 1.0u1, 1.0.1. NOTHING is a hash, or that a name has no part where the
 * other has one.
 */
const [PRE_RELEASE, NOTHING, LETTERS, NUMBER] = [0, 1, 2, 3];

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

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: Places, right: Places): boolean {
  const [low, high] = sidesOf(left, right);
  if (!low || !high) return false;
  switch (low.kind) {
    // 1.0rc1 beside 1.0a1
    case PRE_RELEASE:
      return mayBePreRelease(high);
    // 1-a383732 beside 1-1234567; 1.0 beside 1.0b2; web beside web-20240115
    case NOTHING:
      return low.part === HASH || mayBePreRelease(high) || mayBeBuild(low, high);
    // 7.0U3 beside 7.0.1; 15.1R7 beside 15.1X49
    case LETTERS:
      return !goesOnWith(low.part, high) && (high.kind === NUMBER || areOtherLetters(low, high));
    // 21H2 beside 1909
    default:
      return areOtherNumbers(low, high);
  }
}

/** True if the numbers that differ are of one form and one has at most one digit more, such as 999 and 1000. */
export function isStep(left: Places, right: Places): boolean {
  const [low, high] = sidesOf(left, right);
  if (low?.kind !== NUMBER || high?.kind !== NUMBER) return false;
  const isSameForm = low.isAlone === high.isAlone;
  const isNear = high.part.length - low.part.length <= 1;
  return isSameForm && isNear && !areOtherNumbers(low, high);
}

/** Returns the older and the newer side of two names, or nothing if neither is newer. */
function sidesOf(left: Places, right: Places): readonly [] | readonly [low: Side, high: Side] {
  const at = firstDifference(left, right);
  if (at === undefined) return [];
  const [one, other] = [sideAt(at, left), sideAt(at, right)];
  return compareParts(one.part, other.part) < 0 ? [one, other] : [other, one];
}

type Side = ReturnType<typeof sideAt>;

/** Describes the part of a name where two names differ, and what is beside it: [0, 0, 2] of 7.0U3-1 is the letters u. */
function sideAt([placeAt, versionAt, partAt]: Position, places: Places) {
  const place = places[placeAt] ?? [];
  const parts = place[versionAt] ?? [];
  /** Empty if the name has no part there. */
  const part = parts[partAt] ?? '';
  const kind = partKind(part);
  const partsLeft = parts.slice(partAt + 1);
  /** True if the part is the first of its place. */
  const isFirst = versionAt === 0 && partAt === 0;
  /** The part, if it is letters before a number: the u of U3. */
  const letters = kind === LETTERS && partsLeft.length > 0 ? part : '';
  /** True if another version follows in the place. */
  const isFollowed = partKind(place[versionAt + 1]?.[0]) > NOTHING;
  /** True if the part is all that is left of the place, but for a pre-release. */
  const isAlone = partKind(partsLeft[0]) <= NOTHING && !isFollowed;
  const versionsLeft = place.length - versionAt;
  return { part, kind, isFirst, letters, isFollowed, isAlone, versionsLeft, partsLeft, place };
}

/** True for 1.0b2, a beta or a patch, and 1.0M3, a milestone or a patch. */
function mayBePreRelease({ letters }: Side): boolean {
  return /^[abcm]$/.test(letters);
}

/** 2024-1-15, 15-1-2024, 20240115, 202401 */
const DATE_AT_START =
  /^(?:20\d\d(?:0[1-9]|1[0-2])(?:\d\d)?|20\d\d-(?:\d|1[0-2])|\d\d?-\d\d?-20\d\d)(?!\d)/;

/** True if what only one has may be a build: 12sp3 beside 12_2021, 1.2.4 beside 1.2-3, and web-20240115 beside web. */
function mayBeBuild(low: Side, high: Side): boolean {
  if (high.kind === LETTERS && low.versionsLeft > high.versionsLeft) return true;
  if (high.kind === NUMBER && low.isFollowed && !high.isFollowed) return true;
  return high.isFirst && DATE_AT_START.test(high.place.flat().join('-'));
}

/** True for the r of 3.20-r5 beside 3.20.1-r0: only a number is between. But .0 may be omitted: 7.0U3 beside 7.0.0U1. */
function goesOnWith(letters: string, high: Side): boolean {
  if (high.isFirst || high.part === '0' || mayBePreRelease(high)) return false;
  return high.partsLeft.includes(letters);
}

/** True for 15.1R7 beside 15.1X49; but a1 is older than b1. */
function areOtherLetters({ letters: low }: Side, { letters: high }: Side): boolean {
  if (low === '' || high === '') return false;
  return !/^[ab]{2}$/.test(low + high);
}

/** True for numbers of different schemes. */
function areOtherNumbers(low: Side, high: Side): boolean {
  // win-64 beside win-32
  if (low.part === '32' && high.part === '64') return true;
  if (high.part.length - low.part.length < 2) return false;
  // 21H2 beside 1909, 2211 beside 20141129; 9.16 beside 992
  return high.part.length >= 4 || low.isAlone !== high.isAlone;
}

/** True for rc, alpha and beta, and for a, b or m between two numbers: 2.1-rc1, 3.0.0b2, 11.0.0-M20. */
export function isPreRelease(places: Places): boolean {
  return places.flat().some((parts) =>
    parts.some((part, at) => {
      if (partKind(part) === PRE_RELEASE) return true;
      if (!/^[abm]$/.test(part)) return false;
      return partKind(parts[at - 1]) === NUMBER && partKind(parts[at + 1]) === NUMBER;
    }),
  );
}
