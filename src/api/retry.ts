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
 * used up, X-RateLimit-Reset (a time in epoch seconds or milliseconds, or seconds from now).
 * undefined where it does not say, or says nonsense.
 */
export function requestedWait(
  headers: Readonly<Record<string, string>>,
  status: number,
  now: number,
): number | undefined {
  const retryAfter = headers['retry-after']?.trim();
  if (retryAfter !== undefined) {
    if (/^\d+(\.\d+)?$/.test(retryAfter)) return Math.ceil(Number(retryAfter) * 1000);
    const date = /^[A-Za-z]{3},? /.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  const reset = rateLimitReset(headers, now);
  return status === 429 && reset !== undefined ? Math.max(0, reset - now) : undefined;
}

/** X-RateLimit-Reset as milliseconds since the epoch; its unit is told by its size. */
export function rateLimitReset(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const text = headers['x-ratelimit-reset']?.trim();
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  if (value >= 1e11) return value;
  if (value >= 1e8) return value * 1000;
  return now + value * 1000;
}
