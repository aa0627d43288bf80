// Parses and formats points in time: the service's format, ISO 8601, ages and times relative to now.

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const SERVICE =
  /^(\d{4}-\d\d-(\d\d)) (Sun|Mon|Tue|Wed|Thu|Fri|Sat) (\d\d:\d\d:\d\d) ([A-Za-z]{1,6}|[+-][\d:]{2,5})$/;
const ISO =
  /^(\d{4}-\d\d-(\d\d))(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)([Zz]|[+-][\d:]{2,5})?)?$/;
const RELATIVE = /^([+-]\d{1,9})([mhdw])$/;
const NUMERIC_OFFSET = /^([+-])(\d\d)(?::?(\d\d))?$/;

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
  ['year', YEAR],
  ['month', YEAR / 12],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
] as const;
const MAX_DATE = 8.64e15;

/** Hours east of UTC. Only abbreviations with one meaning since 2000: no CST, IST, BST, PST, MST, AST, CDT or MSK. */
const ZONES =
  'UTC+0 GMT+0 Z+0 WET+0 WEST+1 CET+1 WAT+1 CEST+2 EET+2 CAT+2 SAST+2 EEST+3 EAT+3 PKT+5 WIB+7 WITA+8 ' +
  'HKT+8 AWST+8 WIT+9 JST+9 ACST+9.5 AEST+10 ACDT+10.5 AEDT+11 NZST+12 NZDT+13 ' +
  'HST-10 AKST-9 AKDT-8 PDT-7 MDT-6 EST-5 EDT-4';
const MINUTES_EAST = new Map(
  ZONES.split(' ').map((zone) => {
    const sign = zone.search(/[+-]/);
    return [zone.slice(0, sign), 60 * Number(zone.slice(sign))];
  }),
);

/**
 * Parses the service's `2018-07-18 Wed 15:36:49 EDT` or ISO 8601 to milliseconds since the epoch.
 * Never guesses: an ambiguous or missing zone and a wrong weekday return undefined.
 */
export function parseTimestamp(text: string, defaultZone?: string): number | undefined {
  const { utc, zone = defaultZone } = parseService(text) ?? parseIso(text) ?? {};
  const east = zone === undefined ? undefined : minutesEast(zone);
  return utc === undefined || east === undefined ? undefined : utc - east * MINUTE;
}

/** Also parses `-30d` (units m h d w), and ISO 8601 without an offset as UTC, the same on every machine. */
export function parseTimeValue(text: string, now: number): number | undefined {
  const [, amount, unit = ''] = RELATIVE.exec(text) ?? [];
  if (amount === undefined) return parseTimestamp(text, 'Z');
  const instant = now + Number(amount) * (UNITS.get(unit) ?? 0);
  return Math.abs(instant) <= MAX_DATE ? instant : undefined;
}

/** True if the text is a valid date in the service's format, even with an unknown zone. */
export function isServiceFormat(text: string): boolean {
  return parseService(text)?.utc !== undefined;
}

/** `utc` is undefined for a date or time that does not exist, also by its weekday. */
function parseService(text: string) {
  const parts = SERVICE.exec(text);
  if (parts === null) return undefined;
  const [, date, day, weekday, time, zone] = parts;
  const utc = instantOf(date, day, time);
  const isRight = utc !== undefined && WEEKDAYS[new Date(utc).getUTCDay()] === weekday;
  return { utc: isRight ? utc : undefined, zone };
}

function parseIso(text: string) {
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [, date, day, time = '00:00', zone] = parts;
  return { utc: instantOf(date, day, time), zone: zone?.toUpperCase() };
}

function instantOf(date = '', day = '', time = ''): number | undefined {
  const instant = Date.parse(`${date}T${time}Z`);
  // Date.parse takes 31 June for 1 July, and 24:00 for the next day.
  return new Date(instant).getUTCDate() === Number(day) ? instant : undefined;
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
  if (style === 'iso') return `${new Date(instant).toISOString().slice(0, 19)}Z`;
  const minutesWest = new Date(instant).getTimezoneOffset();
  const shifted = new Date(instant - minutesWest * MINUTE);
  return shifted.toISOString().slice(0, 16).replace('T', ' ');
}

let ages: Intl.RelativeTimeFormat | undefined;

function formatAge(age: number): string {
  const [unit, span] = AGE_UNITS.find((candidate) => Math.abs(age) >= candidate[1]) ?? [];
  if (unit === undefined) return 'now';
  ages ??= new Intl.RelativeTimeFormat('en');
  return ages.format(-Math.trunc(age / span), unit);
}
