// What answers mean: the error records of section 7, other statuses, and bodies that are not what was promised.

import { describe, expect, it } from 'vitest';
import { rateLimitedError, statusError, utcTime } from '../../src/api/responses.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');

function response(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    headers,
    body: Buffer.from(text),
    wireBytes: text.length,
    method: 'GET',
    url: new URL('https://images.example.com/v2/image?filter=long'),
    receivedAt: NOW,
  };
}

it.each([
  ['Invalid username and password combination.', 'wrong-credentials'],
  ['User is not authorized to access.', 'not-permitted'],
  ['Valid token, but has expired.', 'token-refused'],
  ['Invalid token.', 'token-refused'],
  ['Something new.', 'token-refused'],
])('401: %s is %s', (message, code) => {
  const error = statusError(response(401, { error: 'authentication error', message, status: 401 }));
  expect([error.code, error.exitCode, error.status]).toEqual([code, 4, 401]);
  expect(error.message).toContain(message.slice(0, -1));
  expect(error.message).not.toMatch(/\.$/);
});

it.each<[number, unknown, string, string]>([
  [401, '', 'token-refused', 'the service refused the access token: no reason given'],
  [
    400,
    { message: 'Bad filter.' },
    'failed',
    'GET https://images.example.com/v2/image: 400, Bad filter',
  ],
  [
    400,
    { message: ' ', error: 'bad' },
    'failed',
    'GET https://images.example.com/v2/image: 400, bad',
  ],
  [400, { detail: 'bad' }, 'failed', 'GET https://images.example.com/v2/image: 400, bad'],
  [
    400,
    { errors: ['bad'] },
    'failed',
    'GET https://images.example.com/v2/image: 400, {"errors":["bad"]}',
  ],
  [400, 'plain\n words', 'failed', 'GET https://images.example.com/v2/image: 400, plain words'],
  [403, { message: 'No.' }, 'not-permitted', 'the service says: No'],
  [403, '', 'not-permitted', 'the service says: not permitted'],
  [404, '', 'not-found', 'GET https://images.example.com/v2/image: 404'],
  [410, null, 'not-found', 'GET https://images.example.com/v2/image: 410, null'],
  [407, '', 'proxy', 'GET https://images.example.com/v2/image: 407'],
  [
    500,
    '<html>',
    'server-error',
    'GET https://images.example.com/v2/image: 500, with HTML instead of JSON',
  ],
  [599, '', 'server-error', 'GET https://images.example.com/v2/image: 599'],
])('%i with %j is %s', (status, body, code, message) => {
  const error = statusError(response(status, body));
  expect([error.code, error.message, error.status]).toEqual([code, message, status]);
  if (code === 'not-found') expect(error.hint).toContain('check that the base URL is correct');
});

it.each([
  ['GET', 503, 'the service failed; try again later, or with more --retries'],
  ['GET', 501, 'the service failed; try again later'],
  ['POST', 503, 'the service failed; try again later'],
  ['PATCH', 500, 'the service failed; try again later'],
])('%s with %i: retries are spoken of where there are any', (method, status, hint) => {
  expect(statusError({ ...response(status, ''), method }).hint).toBe(hint);
});

it('shows no more of an unknown body than a line', () => {
  expect(statusError(response(400, 'x'.repeat(5_000))).message.length).toBeLessThan(300);
});

it.each([
  ['https://other.example.com/x?token=secret', ' to https://other.example.com/x (302)'],
  ['https://user:secret@other.example.com/x', ' to https://other.example.com/x (302)'],
  ['/login', ' to https://images.example.com/login (302)'],
  ['', ' to https://images.example.com/v2/image (302)'],
  ['http://[', ' (302)'],
  ['javascript:alert(1)', ' to javascript://alert(1) (302)'],
  [undefined, ' (302)'],
])('a redirect to %s names its target', (location, where) => {
  const headers = location === undefined ? {} : { location };
  const { message, hint } = statusError(response(302, '', headers));
  expect(message).toContain(`was redirected${where}; redirects are not followed`);
  expect(`${message}${hint}`).not.toContain('secret');
});

