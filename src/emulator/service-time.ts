// Formats timestamps as the service does, in US Eastern time: `2018-07-18 Wed 15:36:49 EDT` (section 2.2).

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Formats milliseconds since the epoch: EDT in summer, EST in winter. */
export function serviceTimestamp(instant: number): string {
  const isSummer = isDaylightTime(instant);
  const local = new Date(instant - (isSummer ? 4 : 5) * HOUR);
  const [day, time] = local.toISOString().split(/[T.]/);
  return `${day} ${WEEKDAYS[local.getUTCDay()]} ${time} ${isSummer ? 'EDT' : 'EST'}`;
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
