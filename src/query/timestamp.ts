// Parses and formats points in time: the service's format, ISO 8601, ages and times relative to now. Its one state is
// whether local time was used (takeLocalUse).

import { MAX_INSTANT } from '../words.ts';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const OFFSET = '[+-][\\d:]{2,5}';
const DATE = '\\d{4}-\\d\\d-\\d\\d';
const SERVICE_TIME = new RegExp(
  `^${DATE} (?:${WEEKDAYS.join('|')}) \\d\\d:\\d\\d:\\d\\d (?:[A-Za-z]{1,6}|${OFFSET})$`,
);
const ISO_CLOCK = '\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?';
const ISO_TIME = new RegExp(`^(${DATE})(?:[Tt ](${ISO_CLOCK})([Zz]|${OFFSET})?)?$`);
const NUMERIC_OFFSET = /^([+-])(\d\d)(?::?(\d\d))?$/;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
/** Milliseconds of each unit of a duration. */
export const UNITS: Readonly<Record<string, number> & Record<'d', number>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: 7 * DAY,
  y: YEAR,
};
export const DURATION = `(\\d+(?:\\.\\d+)?)(${Object.keys(UNITS).join('|')})`;
const RELATIVE = new RegExp(`^([+-]?)${DURATION}$`);
const AGE_UNITS = [
  ['year', YEAR],
  ['month', YEAR / 12],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;

/**
 * Hours east of UTC: the North American zones of RFC 2822, and abbreviations with one meaning since 2000. So there is
 * no IST, BST, AST or MSK; CST is also China's.
 */
const ZONES =
  'UTC+0 GMT+0 Z+0 WET+0 WEST+1 CET+1 WAT+1 CEST+2 EET+2 CAT+2 SAST+2 EEST+3 EAT+3 PKT+5 WIB+7 WITA+8 ' +
  'HKT+8 AWST+8 WIT+9 JST+9 ACST+9.5 AEST+10 ACDT+10.5 AEDT+11 NZST+12 NZDT+13 ' +
  'HST-10 AKST-9 AKDT-8 PST-8 PDT-7 MST-7 MDT-6 CST-6 CDT-5 EST-5 EDT-4';
const MINUTES_EAST = new Map(
  ZONES.split(' ').map((zone) => {
    const sign = zone.search(/[+-]/);
    return [zone.slice(0, sign), 60 * Number(zone.slice(sign))];
  }),
);

export interface Time {
  /** Milliseconds since the epoch; in an unknown zone as if that were UTC. */
  readonly at: number;
  /** The abbreviation of an unknown zone, or `none`. */
  readonly unknownZone: string | undefined;
}

/** How other programs write ages: the days of a month, or the unit that begins the word. */
const AGE_IN_WORDS =
  /^(?:last |past )?(\d{1,4})? ?(?:(mo|month)|(s)ec(?:ond)?|(m)in(?:ute)?|(h)(?:ou)?r|(?:to|yester)?(d)ay|(w)(?:ee)?k|(y)(?:ea)?r|([smhdwy]))s?(?: ago)?$/i;

/** Returns the age that such words mean: 1d for yesterday, 30d for 1month, 2w for 2 weeks ago. */
export function ageInWords(text: string): string | undefined {
  const [found, amount = '1', month, ...units] =
    AGE_IN_WORDS.exec(text.replace(/[\s_-]+/g, ' ')) ?? [];
  if (found === undefined) return undefined;
  if (month) return `${30 * Number(amount)}d`;
  return `${Number(amount)}${units.find(Boolean)?.toLowerCase()}`;
}

/** Stands for the zone of a text that is no time. */
export const UNREADABLE = 'unreadable';

/** Parses the service's `2018-07-18 Wed 15:36:49 EDT` or ISO 8601. Returns undefined for anything else. */
export function parseTime(text: string): Time | undefined {
  const { utc, zone = 'none' } = parseText(text);
  if (utc === undefined) return undefined;
  const east = minutesEast(zone);
  if (east !== undefined) return { at: utc - east * MINUTE, unknownZone: undefined };
  return /^[A-Za-z]/.test(zone) ? { at: utc, unknownZone: zone } : undefined;
}

/** Parses a time to milliseconds since the epoch. Returns undefined if its zone is unknown: it never guesses. */
export function parseTimestamp(text: string): number | undefined {
  const time = parseTime(text);
  return time?.unknownZone === undefined ? time?.at : undefined;
}

export function isSameTime(left: unknown, right: unknown): boolean {
  const instant = parseTimestamp(`${left}`);
  return instant !== undefined && instant === parseTimestamp(`${right}`);
}

/** A time as typed: as long as its last unit. */
export interface Span extends Time {
  /** The first instant after it. */
  readonly end: number;
  /** True if it has no offset: it means another instant on a machine in another zone. */
  readonly isLocal: boolean;
}

/** Also parses `30d` or `-30d` (that long ago), and ISO 8601 without an offset as local time. */
export function parseTimeValue(text: string, now: number): Span | undefined {
  const [, sign, amount, unit = ''] = RELATIVE.exec(text) ?? [];
  if (amount !== undefined) {
    const age = Math.round(Number(amount) * (UNITS[unit] ?? 0));
    const at = sign === '+' ? now + age : now - age;
    const isValid = Math.abs(at) <= MAX_INSTANT;
    return isValid ? { at, end: at + 1, unknownZone: undefined, isLocal: false } : undefined;
  }
  const { utc, zone, clock } = parseText(text);
  const length = clock === undefined ? DAY : lengthOf(clock);
  if (utc !== undefined && zone === undefined) return localSpan(utc, length);
  const time = parseTime(text);
  return time && { ...time, end: time.at + length, isLocal: false };
}

export function isRelative(text: string): boolean {
  return RELATIVE.test(text);
}

/** Formats an instant with the offset of this machine, for others: `2026-11-01T00:00:00+01:00`. */
export function withOffset(instant: number): string {
  const offset = -offsetAt(instant);
  const local = new Date(instant + offset)
    .toISOString()
    .slice(0, 23)
    .replace(/\.000$/, '');
  const size = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${local}${offset < 0 ? '-' : '+'}${size}`;
}

let isLocalUsed = false;

/** Returns whether a local time was read or formatted since the last call. */
export function takeLocalUse(): boolean {
  const isUsed = isLocalUsed;
  isLocalUsed = false;
  return isUsed;
}

/** Milliseconds west of UTC. */
function offsetAt(instant: number): number {
  isLocalUsed = true;
  return new Date(instant).getTimezoneOffset() * MINUTE;
}

/**
 * Returns the span of a local time, which is given as if it were UTC. One that occurs twice lasts from its first
 * beginning to its last end; one that is skipped is empty, at the end of the gap.
 */
function localSpan(utc: number, length: number): Span {
  const [first, last] = [utc - DAY, utc + length + DAY];
  const [before, after] = [offsetAt(first), offsetAt(last)];
  const change = before === after ? Number.POSITIVE_INFINITY : changeBetween(first, last);
  const [startBefore, endBefore] = [utc + before, utc + length + before];
  const [startAfter, endAfter] = [utc + after, utc + length + after];
  // If it is skipped, each is the time of the change.
  const at = startBefore < change ? startBefore : Math.max(startAfter, change);
  const end = endAfter > change ? endAfter : Math.min(endBefore, change);
  return { at, end, unknownZone: undefined, isLocal: true };
}

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

/** Zones are from 12 hours behind UTC to 14 hours ahead of it. */
const MAX_BEHIND = 12 * HOUR;
const MAX_AHEAD = 14 * HOUR;
/** Times closer than this may be in another order as texts. */
export const ZONE_SPREAD = MAX_BEHIND + MAX_AHEAD;

/** Returns the least and the greatest difference that two times can have; they differ if a zone is unknown. */
export function timeDifference(left: Time, right: Time): [least: number, greatest: number] {
  const difference = left.at - right.at;
  // Whatever the zone is, both times are in it.
  if (left.unknownZone === right.unknownZone) return [difference, difference];
  let [least, greatest] = [difference, difference];
  if (left.unknownZone !== undefined) {
    least -= MAX_AHEAD;
    greatest += MAX_BEHIND;
  }
  if (right.unknownZone !== undefined) {
    least -= MAX_BEHIND;
    greatest += MAX_AHEAD;
  }
  return [least, greatest];
}

/** `utc` is undefined for a date or time that does not exist, also by its weekday. */
function parseText(text: string) {
  // A list has thousands of these. Slices take less memory than what a match holds.
  if (SERVICE_TIME.test(text)) {
    return readTime(text.slice(0, 10), text.slice(15, 23), text.slice(24), text.slice(11, 14));
  }
  const [, date = '', clock, zone] = ISO_TIME.exec(text) ?? [];
  return readTime(date, clock, zone?.toUpperCase());
}

function readTime(date: string, clock?: string, zone?: string, weekday?: string) {
  const day = dayOf(date);
  const since = clock === undefined ? 0 : sinceMidnight(clock);
  const exists = day && since !== undefined && (weekday === undefined || weekday === day.weekday);
  return { utc: exists ? day.at + since : undefined, zone, clock };
}

/** The days that were read. A catalogue has few, and Date is slow. */
const DAYS = new Map<string, { readonly at: number; readonly weekday: string } | undefined>();
const MAX_DAYS = 10_000;

/** Returns the beginning of a day in UTC, and its weekday; undefined if there is no such day. */
function dayOf(date: string) {
  if (!DAYS.has(date)) {
    if (DAYS.size >= MAX_DAYS) DAYS.clear();
    const day = new Date(`${date}T00:00Z`);
    // Date takes 31 June for 1 July.
    const exists = day.getUTCDate() === Number(date.slice(8));
    const weekday = WEEKDAYS[day.getUTCDay()] ?? '';
    DAYS.set(date, exists ? { at: day.getTime(), weekday } : undefined);
  }
  return DAYS.get(date);
}

/** Returns the milliseconds from midnight to `12:42`, `12:42:05` or `12:42:05.5`; undefined if no clock shows it. */
function sinceMidnight(clock: string): number | undefined {
  const hours = numberAt(clock, 0);
  const minutes = numberAt(clock, 3);
  const seconds = clock.length > 5 ? numberAt(clock, 6) : 0;
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const milliseconds = clock.length > 8 ? Number(clock.slice(9, 12).padEnd(3, '0')) : 0;
  return hours * HOUR + minutes * MINUTE + seconds * SECOND + milliseconds;
}

/** Returns the number of two digits. */
function numberAt(text: string, at: number): number {
  const zero = 48;
  return 10 * (text.charCodeAt(at) - zero) + text.charCodeAt(at + 1) - zero;
}

/** Returns the milliseconds of the last unit of `12:42`, `12:42:05` or `12:42:05.5`. */
function lengthOf(clock: string): number {
  const [, fraction] = clock.split('.');
  if (fraction !== undefined) return Math.max(1, SECOND / 10 ** fraction.length);
  return clock.length > 5 ? SECOND : MINUTE;
}

/** Parses an abbreviation or `+02`, `+0200`, `+02:00`. */
function minutesEast(zone: string): number | undefined {
  const known = MINUTES_EAST.get(zone);
  if (known !== undefined) return known;
  const [, sign, hours = '', minutes = '00'] = NUMERIC_OFFSET.exec(zone) ?? [];
  if (sign === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}

export const TIME_STYLES = ['raw', 'iso', 'local', 'age'] as const;

export type TimeStyle = (typeof TIME_STYLES)[number];

/** Returns the text unchanged if parseTimestamp cannot parse it. */
export function formatTimestamp(text: string, style: TimeStyle, now: number): string {
  const instant = style === 'raw' ? undefined : parseTimestamp(text);
  if (instant === undefined) return text;
  if (style === 'age') return formatAge(now - instant);
  const at = instant - (style === 'iso' ? 0 : offsetAt(instant));
  const day = Math.floor(at / DAY);
  const date = dateText(day);
  // Another zone can have another year, and years of five digits begin with a sign.
  if (date.length > 10) return text;
  const seconds = Math.floor((at - day * DAY) / SECOND);
  const clock = clockText(Math.floor(seconds / 60));
  return style === 'iso' ? `${date}T${clock}:${twoDigits(seconds % 60)}Z` : `${date} ${clock}`;
}

const DATES = new Map<number, string>();

/** Returns the date of a day since the epoch. */
function dateText(day: number): string {
  const known = DATES.get(day);
  if (known !== undefined) return known;
  if (DATES.size >= MAX_DAYS) DATES.clear();
  const [date = ''] = new Date(day * DAY).toISOString().split('T');
  DATES.set(day, date);
  return date;
}

const CLOCKS: string[] = [];

/** Returns `12:42` for a minute of the day. */
function clockText(minute: number): string {
  CLOCKS[minute] ??= `${twoDigits(minute / 60)}:${twoDigits(minute % 60)}`;
  return CLOCKS[minute];
}

function twoDigits(number: number): string {
  return `${Math.floor(number)}`.padStart(2, '0');
}

let ages: Intl.RelativeTimeFormat | undefined;

function formatAge(age: number): string {
  const [unit, span] = AGE_UNITS.find((candidate) => Math.abs(age) >= candidate[1]) ?? [];
  if (unit === undefined) return 'now';
  ages ??= new Intl.RelativeTimeFormat('en');
  return ages.format(-Math.trunc(age / span), unit);
}
