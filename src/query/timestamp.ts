// Parses times of images: the service's format and ISO 8601, in zones that may be unknown.

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const OFFSET = '[+-][\\d:]{2,5}';
const DATE = '\\d{4}-\\d\\d-\\d\\d';
const SERVICE_TIME = new RegExp(
  `^${DATE} (?:${WEEKDAYS.join('|')}) \\d\\d:\\d\\d:\\d\\d (?:[A-Za-z]{1,6}|${OFFSET})$`,
);
const ISO_CLOCK = '\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?';
const ISO_TIME = new RegExp(`^(${DATE})(?:[Tt ](${ISO_CLOCK})([Zz]|${OFFSET})?)?$`);
const NUMERIC_OFFSET = /^([+-])(\d\d)(?::?(\d\d))?$/;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Hours east of UTC: the North American zones of RFC 2822, and abbreviations with one meaning since
 * 2000. So there is no IST, BST, AST or MSK; CST is also China's.
 */
const ZONES =
  'UTC+0 GMT+0 Z+0 WET+0 WEST+1 CET+1 WAT+1 CEST+2 EET+2 CAT+2 SAST+2 EEST+3 EAT+3 PKT+5 WIB+7 ' +
  'WITA+8 HKT+8 AWST+8 WIT+9 JST+9 ACST+9.5 AEST+10 ACDT+10.5 AEDT+11 NZST+12 NZDT+13 ' +
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
  /** The abbreviation of an unknown zone, or NO_ZONE. */
  readonly unknownZone: string | undefined;
}

/** Stands for the zone of a time that has none. */
const NO_ZONE = 'none';
/** Stands for the zone of a text that is no time. */
export const UNREADABLE = 'unreadable';

/** Returns what is said of a time with such a zone. */
export function describeZone(zone: string): string {
  if (zone === UNREADABLE) return 'that cannot be read';
  return zone === NO_ZONE ? 'without a zone' : `in the unknown zone ${zone}`;
}

/** Parses the service's `2018-07-18 Wed 15:36:49 EDT`, or ISO 8601 with a zone. */
export function parseTime(text: string): Time | undefined {
  const { utc, zone = NO_ZONE } = parseTimeText(text);
  if (utc === undefined) return undefined;
  const east = minutesEast(zone);
  if (east !== undefined) return { at: utc - east * MINUTE, unknownZone: undefined };
  return /^[A-Za-z]/.test(zone) ? { at: utc, unknownZone: zone } : undefined;
}

/** Returns milliseconds since the epoch; undefined if the zone is unknown. */
export function parseTimestamp(text: string): number | undefined {
  const time = parseTime(text);
  return time?.unknownZone === undefined ? time?.at : undefined;
}

export function isSameTime(left: unknown, right: unknown): boolean {
  const instant = parseTimestamp(`${left}`);
  return instant !== undefined && instant === parseTimestamp(`${right}`);
}

/** Zones are from 12 hours behind UTC to 14 hours ahead of it. */
const MAX_BEHIND = 12 * HOUR;
const MAX_AHEAD = 14 * HOUR;
/** Times closer than this may be in another order as texts. */
export const ZONE_SPREAD = MAX_BEHIND + MAX_AHEAD;

/** Returns the least and the greatest difference that is possible; equal if the zones are known. */
export function timeDifference(left: Time, right: Time): [least: number, greatest: number] {
  // Whatever the zone is, both times are in it.
  if (left.unknownZone === right.unknownZone) return [left.at - right.at, left.at - right.at];
  return [earliest(left) - latest(right), latest(left) - earliest(right)];
}

/** Returns the first instant that a time may mean. */
function earliest({ at, unknownZone }: Time): number {
  return unknownZone === undefined ? at : at - MAX_AHEAD;
}

/** Returns the last instant that a time may mean. */
function latest({ at, unknownZone }: Time): number {
  return unknownZone === undefined ? at : at + MAX_BEHIND;
}

/** What a text says, before its zone is known. */
interface TimeText {
  /** As if the zone were UTC; undefined if there is no such date, weekday or time. */
  readonly utc: number | undefined;
  /** `12:42`, `12:42:05` or `12:42:05.5` */
  readonly clock: string | undefined;
  readonly zone: string | undefined;
}

export function parseTimeText(text: string): TimeText {
  // A list has thousands of these. Slices take less memory than what a match holds.
  if (SERVICE_TIME.test(text)) {
    return readTime(text.slice(0, 10), text.slice(15, 23), text.slice(24), text.slice(11, 14));
  }
  const [, date = '', clock, zone] = ISO_TIME.exec(text) ?? [];
  return readTime(date, clock, zone?.toUpperCase());
}

function readTime(date: string, clock?: string, zone?: string, weekday?: string): TimeText {
  const day = new Date(`${date}T${clock ?? '00:00'}Z`);
  // Date takes 31 June for 1 July, and 24:00 for the next day.
  const exists = day.getUTCDate() === Number(date.slice(8));
  const isOtherDay = weekday !== undefined && weekday !== WEEKDAYS[day.getUTCDay()];
  return { utc: exists && !isOtherDay ? day.getTime() : undefined, clock, zone };
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
