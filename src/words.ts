// Counts, sizes, durations and times of day as users read them, and texts as a shell reads them.

/**
 * For people: `45 s`, `3 min 20 s`, `23 h 59 min`, `12 d 5 h`. From an hour on, in whole minutes.
 */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const minutes = seconds < 3_600 ? Math.floor(seconds / 60) : Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 2) return `${days} d${hours % 24 === 0 ? '' : ` ${hours % 24} h`}`;
  if (hours > 0) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  if (minutes > 0) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  return `${seconds} s`;
}

const HALF_A_DAY = 12 * 3_600_000;

/** Formats a later instant as `at 15:20:36 (in 58 s)`, rounded up, in the zone of this machine. */
export function describeLater(instant: number, now: number): string {
  const rounded = Math.ceil(instant / 1000) * 1000;
  const date = new Date(rounded);
  // An instant beyond the calendar of JavaScript.
  if (Number.isNaN(date.getTime())) return 'later';
  const two = (number: number) => `${number}`.padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const wait = rounded - now;
  return wait > HALF_A_DAY ? `on ${day} at ${time}` : `at ${time} (in ${describeDuration(wait)})`;
}

/** Formats as `1 byte`, `185 bytes`, `67 KiB` or `1.5 GiB`. */
export function describeBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = bytes;
  let unit = units.shift();
  while (value >= 1023.5 && units.length > 0) {
    value /= 1024;
    unit = units.shift();
  }
  const text = `${value.toFixed(value < 10 ? 1 : 0).replace('.0', '')} ${unit}`;
  return text === '1 bytes' ? '1 byte' : text;
}

/** @param elapsed milliseconds, for what was done after the first `known` bytes */
export function describeRate(done: number, total: number, elapsed: number, known = 0): string {
  const share = `${total === 0 ? 100 : Math.floor((100 * done) / total)} %`;
  if (done <= known) return share;
  const perMillisecond = (done - known) / Math.max(1, elapsed);
  const rate = describeBytes(1000 * perMillisecond);
  const left = describeDuration((total - done) / Math.max(perMillisecond, 1e-3));
  return `${share}, ${rate}/s, ${left} left`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const MAX_QUOTED = 60;

export function quoted(text: string): string {
  return `'${shorten(text)}'`;
}

/** Marks where it cuts, so that messages mask the beginning of a secret there. */
export function shorten(text: string, max = MAX_QUOTED): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** True if the text is a whole number, perhaps with leading zeros. */
export function isDigits(text: string): boolean {
  return /^\d+$/.test(text);
}

/** Returns the words of a text, with one blank between two. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export function shellQuote(text: string): string {
  return /^[\w:.,/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The last instant a Date can hold, in milliseconds since the epoch. */
export const MAX_INSTANT = 8.64e15;

/** Formats an instant as UTC, rounded up to a full second. */
export function utcTime(milliseconds: number): string {
  const date = new Date(Math.min(Math.ceil(milliseconds / 1000) * 1000, MAX_INSTANT));
  return date.toISOString().replace('.000', '');
}
