// Reads the headers of a response: dates, and when a server takes the next request.

import { MAX_INSTANT } from '../words.ts';
import type { HttpResponse } from './message.ts';

type ResponseHead = Pick<HttpResponse, 'headers' | 'status' | 'receivedAt'>;

/** Returns the milliseconds that Retry-After asks to wait, or for 429 X-RateLimit-Reset. */
export function requestedWait(response: ResponseHead): number | undefined {
  const { headers, status, receivedAt: now } = response;
  const retryAfter = headers['retry-after'] ?? '';
  const seconds = maxNumber(retryAfter);
  if (seconds !== undefined) return Math.min(Math.ceil(seconds * 1000), MAX_INSTANT);
  const date = httpDate(retryAfter);
  if (date !== undefined) return Math.max(0, date - serverTime(response));
  const reset = rateLimitReset(response);
  return status === 429 && reset !== undefined ? Math.max(0, reset - now) : undefined;
}

/** A smaller number is seconds from now; as seconds since the epoch, it would be in 1973. */
const MIN_EPOCH_SECONDS = 1e8;
/** A smaller number is seconds since the epoch; as milliseconds, it would be in 1973 too. */
const MIN_EPOCH_MILLISECONDS = 1e11;

/** Returns when the server takes the next request, by the clock of this machine. */
export function rateLimitReset(response: ResponseHead): number | undefined {
  const { headers, receivedAt: now } = response;
  const text = headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'] ?? '';
  const number = maxNumber(text);
  if (number === undefined) return undefined;
  if (number < MIN_EPOCH_SECONDS) return now + Math.ceil(number * 1000);
  const instant = Math.ceil(number < MIN_EPOCH_MILLISECONDS ? number * 1000 : number);
  return Math.min(instant - serverTime(response) + now, MAX_INSTANT);
}

/** Returns the largest number of a header, which a proxy may have repeated. */
function maxNumber(text: string): number | undefined {
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return undefined;
  return Math.max(...parts.map(Number));
}

function serverTime({ headers, receivedAt }: ResponseHead): number {
  return httpDate(headers.date ?? '') ?? receivedAt;
}

/** Such as "Sun, 06 Nov 1994 08:49:37 GMT", or "Sun Nov  6 08:49:37 1994" without a zone. */
const DATE_IN_WORDS = /^[a-z]{3,9},? .*\d\d:\d\d:\d\d(?<zone> *(gmt|utc|z|[+-]\d{4}))?/i;
/** Such as "1994-11-06T08:49:37Z", but not without a zone. */
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/i;

/** Parses a date in any of HTTP's three formats (GMT by default) or ISO 8601. */
export function httpDate(text: string): number | undefined {
  const trimmed = text.trim();
  const inWords = DATE_IN_WORDS.exec(trimmed);
  if (!inWords && !ISO_DATE.test(trimmed)) return undefined;
  const date = Date.parse(inWords && !inWords.groups?.zone ? `${trimmed} GMT` : trimmed);
  return Number.isNaN(date) ? undefined : date;
}
