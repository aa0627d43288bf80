// Waits: backoff, Retry-After and X-RateLimit-Reset in every shape they come in.

import { expect, it } from 'vitest';
import { backoff, isRetryableStatus, rateLimitReset, requestedWait } from '../../src/http/retry.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');
const HOUR = 3_600_000;

it.each<[string, number | undefined]>([
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['0.5', 500],
  ['0.0001', 1],
  ['31536000', 31_536_000_000],
  ['-5', undefined],
  ['', undefined],
  ['soon', undefined],
  ['7 seconds', undefined],
  ['soon 5', undefined],
  ['1e3', undefined],
  ['Mon, 05 Jan 2026 10:00:30 GMT', 30_000],
  ['Monday, 05-Jan-26 10:00:30 GMT', 30_000],
  ['Mon Jan  5 10:00:30 2026', 30_000],
  ['Mon, 05 Jan 2026 09:00:00 GMT', 0],
  ['Tue, 05 Jan 2027 10:00:00 GMT', 365 * 24 * HOUR],
  ['Mon, 99 Foo 2026 10:00:30 GMT', undefined],
  ['  Mon, 05 Jan 2026 10:00:30 GMT ', 30_000],
  ['Mon, 05 Jan 2026 10:00:30 UTC', 30_000],
  ['Mon, 05 Jan 2026 12:00:30 +0200', 30_000],
  ['Mon, 05 Jan 2026 05:00:30 -0500', 30_000],
  ['2026-01-05T10:00:30Z', 30_000],
  ['2026-01-05T12:00:30.5+02:00', 30_500],
  ['2026-01-05T10:00:30', undefined],
  ['2026-01-05', undefined],
  ['5, 7', 7_000],
  ['7,7', 7_000],
  ['7, soon', undefined],
  ['Infinity', undefined],
  ['0x10', undefined],
  ['\u0667', undefined],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ['(soon) Mon, 05 Jan 2026 10:00:30 GMT', undefined],
])('Retry-After: %s', (value, expected) => {
  expect(requestedWait({ 'retry-after': value }, 503, NOW)).toBe(expected);
});

it('measures a Retry-After date by the clock of the service, not by its own', () => {
  const headers = {
    'retry-after': 'Mon, 05 Jan 2026 10:00:30 GMT',
    date: 'Mon, 05 Jan 2026 10:00:10 GMT',
  };
  expect(requestedWait(headers, 429, NOW + 5 * HOUR)).toBe(20_000);
  expect(requestedWait(headers, 429, NOW - 5 * HOUR)).toBe(20_000);
});

it.each<[string, number | undefined]>([
  [String(NOW / 1000 + 60), NOW + 60_000],
  [String(NOW + 60_000), NOW + 60_000],
  ['60', NOW + 60_000],
  [' 60 ', NOW + 60_000],
  // Where seconds from now turn to seconds since 1970, and those to milliseconds.
  ['99999999', NOW + 99_999_999_000],
  ['100000000', 100_000_000_000],
  ['99999999999', 99_999_999_999_000],
  ['100000000000', 100_000_000_000],
  ['9'.repeat(400), 8.64e15],
  ['0', NOW],
  ['-60', undefined],
  ['1.5', NOW + 1_500],
  [` ${NOW / 1000 + 60} `, NOW + 60_000],
  [`${NOW / 1000 + 60}.25`, NOW + 60_250],
  [`${NOW / 1000 + 60}, 30`, NOW + 60_000],
  ['Mon, 05 Jan 2026 10:01:00 GMT', NOW + 60_000],
  ['2026-01-05T10:01:00Z', NOW + 60_000],
  ['60;w=60', undefined],
  ['soon', undefined],
  ['', undefined],
])('X-RateLimit-Reset: %s', (value, expected) => {
  expect(rateLimitReset({ 'x-ratelimit-reset': value }, NOW)).toBe(expected);
});

it('shifts X-RateLimit-Reset to the clock of this machine', () => {
  const date = 'Mon, 05 Jan 2026 10:00:00 GMT';
  const absolute = { 'x-ratelimit-reset': String(NOW / 1000 + 60), date };
  expect(rateLimitReset(absolute, NOW + HOUR)).toBe(NOW + HOUR + 60_000);
  expect(rateLimitReset({ 'x-ratelimit-reset': '60', date }, NOW + HOUR)).toBe(NOW + HOUR + 60_000);
});

it.each([
  ['counts after a 429', 429, { 'x-ratelimit-reset': '60' }, 60_000],
  ['is past', 429, { 'x-ratelimit-reset': String(NOW / 1000 - 60) }, 0],
  ['says nothing of a 503', 503, { 'x-ratelimit-reset': '60' }, undefined],
  ['comes after Retry-After', 429, { 'retry-after': '5', 'x-ratelimit-reset': '60' }, 5_000],
  ['stands in for junk', 429, { 'retry-after': '-5', 'x-ratelimit-reset': '60' }, 60_000],
  ['comes by its newer name', 429, { 'ratelimit-reset': '60' }, 60_000],
  ['is missing', 429, {}, undefined],
])('the reset %s', (_, status, headers, expected) => {
  expect(requestedWait(headers as Record<string, string>, status, NOW)).toBe(expected);
});

it.each([
  [1, 0, 125],
  [1, 1, 250],
  [2, 1, 500],
  [5, 1, 4_000],
  [6, 1, 8_000],
  [50, 0.5, 6_000],
])('waits before retry %i with random %d for %i ms', (retry, random, expected) => {
  expect(backoff(retry, random)).toBe(expected);
});

it('takes as passing what may succeed the next time', () => {
  const passing = Array.from({ length: 500 }, (_, index) => 100 + index).filter(isRetryableStatus);
  expect(passing).toEqual([429, 500, 502, 503, 504]);
});
