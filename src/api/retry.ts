// When a request is tried again, and how long it waits before: the answer's own word first, else backoff.

/** The longest that a single wait asked for by the service may be, in milliseconds. */
export const LONGEST_WAIT = 60_000;

const FIRST_BACKOFF = 250;
const LONGEST_BACKOFF = 8_000;

/** Statuses after which the same request may well succeed. */
export function isPassing(status: number): boolean {
  return status === 429 || status === 500 || status === 502 || status === 503 || status === 504;
}

/** Exponential backoff with full jitter above its half: 125 to 250 ms, then double each time, at most 8 s. */
export function backoff(attempt: number, random: number): number {
  const ceiling = Math.min(FIRST_BACKOFF * 2 ** attempt, LONGEST_BACKOFF);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/**
 * Milliseconds that the answer asks to wait: Retry-After (seconds or a date), else, where the limit is
 * used up, X-RateLimit-Reset. undefined where it does not say, or says nonsense.
 * `now`, when the answer came, in milliseconds since the epoch.
 */
export function requestedWait(
  headers: Readonly<Record<string, string>>,
  status: number,
  now: number,
): number | undefined {
  const retryAfter = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
  const date = httpDate(retryAfter);
  if (date !== undefined) return Math.max(0, date - serverTime(headers, now));
  const reset = rateLimitReset(headers, now);
  return status === 429 && reset !== undefined ? Math.max(0, reset - now) : undefined;
}

/**
 * X-RateLimit-Reset (epoch seconds, epoch milliseconds or seconds from now, told by its size) as
 * milliseconds since the epoch by this machine's clock.
 */
export function rateLimitReset(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const text = headers['x-ratelimit-reset']?.trim();
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  if (value < 1e8) return now + value * 1000;
  return (value < 1e11 ? value * 1000 : value) - serverTime(headers, now) + now;
}

/** The two clocks may be far apart; the Date header tells what the service's shows. */
function serverTime(headers: Readonly<Record<string, string>>, now: number): number {
  return httpDate(headers.date ?? '') ?? now;
}

/** A date in any of HTTP's three shapes, all of them GMT, in milliseconds since the epoch. */
export function httpDate(text: string): number | undefined {
  if (!/^[a-z]{3,9},? .*\d\d:\d\d:\d\d/i.test(text)) return undefined;
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : date;
}
