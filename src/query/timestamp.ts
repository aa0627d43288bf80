// Parses and formats points in time: the service's format, ISO 8601, ages and times relative to now.

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
const YEAR = 365 * DAY;
const UNITS: ReadonlyMap<string | undefined, number> = new Map([
  ['m', MINUTE],
  ['h', HOUR],
  ['d', DAY],
  ['w', 7 * DAY],
]);
const AGE_UNITS = [
  { name: 'year', span: YEAR },
  { name: 'month', span: YEAR / 12 },
  { name: 'day', span: DAY },
  { name: 'hour', span: HOUR },
  { name: 'minute', span: MINUTE },
  { name: 'second', span: SECOND },
];
/** The Gregorian calendar, with its weekdays, repeats after this time. */
const FOUR_CENTURIES = 146_097 * DAY;
const MAX_DATE = 8.64e15;

/**
 * Parses the service's `2018-07-18 Wed 15:36:49 EDT` or ISO 8601 to milliseconds since the epoch.
 * Never guesses: an ambiguous or missing zone and a wrong weekday return undefined.
 */
export function parseTimestamp(text: string): number | undefined {
  if (SERVICE.test(text)) return parseServiceFormat(text, minutesEast(text.slice(24)));
  const iso = ISO.exec(text);
  return iso?.[5] === undefined ? undefined : parseIso(iso);
}

/** Also parses `-30d` (units m h d w), and ISO 8601 without an offset as UTC, the same on every machine. */
export function parseTimeValue(text: string, now: number): number | undefined {
  const [, sign, amount, unit] = RELATIVE.exec(text) ?? [];
  const span = Number(amount) * (UNITS.get(unit) ?? Number.NaN);
  if (sign !== undefined) {
    const instant = sign === '-' ? now - span : now + span;
    return Math.abs(instant) <= MAX_DATE ? instant : undefined;
  }
  const iso = ISO.exec(text);
  return iso ? parseIso(iso) : parseTimestamp(text);
}

/** True for a valid date in the service's format, even if its zone is unknown. */
export function isServiceFormat(text: string): boolean {
  return SERVICE.test(text) && parseServiceFormat(text, 0) !== undefined;
}

export function correctWeekday(text: string): string | undefined {
  return WEEKDAYS.map((day) => text.slice(0, 11) + day + text.slice(14)).find(isServiceFormat);
}

/** Reads by position, without captures, as a long list has two timestamps per image. */
function parseServiceFormat(text: string, offset: number | undefined): number | undefined {
  const midnight = midnightOf(text);
  const time = timeOfDay(numberAt(text, 15, 2), numberAt(text, 18, 2), numberAt(text, 21, 2));
  if (midnight === undefined || time === undefined || offset === undefined) return undefined;
  if (text.slice(11, 14) !== WEEKDAYS[new Date(midnight).getUTCDay()]) return undefined;
  return midnight + time - offset * MINUTE;
}

function parseIso(parts: RegExpExecArray): number | undefined {
  const [text, hour = 0, minute = 0, second = 0, fraction = '', zone = 'Z'] = parts;
  const midnight = midnightOf(text);
  const time = timeOfDay(Number(hour), Number(minute), Number(second));
  const offset = minutesEast(zone.toUpperCase());
  if (midnight === undefined || time === undefined || offset === undefined) return undefined;
  return midnight + time + Number(fraction.slice(0, 3).padEnd(3, '0')) - offset * MINUTE;
}

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

function timeOfDay(hour: number, minute: number, second: number): number | undefined {
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return hour * HOUR + minute * MINUTE + second * SECOND;
}

function numberAt(text: string, start: number, length: number): number {
  let number = 0;
  for (let index = start; index < start + length; index += 1) {
    number = number * 10 + text.charCodeAt(index) - 48;
  }
  return number;
}

/** Only abbreviations with one meaning since 2000: no CST, IST, BST, PST, MST, AST, CDT, MSK or KST. */
const MINUTES_EAST: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['WET', 0],
  ['WEST', 60],
  ['CET', 60],
  ['CEST', 120],
  ['EET', 120],
  ['EEST', 180],
  ['WAT', 60],
  ['CAT', 120],
  ['SAST', 120],
  ['EAT', 180],
  ['PKT', 300],
  ['WIB', 420],
  ['WITA', 480],
  ['HKT', 480],
  ['AWST', 480],
  ['WIT', 540],
  ['JST', 540],
  ['ACST', 570],
  ['AEST', 600],
  ['ACDT', 630],
  ['AEDT', 660],
  ['NZST', 720],
  ['NZDT', 780],
  ['HST', -600],
  ['AKST', -540],
  ['AKDT', -480],
  ['PDT', -420],
  ['MDT', -360],
  ['EST', -300],
  ['EDT', -240],
]);

const NUMERIC_OFFSET = /^([+-])(\d\d)(?::?(\d\d))?$/;

/** Parses an abbreviation or `+02`, `+0200`, `+02:00`. */
function minutesEast(zone: string): number | undefined {
  const known = MINUTES_EAST.get(zone);
  if (known !== undefined) return known;
  const [, sign, hours = '', minutes = '00'] = NUMERIC_OFFSET.exec(zone) ?? [];
  if (sign === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}

export const TIME_STYLES = ['wire', 'iso', 'local', 'age'] as const;

type TimeStyle = (typeof TIME_STYLES)[number];

/** Returns the text unchanged if parseTimestamp cannot parse it. */
export function formatTimestamp(text: string, style: TimeStyle, now: number): string {
  const instant = style === 'wire' ? undefined : parseTimestamp(text);
  if (instant === undefined) return text;
  if (style === 'age') return formatAge(now - instant);
  if (style === 'iso') {
    const date = new Date(instant);
    return `${formatDay(date)}T${formatMinute(date)}:${twoDigits(date.getUTCSeconds())}Z`;
  }
  const minutesWest = new Date(instant).getTimezoneOffset();
  const shifted = new Date(instant - minutesWest * MINUTE);
  return `${formatDay(shifted)} ${formatMinute(shifted)}`;
}

// Intl and toISOString take several times as long, and a long list has many timestamps.

function formatDay(date: Date): string {
  const year = `${date.getUTCFullYear()}`.padStart(4, '0');
  return `${year}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
}

function formatMinute(date: Date): string {
  return `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}

function formatAge(age: number): string {
  const span = Math.abs(age);
  const unit = AGE_UNITS.find((candidate) => span >= candidate.span);
  if (unit === undefined) return 'now';
  const count = Math.floor(span / unit.span);
  const amount = `${count} ${unit.name}${count === 1 ? '' : 's'}`;
  return age < 0 ? `in ${amount}` : `${amount} ago`;
}
