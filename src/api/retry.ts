// When a request is tried again, and how long it waits before: the answer's own word first, else backoff.

/** The longest that a single wait asked for by the service may be, in milliseconds. */
export const LONGEST_WAIT = 60_000;

/** The last instant that a Date holds, in milliseconds since the epoch: as good as never. */
export const LAST_INSTANT = 8.64e15;

const FIRST_BACKOFF = 250;
const LONGEST_BACKOFF = 8_000;

/** Statuses after which the same request may well succeed. */
export function isPassing(status: number): boolean {
  return status === 429 || status === 500 || status === 502 || status === 503 || status === 504;
}

/** Whether a request may be sent again though it may have had its effect: one that reads has none. */
export function isRepeatable(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
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
  const retryAfter = headers['retry-after'] ?? '';
  const seconds = largestNumber(retryAfter);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const date = httpDate(retryAfter);
  if (date !== undefined) return Math.max(0, date - serverTime(headers, now));
  const reset = rateLimitReset(headers, now);
  return status === 429 && reset !== undefined ? Math.max(0, reset - now) : undefined;
}

/**
 * X-RateLimit-Reset, or the RateLimit-Reset that is to follow it (epoch seconds, epoch milliseconds or seconds
 * from now, told by its size; or a date), as milliseconds since the epoch by this machine's clock.
 */
export function rateLimitReset(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const text = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'] ?? '';
  const value = largestNumber(text);
  if (value !== undefined && value < 1e8) return now + Math.ceil(value * 1000);
  const time =
    value === undefined ? httpDate(text) : Math.ceil(value < 1e11 ? value * 1000 : value);
  if (time === undefined) return undefined;
  return Math.min(time - serverTime(headers, now) + now, LAST_INSTANT);
}

/** A header that came twice, from a service and what stands before it, holds both: the longer wait suits both. */
function largestNumber(text: string): number | undefined {
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return undefined;
  return Math.max(...parts.map(Number));
}

/** The two clocks may be far apart; the Date header tells what the service's shows. */
function serverTime(headers: Readonly<Record<string, string>>, now: number): number {
  return httpDate(headers.date ?? '') ?? now;
}

/** A date in any of HTTP's three shapes, GMT unless it names another zone, or ISO 8601; milliseconds since the epoch. */
export function httpDate(text: string): number | undefined {
  const trimmed = text.trim();
  const inWords = /^[a-z]{3,9},? .*\d\d:\d\d:\d\d(?<zone> *(gmt|utc|z|[+-]\d{4}))?/i.exec(trimmed);
  if (!inWords && !/^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/i.test(trimmed))
    return undefined;
  const date = Date.parse(inWords && !inWords.groups?.zone ? `${trimmed} GMT` : trimmed);
  return Number.isNaN(date) ? undefined : date;
}
