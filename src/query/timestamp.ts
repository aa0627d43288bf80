// Points in time out of text: the service's shape, ISO 8601, and times relative to now.

import { minutesEast } from './time-zones.ts';

const SERVICE =
  /^\d{4}-\d\d-\d\d (?:Sun|Mon|Tue|Wed|Thu|Fri|Sat) \d\d:\d\d:\d\d (?:[A-Za-z]{1,6}|[+-][\d:]{2,5})$/;
const ISO =
  /^\d{4}-\d\d-\d\d(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[+-][\d:]{2,5})?)?$/;
const RELATIVE = /^([+-])(\d{1,9})([mhdw])$/;

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS: ReadonlyMap<string | undefined, number> = new Map([
  ['m', MINUTE],
  ['h', HOUR],
  ['d', DAY],
  ['w', 7 * DAY],
]);
/** The Gregorian calendar repeats itself, weekdays too, after this long. */
const FOUR_CENTURIES = 146_097 * DAY;
/** No Date is farther from 1970. */
const FARTHEST = 8.64e15;

/**
 * The instant, in milliseconds since the epoch, of a time stamp as the service writes it
 * (`2018-07-18 Wed 15:36:49 EDT`, service-api.md section 2.2) or of a full ISO 8601 one.
 * Undefined for what only a guess could read: an ambiguous or missing zone, a wrong weekday.
 */
export function parseTimestamp(text: string): number | undefined {
  if (SERVICE.test(text)) return serviceInstant(text, minutesEast(text.slice(24)));
  const iso = ISO.exec(text);
  return iso?.[5] === undefined ? undefined : isoInstant(iso);
}

/**
 * The instant that a user means: what parseTimestamp reads, an ISO 8601 date or time without an offset
 * (UTC, so that a script means the same everywhere), or `-30d`, `+2h` from now (units m h d w).
 * @param now milliseconds since the epoch
 */
export function parseTimeValue(text: string, now: number): number | undefined {
  const [, sign, amount, unit] = RELATIVE.exec(text) ?? [];
  const span = Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  if (sign !== undefined) {
    const instant = sign === '-' ? now - span : now + span;
    return Math.abs(instant) <= FARTHEST ? instant : undefined;
  }
  const iso = ISO.exec(text);
  return iso ? isoInstant(iso) : parseTimestamp(text);
}

/** Whether the text has the service's shape and a possible date, even if its zone cannot be told. */
export function isServiceShape(text: string): boolean {
  return SERVICE.test(text) && serviceInstant(text, 0) !== undefined;
}

/** The text with the weekday that its date has, where that alone keeps it from having the service's shape. */
export function withItsWeekday(text: string): string | undefined {
  return WEEKDAYS.map((day) => text.slice(0, 11) + day + text.slice(14)).find(isServiceShape);
}

/** By position and without captures: a long list has two of these an image. */
function serviceInstant(text: string, offset: number | undefined): number | undefined {
  const midnight = midnightOf(text);
  const time = timeOfDay(numberAt(text, 15, 2), numberAt(text, 18, 2), numberAt(text, 21, 2));
  if (midnight === undefined || time === undefined || offset === undefined) return undefined;
  if (text.slice(11, 14) !== WEEKDAYS[new Date(midnight).getUTCDay()]) return undefined;
  return midnight + time - offset * MINUTE;
}

function isoInstant(parts: RegExpExecArray): number | undefined {
  const [text, hour = 0, minute = 0, second = 0, fraction = '', zone = 'Z'] = parts;
  const midnight = midnightOf(text);
  const time = timeOfDay(Number(hour), Number(minute), Number(second));
  const offset = minutesEast(zone.toUpperCase());
  if (midnight === undefined || time === undefined || offset === undefined) return undefined;
  return midnight + time + Number(fraction.slice(0, 3).padEnd(3, '0')) - offset * MINUTE;
}

/** Milliseconds from the epoch to the start, in UTC, of the day the text begins with, if there is one. */
function midnightOf(text: string): number | undefined {
  const year = numberAt(text, 0, 4);
  const month = numberAt(text, 5, 2);
  const day = numberAt(text, 8, 2);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = (DAYS_IN_MONTH[month - 1] ?? 0) + (leap && month === 2 ? 1 : 0);
  if (day < 1 || day > days) return undefined;
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  return Date.UTC(year + 400, month - 1, day) - FOUR_CENTURIES;
}

/** Milliseconds since midnight; undefined where a clock cannot show it. */
function timeOfDay(hour: number, minute: number, second: number): number | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return hour * HOUR + minute * MINUTE + second * SECOND;
}

/** The number that so many decimal digits write. */
function numberAt(text: string, start: number, length: number): number {
  let number = 0;
  for (let index = start; index < start + length; index += 1) {
    number = number * 10 + text.charCodeAt(index) - 48;
  }
  return number;
}
