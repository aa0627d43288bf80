// Formats and parses the service's timestamps in US Eastern time: `2018-07-18 Wed 15:36:49 EDT` (section 2.2).

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Offsets from UTC in hours. */
const ZONES = new Map([
  ['EDT', -4],
  ['EST', -5],
  ['UTC', 0],
]);

const SHAPE = /^(\d{4})-(\d{2})-(\d{2}) ([A-Z][a-z]{2}) (\d{2}):(\d{2}):(\d{2}) ([A-Z]{3})$/;

/** Formats milliseconds since the epoch: EDT in summer, EST in winter. */
export function serviceTimestamp(instant: number): string {
  const zone = isDaylightTime(instant) ? 'EDT' : 'EST';
  return `${clockText(instant, zone)} ${zone}`;
}

/** Returns milliseconds since the epoch, or undefined for any other text. */
export function parseTimestamp(text: string): number | undefined {
  const parts = SHAPE.exec(text);
  if (parts === null) return undefined;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const [hour, minute, second] = [Number(parts[5]), Number(parts[6]), Number(parts[7])];
  const zone = parts[8] ?? '';
  const offset = ZONES.get(zone);
  if (offset === undefined) return undefined;
  const instant = Date.UTC(year, month - 1, day, hour, minute, second) - offset * HOUR;
  // Formatting it again catches 31 June, 25 o'clock and a wrong weekday.
  return `${clockText(instant, zone)} ${zone}` === text ? instant : undefined;
}

function clockText(instant: number, zone: string): string {
  const local = new Date(instant + (ZONES.get(zone) ?? 0) * HOUR);
  const date = `${digits(local.getUTCFullYear(), 4)}-${digits(local.getUTCMonth() + 1)}-${digits(local.getUTCDate())}`;
  const time = `${digits(local.getUTCHours())}:${digits(local.getUTCMinutes())}:${digits(local.getUTCSeconds())}`;
  return `${date} ${WEEKDAYS[local.getUTCDay()]} ${time}`;
}

function digits(value: number, length = 2): string {
  return String(value).padStart(length, '0');
}

/** US rule since 2007: from the second Sunday of March to the first Sunday of November, 2 o'clock. */
function isDaylightTime(instant: number): boolean {
  const year = new Date(instant).getUTCFullYear();
  const start = firstSunday(year, 2) + 7 * DAY + 7 * HOUR;
  const end = firstSunday(year, 10) + 6 * HOUR;
  return instant >= start && instant < end;
}

function firstSunday(year: number, month: number): number {
  const first = Date.UTC(year, month, 1);
  // The epoch began on a Thursday. A Date object here would double the time to build 100,000 images.
  const weekday = (first / DAY + 4) % 7;
  return first + ((7 - weekday) % 7) * DAY;
}
