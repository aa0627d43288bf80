// Compares the versions in two names of a series, and says when that takes a guess.

import { compareText } from './fields.ts';
import { HASH_PART, type Name, PLACE, VERSION_MARK } from './name.ts';

type Parts = Name['parts'];

/** Compares two names of a series version by version from the left, never across a separator. */
export function compareVersions(left: Parts, right: Parts): number {
  const [leftAt, rightAt] = firstDifference(left, right);
  return compareParts(left[leftAt], right[rightAt]);
}

/** Returns the indexes of the first parts that differ; of equal names, their lengths. */
function firstDifference(left: Parts, right: Parts): readonly [number, number] {
  let leftAt = 0;
  let rightAt = 0;
  while (leftAt < left.length || rightAt < right.length) {
    const leftPart = left[leftAt] ?? PLACE;
    const rightPart = right[rightAt] ?? PLACE;
    if (compareParts(leftPart, rightPart) !== 0) break;
    // The side whose place has fewer versions stays at the end of that place.
    if (leftPart !== PLACE || rightPart === PLACE) leftAt += 1;
    if (rightPart !== PLACE || leftPart === PLACE) rightAt += 1;
  }
  return [leftAt, rightAt];
}

/** The kinds of parts, oldest first; NOTHING is a place without a part. */
const [PRE_RELEASE, NOTHING, LETTERS, NUMBER] = [0, 1, 2, 3];

function partKind(part = PLACE) {
  if (/^[\0\n#]/.test(part)) return NOTHING;
  if (/^\d/.test(part)) return NUMBER;
  return /^(?:alpha|beta|rc)$/.test(part) ? PRE_RELEASE : LETTERS;
}

function compareParts(left = PLACE, right = PLACE): number {
  if (left === right) return 0;
  const kind = partKind(left);
  if (kind !== partKind(right)) return kind - partKind(right);
  if (kind === NOTHING) return 0;
  if (kind === NUMBER && left.length !== right.length) return left.length - right.length;
  return compareText(left, right);
}

/** True if it takes a guess to say which of two names of a series is newer. */
export function isGuess(left: Parts, right: Parts): boolean {
  const [one, other] = sidesOf(left, right);
  const [low, high] = compareParts(one.part, other.part) <= 0 ? [one, other] : [other, one];
  if (low.part === HASH_PART) return true;
  if (low.kind === PRE_RELEASE) return mayBePreRelease(high);
  if (low.kind === NOTHING) return mayBePreRelease(high) || mayBeBuild(low, high);
  // 12_sp3 beside 12_2021
  if (low.kind !== high.kind) return true;
  return low.kind === LETTERS ? areOtherLetters(low, high) : areOtherNumbers(low, high);
}

/** True for 1.0b2, a beta or a patch, and 1.0M3, a milestone or a patch. */
function mayBePreRelease({ letters }: Side): boolean {
  return /^[abcm]$/.test(letters);
}

/** True for web beside web-20240115, and 1.2-3 beside 1.2.4: the number may be a build or a version. */
function mayBeBuild(low: Side, high: Side): boolean {
  const isOtherForm = low.isFollowed && !high.isFollowed && high.kind === NUMBER;
  return isOtherForm || high.startsWithDate();
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
  // 21H2 beside 1909, 2211 beside 20141129, 9.16 beside 992
  const isMuchLonger = high.part.length - low.part.length >= 2;
  return isMuchLonger && (high.part.length >= 4 || low.isAlone !== high.isAlone);
}

/** True if the numbers that differ are of one form and one has at most one digit more, such as 999 and 1000. */
export function isStep(left: Parts, right: Parts): boolean {
  const [one, other] = sidesOf(left, right);
  const areNumbers = one.kind === NUMBER && other.kind === NUMBER;
  const isSameForm = one.isAlone === other.isAlone;
  const isNear = Math.abs(one.part.length - other.part.length) <= 1;
  return areNumbers && isSameForm && isNear && !isGuess(left, right);
}

function sidesOf(left: Parts, right: Parts) {
  const [leftAt, rightAt] = firstDifference(left, right);
  return [sideOf(left, leftAt), sideOf(right, rightAt)] as const;
}

/** 20240115, 202401, 2024-1-15, 15-1-2024 */
const DATE_PARTS =
  /^(?:20\d\d(?:0[1-9]|1[0-2])(?:\d\d)?|20\d\d-(?:\d|1[0-2])|\d\d?-\d\d?-20\d\d)(?!\d)/;

type Side = ReturnType<typeof sideOf>;

/** Describes a part and what follows it. */
function sideOf(parts: Parts, at: number) {
  const part = parts[at] ?? PLACE;
  const kind = partKind(part);
  let end = at;
  while (partKind(parts[end]) !== NOTHING) end += 1;
  /** True if another version follows, behind a separator. */
  const isFollowed = parts[end] === VERSION_MARK && partKind(parts[end + 1]) > NOTHING;
  /** Letters before a number: the u of U3. */
  const letters = kind === LETTERS && end > at + 1 ? part : '';
  /** True if the part is all that is left of its place. */
  const isAlone = end === at + 1 && !isFollowed;
  /** True if the part is the first of its place, which begins with a date. */
  const startsWithDate = () => {
    const numbers = parts.slice(at, at + 5).filter((each) => each !== VERSION_MARK);
    return parts[at - 1] === PLACE && DATE_PARTS.test(numbers.join('-'));
  };
  return { part, kind, letters, isAlone, isFollowed, startsWithDate };
}

/** True for rc, alpha and beta, and for a, b or m between two numbers: 2.1-rc1, 3.0.0b2, 11.0.0-M20. */
export function isPreRelease(parts: Parts): boolean {
  return parts.some((part, at) => {
    if (partKind(part) === PRE_RELEASE) return true;
    if (!/^[abm]$/.test(part)) return false;
    const before = parts[at - 1] === VERSION_MARK ? parts[at - 2] : parts[at - 1];
    return partKind(before) === NUMBER && partKind(parts[at + 1]) === NUMBER;
  });
}
