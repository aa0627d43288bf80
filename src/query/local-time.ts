// Local time, in the zone of this machine: offsets, the instants that it means, and its use.

import { DAY, MINUTE, type Time } from './timestamp.ts';

let isLocalUsed = false;

/** Returns whether a local time was read or formatted since the last call. */
export function takeLocalUse(): boolean {
  const isUsed = isLocalUsed;
  isLocalUsed = false;
  return isUsed;
}

/** Returns the milliseconds by which the clocks of this machine are ahead of UTC. */
export function offsetAt(instant: number): number {
  isLocalUsed = true;
  return -new Date(instant).getTimezoneOffset() * MINUTE;
}

/** Formats an instant with the offset of this machine, for others: `2026-11-01T00:00:00+01:00`. */
export function withOffset(instant: number): string {
  const offset = offsetAt(instant);
  const local = new Date(instant + offset).toISOString().replace(/(?:\.000)?Z/, '');
  const size = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${local}${offset < 0 ? '-' : '+'}${size}`;
}

/**
 * Returns when a local time begins and ends. It is given as if it were UTC. 02:30 in Berlin:
 * - of 2026-07-01, from 00:30Z to 00:31Z;
 * - of 2026-10-25, when clocks show it twice, from the first to the last: 00:30Z to 01:31Z;
 * - of 2026-03-29, when clocks skip it, empty and at the end of the gap: 01:00Z.
 */
export function localSpan(utc: number, length: number): { start: Time; end: Time } {
  // No zone is a day from UTC, and clocks change once in these days at most.
  const [first, last] = [utc - DAY, utc + length + DAY];
  const [before, after] = [offsetAt(first), offsetAt(last)];
  const [startBefore, endBefore] = [utc - before, utc + length - before];
  if (before === after) return { start: known(startBefore), end: known(endBefore) };
  const [startAfter, endAfter] = [utc - after, utc + length - after];
  const change = changeBetween(first, last);
  return {
    // By the clocks before the change, if they show it before that. What is skipped is at it.
    start: known(startBefore < change ? startBefore : Math.max(startAfter, change)),
    // By the clocks after the change, if they show it after that.
    end: known(endAfter > change ? endAfter : Math.min(endBefore, change)),
  };
}

const known = (at: number): Time => ({ at, unknownZone: undefined });

/** Returns the instant at which the clocks of this machine change. */
function changeBetween(first: number, last: number): number {
  const before = offsetAt(first);
  let [low, change] = [first, last];
  while (change - low > 1) {
    const middle = Math.floor((low + change) / 2);
    if (offsetAt(middle) === before) low = middle;
    else change = middle;
  }
  return change;
}
