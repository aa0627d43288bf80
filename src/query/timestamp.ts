// Parses and formats points in time: the service's format, ISO 8601, ages and times relative to now.

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const SERVICE =
  /^(\d{4})-(\d\d)-(\d\d) (Sun|Mon|Tue|Wed|Thu|Fri|Sat) (\d\d):(\d\d):(\d\d) ([A-Za-z]{1,6}|[+-][\d:]{2,5})$/;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?([Zz]|[+-][\d:]{2,5})?)?$/;
const RELATIVE = /^([+-])(\d{1,9})([mhdw])$/;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const UNITS = new Map([
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
const MAX_DATE = 8.64e15;

/**
 * Parses the service's `2018-07-18 Wed 15:36:49 EDT` or ISO 8601 to milliseconds since the epoch.
 * Never guesses: an ambiguous or missing zone and a wrong weekday return undefined.
 */
export function parseTimestamp(text: string): number | undefined {
  const service = parseService(text);
  if (service) return shift(service.utc, minutesEast(service.zone));
  const iso = parseIso(text);
  return iso?.zone === undefined ? undefined : shift(iso.utc, minutesEast(iso.zone));
}

/** Also parses `-30d` (units m h d w), and ISO 8601 without an offset as UTC, the same on every machine. */
export function parseTimeValue(text: string, now: number): number | undefined {
  const [, sign, amount, unit = ''] = RELATIVE.exec(text) ?? [];
  if (sign !== undefined) {
    const span = Number(amount) * (UNITS.get(unit) ?? 0);
    const instant = sign === '-' ? now - span : now + span;
    return Math.abs(instant) <= MAX_DATE ? instant : undefined;
  }
  const iso = parseIso(text);
  return iso ? shift(iso.utc, minutesEast(iso.zone ?? 'Z')) : parseTimestamp(text);
}

/** True for a valid date in the service's format, even if its zone is unknown. */
export function isServiceFormat(text: string): boolean {
  return parseService(text)?.utc !== undefined;
}

export function correctWeekday(text: string): string | undefined {
  return WEEKDAYS.map((day) => text.slice(0, 11) + day + text.slice(14)).find(isServiceFormat);
}

function shift(utc: number | undefined, east: number | undefined): number | undefined {
  return utc === undefined || east === undefined ? undefined : utc - east * MINUTE;
}

/** `utc` is undefined for a date or time that does not exist, also by its weekday. */
function parseService(text: string) {
  const parts = SERVICE.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, weekday, hour, minute, second, zone = ''] = parts;
  const utc = instantOf([year, month, day, hour, minute, second].map(Number));
  const isRight = utc !== undefined && WEEKDAYS[new Date(utc).getUTCDay()] === weekday;
  return { utc: isRight ? utc : undefined, zone };
}

function parseIso(text: string) {
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', zone] = parts;
  const utc = instantOf([year, month, day, hour, minute, second].map(Number));
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return {
    utc: utc === undefined ? undefined : utc + milliseconds,
    zone: zone?.toUpperCase(),
  };
}

function instantOf([year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: number[]) {
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour > 23 || minute > 59 || second > 59) return undefined;
  return date.setUTCHours(hour, minute, second);
}

/** Minutes east of UTC. Only abbreviations with one meaning since 2000: no CST, IST, BST, PST, MST, AST, CDT or MSK. */
const ZONES: readonly (readonly [minutes: number, names: string])[] = [
  [0, 'UTC GMT Z WET'],
  [60, 'WEST CET WAT'],
  [120, 'CEST EET CAT SAST'],
  [180, 'EEST EAT'],
  [300, 'PKT'],
  [420, 'WIB'],
  [480, 'WITA HKT AWST'],
  [540, 'WIT JST'],
  [570, 'ACST'],
  [600, 'AEST'],
  [630, 'ACDT'],
  [660, 'AEDT'],
  [720, 'NZST'],
  [780, 'NZDT'],
  [-600, 'HST'],
  [-540, 'AKST'],
  [-480, 'AKDT'],
  [-420, 'PDT'],
  [-360, 'MDT'],
  [-300, 'EST'],
  [-240, 'EDT'],
];
const MINUTES_EAST = new Map(
  ZONES.flatMap(([minutes, names]) => names.split(' ').map((name) => [name, minutes] as const)),
);
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
  if (style === 'iso') return `${new Date(instant).toISOString().slice(0, 19)}Z`;
  const minutesWest = new Date(instant).getTimezoneOffset();
  const shifted = new Date(instant - minutesWest * MINUTE);
  return shifted.toISOString().slice(0, 16).replace('T', ' ');
}

function formatAge(age: number): string {
  const span = Math.abs(age);
  const unit = AGE_UNITS.find((candidate) => span >= candidate.span);
  if (unit === undefined) return 'now';
  const count = Math.floor(span / unit.span);
  const amount = `${count} ${unit.name}${count === 1 ? '' : 's'}`;
  return age < 0 ? `in ${amount}` : `${amount} ago`;
}