it.each<[Record<string, string>, string]>([
  [{ 'retry-after': '90' }, 'try again after 2026-01-05T10:01:30Z'],
  [{ 'x-ratelimit-reset': '90' }, 'try again after 2026-01-05T10:01:30Z'],
  [{ 'retry-after': '31536000' }, 'try again after 2027-01-05T10:00:00Z'],
  [{ 'retry-after': '9'.repeat(400) }, 'try again after +275760-09-13T00:00:00Z'],
  [{ 'retry-after': 'soon' }, 'try again later'],
  [{}, 'try again later'],
])('429 with %j: %s', (headers, hint) => {
  const error = rateLimitedError(response(429, '', headers));
  expect([error.code, error.exitCode, error.status, error.hint]).toEqual([
    ...['rate-limited', 6, 429, hint],
  ]);
});

it('rounds a time up to the second, never too early', () => {
  expect(utcTime(NOW + 1)).toBe('2026-01-05T10:00:01Z');
  expect(utcTime(NOW)).toBe('2026-01-05T10:00:00Z');
});

const PAGES = { page: 1, pages: 1, per_page: 100, total: 1, next_url: null };
const EXPANDED = { perPage: 100, expand: true };

describe('a catalogue page that is not one', () => {
  it.each<[string, ScriptedResponse, string]>([
    ['HTML', { body: '<!doctype html>' }, 'with HTML instead of JSON'],
    ['empty', { body: ' \n' }, 'with an empty body instead of JSON'],
    ['truncated', { body: '{"data": [{"id": 1' }, 'with JSON that is truncated, malformed'],
    ['nested too deep', { body: `${'['.repeat(9_000)}${']'.repeat(9_000)}` }, 'nested too deep'],
    ['text', { body: 'OK' }, 'with a body that is not JSON'],
    ['null', { json: null }, 'but it is not a list of images'],
    ['an array', { json: [] }, 'but it is not a list of images'],
    ['without data', { json: { meta: { pages: PAGES } } }, 'but data is not a list'],
    ['data null', { json: { data: null, meta: { pages: PAGES } } }, 'but data is not a list'],
    ['without meta', { json: { data: [] } }, 'but meta is missing'],
    ['without pages', { json: { data: [], meta: {} } }, 'but meta.pages is missing'],
    ...[-1, 1.5, '1', null, 2 ** 60].map((total): [string, ScriptedResponse, string] => [
      `a total of ${total}`,
      { json: { data: [], meta: { pages: { ...PAGES, total } } } },
      'but meta.pages does not say how many images there are',
    ]),
    [
      'URLs',
      { json: { data: ['http://x/1'], meta: { pages: PAGES } } },
      'but data does not hold images',
    ],
    [
      'null inside',
      { json: { data: [null], meta: { pages: PAGES } } },
      'but data does not hold images',
    ],
    [
      'a huge id',
      { body: `{"data": [{"id": 9007199254740993}], "meta": {"pages": ${JSON.stringify(PAGES)}}}` },
      'but an image id is larger than 2^53',
    ],
  ])('%s: one line with status and URL', async (_, answer, text) => {
    const { client, server } = await start({ 'GET /v2/image': answer });
    const error = await failure(client.listImages(EXPANDED, 1));
    expect([error.code, error.exitCode, error.status]).toEqual(['bad-answer', 1, 200]);
    expect(error.message).toContain(`GET ${server.baseUrl}/v2/image returned 200`);
    expect(error.message).toContain(text);
    expect(server.requests).toHaveLength(1);
  });

  it('may not hold images where URLs were asked for', async () => {
    const { client } = await start(() => ({ json: { data: [{ id: 1 }], meta: { pages: PAGES } } }));
    const error = await failure(client.listImages({ perPage: 100, expand: false }, 1));
    expect(error.message).toContain('data does not hold image URLs');
  });
});

it('takes images as they are: missing, null and unknown fields, __proto__, a byte order mark', async () => {
  const data = '[{"id": 1, "name": null, "x": {"y": [1]}, "__proto__": {"z": 1}}, {}]';
  const body = `\ufeff{"data": ${data}, "meta": {"pages": ${JSON.stringify(PAGES)}}}`;
  const { client } = await start({ 'GET /v2/image': { body } });
  const page = await client.listImages(EXPANDED, 1);
  expect(JSON.stringify(page.images)).toBe(data.replaceAll(' ', ''));
  expect(page).toMatchObject({ total: 1, pages: 1, perPage: 100, hasNext: false });
});
