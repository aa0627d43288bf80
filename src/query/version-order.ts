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

type Side = ReturnType<typeof sideAt>;

/** Returns what a name has from the part on where it first differs: of 7.0U3-15 beside 7.0.1, u, then 3, then 15. */
function sideAt([placeAt, versionAt, partAt]: Position, places: Places) {
  const place = places[placeAt] ?? [];
  const parts = place[versionAt] ?? [];
  /** Empty if the name has no part there. */
  const part = parts[partAt] ?? '';
  /** True if the part is the first of its place. */
  const beginsPlace = versionAt === 0 && partAt === 0;
  const partsAfter = parts.slice(partAt + 1);
  const versionsAfter = place.slice(versionAt + 1);
  return { part, kind: partKind(part), beginsPlace, partsAfter, versionsAfter };
}

/** Returns the older and the newer side of two names, or nothing if neither is newer. */
function sidesOf(left: Places, right: Places): readonly [] | readonly [older: Side, newer: Side] {
  const at = firstDifference(left, right);
  if (at === undefined) return [];
  const [one, other] = [sideAt(at, left), sideAt(at, right)];
  return compareParts(one.part, other.part) < 0 ? [one, other] : [other, one];
}

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: Places, right: Places): boolean {
  const [older, newer] = sidesOf(left, right);
  if (!older || !newer) return false;
  return GUESSES.some((needsGuess) => needsGuess(older, newer));
}

/** When it takes a guess, each with an example: what counts as older, as newer, and what the newer one may be instead. */
const GUESSES: readonly ((older: Side, newer: Side) => boolean)[] = [
  // 1-a383732, 1-1234567: a hash has no order.
  (older) => older.part === HASH,
  // 1.0, 1.0b2: a beta of 1.0. 1.0rc1, 1.0a1: an alpha.
  (older, newer) => older.kind <= NOTHING && mayBePreRelease(newer),
  // 12_2021, 12sp3: a service pack that was out before 2021.
  (older, newer) =>
    older.kind === NOTHING &&
    newer.kind === LETTERS &&
    older.versionsAfter.length > newer.versionsAfter.length,
  // 1.2-3, 1.2.4: build 4 of 1.2, as 3 is. But 1.2.4-1 has a build.
  (older, newer) =>
    older.kind === NOTHING && newer.kind === NUMBER && hasBuild(older) && !hasBuild(newer),
  // web, web-20240115: a build that is older than web.
  (older, newer) => older.kind === NOTHING && newer.beginsPlace && beginsWithDate(newer),
  // 7.0U3, 7.0.1: a release before the update U3.
  (older, newer) =>
    older.kind === LETTERS && newer.kind === NUMBER && !goesOnWith(older.part, newer),
  // 15.1R7, 15.1X49: another line of releases.
  (older, newer) => areOtherLetters(older, newer) && !goesOnWith(older.part, newer),
  // win-32, win-64: the same version for another processor.
  areBits,
  // 21H2, 1909: a year and a month. 9.16, 992: a build. But 10 is newer than 9, and 100 than 9.
  (older, newer) =>
    older.kind === NUMBER &&
    newer.part.length - older.part.length >= 2 &&
    (newer.part.length >= 4 || endsPlace(older) !== endsPlace(newer)),
];

/** True if the numbers that differ are of one form and one has at most one digit more, such as 999 and 1000. */
export function isStep(left: Places, right: Places): boolean {
  const [older, newer] = sidesOf(left, right);
  if (older?.kind !== NUMBER || !newer || areBits(older, newer)) return false;
  const isNear = newer.part.length - older.part.length <= 1;
  return isNear && endsPlace(older) === endsPlace(newer);
}

/** True for 1.0b2, a beta or a patch, and 1.0M3, a milestone or a patch. */
function mayBePreRelease(side: Side): boolean {
  return isBeforeNumber(side) && /^[abcm]$/.test(side.part);
}

/** True for letters before a number: the u of U3. */
function isBeforeNumber({ kind, partsAfter }: Side): boolean {
  return kind === LETTERS && partsAfter.length > 0;
}

/** True if another number follows in the place: the 3 of 1.2-3. */
function hasBuild({ versionsAfter: [next] }: Side): boolean {
  return partKind(next?.[0]) === NUMBER;
}

/** True if the part is all that is left of the place, but for a pre-release. */
function endsPlace(side: Side): boolean {
  return partKind(side.partsAfter[0]) <= NOTHING && !hasBuild(side);
}

/** 2024-1-15, 15-1-2024, 20240115, 202401 */
const DATE_AT_START =
  /^(?:20\d\d(?:0[1-9]|1[0-2])(?:\d\d)?|20\d\d-(?:\d|1[0-2])|\d\d?-\d\d?-20\d\d)(?!\d)/;

function beginsWithDate({ part, partsAfter, versionsAfter }: Side): boolean {
  return DATE_AT_START.test([part, ...partsAfter, ...versionsAfter.flat()].join('-'));
}

/** True for the r of 3.20-r5 beside 3.20.1-r0: only a number is between. But .0 may be omitted: 7.0U3 beside 7.0.0U1. */
function goesOnWith(letters: string, newer: Side): boolean {
  if (newer.beginsPlace || newer.part === '0' || mayBePreRelease(newer)) return false;
  return newer.partsAfter.includes(letters);
}

/** True for the letters of 15.1R7 and 15.1X49; but a1 is older than b1. */
function areOtherLetters(older: Side, newer: Side): boolean {
  if (!isBeforeNumber(older) || !isBeforeNumber(newer)) return false;
  return older.part !== 'a' || newer.part !== 'b';
}

function areBits(older: Side, newer: Side): boolean {
  return older.part === '32' && newer.part === '64';
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
