// Tests the error of each status and body, by section 7 of service.md, and the next page of a response.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  rateLimitedError,
  readJson,
  requireSameId,
  statusError,
  withRecordStatus,
} from '../../src/api/responses.ts';
import { nextPage } from '../../src/commands/automation/api.ts';
import { advice } from '../../src/facts.ts';
import { utcTime } from '../../src/words.ts';
import { ENDPOINT } from '../support/client.ts';
import { hintOf, thrownBy } from '../support/errors.ts';
import { expectOutcomes } from '../support/outcomes.ts';

const NOW = Date.parse('2026-01-05T10:00:00Z');
const AT = 'GET https://images.example.com/v2/image';

const response = (status: number, json: unknown, headers: Record<string, string> = {}) => {
  const body = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  const url = new URL('https://images.example.com/v2/image?filter=long');
  const { length: wireBytes } = body;
  return {
    method: 'GET',
    url,
    status,
    headers,
    body,
    wireBytes,
    receivedAt: NOW,
    endpoint: ENDPOINT,
  };
};

/** A response whose bytes are not UTF-8. */
const inLatin1 = (status: number, text: string) => ({
  ...response(status, ''),
  body: Buffer.from(text, 'latin1'),
});

describe('the error of a status', () => {
  it('is in statuses.txt, by method, URL, status and body', async () => {
    await expectOutcomes(path.join(import.meta.dirname, 'statuses.txt'), (input) => {
      const [, method = '', url = '', status, body = ''] =
        /^(\S+) (\S+) (\d+) ?(.*)$/s.exec(input) ?? [];
      const request = { method, url: new URL(url, 'https://images.example.com') };
      const error = statusError({ ...response(Number(status), body), ...request });
      return [`${error.code} (exit code ${error.exitCode}): ${error.message}`, hintOf(error)];
    });
  });

  it.each([
    ['61', 'try again at \\d\\d:01:01 \\(in 1 min 1 s\\)'],
    ['60', 'try again at \\d\\d:01:00 \\(in 1 min\\), or with more --retries'],
    ['0', 'try again later, or with more --retries'],
  ])('503 with Retry-After: %s says when to try again', (seconds, expected) => {
    const hint = hintOf(statusError(response(503, '', { 'retry-after': seconds })));
    expect(hint).toMatch(new RegExp(`^the service failed; ${expected}$`));
  });

  it('is shown with a message that is not UTF-8', () => {
    const { message } = statusError(inLatin1(400, '{"message": "caf\u00e9."}'));
    expect(message).toBe(`${AT}: 400, caf\ufffd`);
  });

  it.each([
    ['an unknown body', 'x'.repeat(5_000), `${'x'.repeat(199)}…`],
    ['an unknown body with many blanks', `x${' '.repeat(1_995)}secret`, 'x sec…'],
    ['a message', { message: 'x'.repeat(5_000) }, `${'x'.repeat(499)}…`],
  ])('marks where it cuts %s, so that a secret there is masked', (_, body, shown) => {
    expect(statusError(response(400, body)).message).toBe(`${AT}: 400, ${shown}`);
  });

  it.each([
    ['https://other.example.com/x?token=secret', ' to https://other.example.com/x (302)'],
    ['https://user:secret@other.example.com/x', ' to https://other.example.com/x (302)'],
    ['/login', ' to https://images.example.com/login (302)'],
    ['', ' to https://images.example.com/v2/image (302)'],
    [`/${'x'.repeat(200)}`, ` to https://images.example.com/${'x'.repeat(172)}… (302)`],
    ['http://[', ' (302)'],
    ['javascript:alert(1)', ' to javascript://alert(1) (302)'],
    [undefined, ' (302)'],
  ])('302 with the location %s names the target without secrets', (location, target) => {
    const headers = location === undefined ? {} : { location };
    const error = statusError(response(302, '', headers));
    const { message } = error;
    expect(message).toContain(`was redirected${target}; redirects are not followed`);
    expect(`${message}${hintOf(error)}`).not.toContain('secret');
  });

  // The times are those of this machine's zone.
  it.each<[Record<string, string>, RegExp]>([
    [{ 'retry-after': '90' }, /^try again at \d\d:01:30 \(in 1 min 30 s\)$/],
    [{ 'x-ratelimit-reset': '90' }, /^try again at \d\d:01:30 \(in 1 min 30 s\)$/],
    [{ 'retry-after': '31536000' }, /^try again on 2027-01-0\d at [\d:]{8}$/],
    [{ 'retry-after': '9'.repeat(400) }, /^try again later$/],
    [{ 'retry-after': 'soon' }, /^try again later$/],
    [{}, /^try again later$/],
  ])('429 with the headers %j has the hint %s', (headers, expected) => {
    const error = rateLimitedError(response(429, '', headers));
    const { code, exitCode, status } = error;
    expect({ code, exitCode, status }).toEqual({ code: 'rate-limited', exitCode: 6, status: 429 });
    expect(hintOf(error)).toMatch(expected);
  });

  it.each([
    ['{"message":"Wait 37 seconds."}', ', Wait 37 seconds'],
    ['{"message":"Too many requests."}', ''],
    ['{"message":"Rate limit exceeded."}', ''],
    ['{"message":"You sent too many requests."}', ', You sent too many requests'],
    ['<html>', ''],
  ])('429 with the body %s has what the service says, if it says more', (body, reason) => {
    const { message } = rateLimitedError(response(429, body));
    expect(message).toBe(`${AT}: too many requests${reason}`);
  });
});

describe('the JSON of a successful response', () => {
  const record = { error: 'authentication error', message: 'Invalid token.', status: 401 };
  it.each<[unknown, string, string, number]>([
    [record, 'token-refused', 'the service refused the access token: Invalid token', 4],
    [{ ...record, status: 400 }, 'failed', `${AT}: 400, Invalid token`, 1],
    [{ ...record, status: 500 }, 'server-error', `${AT}: 500, Invalid token`, 1],
  ])('that is the error record %j is the error of its status', (json, code, message, exitCode) => {
    const error = thrownBy(() => readJson(withRecordStatus(response(200, json))));
    expect(error).toMatchObject({ code, message, exitCode });
  });

  it('is no other error once something has succeeded', () => {
    const late = { ...response(400, 'Use HTTPS'), hasSucceeded: true };
    expect(hintOf(statusError({ ...late, url: new URL('http://a/v2') }))).toBeUndefined();
  });

  it.each([
    { ...record, status: 200 },
    { ...record, status: 'ERROR' },
    { ...record, error: null },
    [record],
  ])('is returned if it is no error record: %j', (json) => {
    expect(readJson(withRecordStatus(response(200, json)))).toEqual(json);
  });

  it('must be UTF-8', () => {
    const { code, message } = thrownBy(() => readJson(inLatin1(200, '{"name": "caf\u00e9"}')));
    const problem = 'returned 200 with bytes that are not UTF-8';
    expect({ code, message }).toEqual({ code: 'bad-answer', message: `${AT} ${problem}` });
  });
});

it.each([
  [2, 'image 2'],
  ['x'.repeat(200), `image ${'x'.repeat(99)}…`],
  [{ id: 1 }, 'another record'],
])('a record that is %j instead of image 1 is an error', (received, sent) => {
  const message = `the service sent ${sent} instead of image 1`;
  const facts = advice('try again; a cache or proxy may be mixing up responses');
  const error = { code: 'bad-answer', message, facts };
  expect(thrownBy(() => requireSameId('image', 1, received))).toMatchObject(error);
});

it.each([1, '1', null, undefined])('a record with the id %j may be image 1', (received) => {
  expect(() => requireSameId('image', 1, received)).not.toThrow();
});

it('utcTime rounds up to the next second', () => {
  const times = [NOW, NOW + 1].map(utcTime);
  expect(times).toEqual(['2026-01-05T10:00:00Z', '2026-01-05T10:00:01Z']);
});

const FIRST = 'https://images.example.com/api/v2/image?page=1';

const pageAfter = (json: unknown, visited: readonly string[] = ['?page=1']) =>
  nextPage({ ...response(200, json), url: new URL(FIRST) }, new Set(visited))?.href;

const linkTo = (next_url: unknown) => ({ meta: { pages: { next_url } } });

describe('the next page', () => {
  it.each([
    ['https://images.example.com/api/v2/image?page=2', '?page=2'],
    ['https://evil.example.org/v2/image?page=2', '?page=2'],
    ['https://user:secret@evil.example.org/?page=2', '?page=2'],
    ['http://images.example.com/v2/image?page=2', '?page=2'],
    ['/v2/user/image/vm?page=2#top', '?page=2'],
    ['?page=2', '?page=2'],
    ['https://evil.example.org/v2/image', ''],
  ])('takes only its query from %s', (next, query) => {
    expect(pageAfter(linkTo(next))).toBe(`https://images.example.com/api/v2/image${query}`);
  });

  it('is found in a body that is not UTF-8', () => {
    const json = JSON.stringify({ ...linkTo('?page=2'), data: [{ name: 'caf\u00e9' }] });
    expect(nextPage(inLatin1(200, json), new Set())?.search).toBe('?page=2');
  });

  const NOTHING = ['no JSON', null, [], {}, { meta: null }, { meta: { pages: null } }];
  const NO_LINK = [{ meta: { pages: {} } }, linkTo(null), linkTo(2), linkTo('http://[')];

  it('does not exist after a body without a link', () => {
    for (const body of [...NOTHING, ...NO_LINK])
      expect([body, pageAfter(body)]).toEqual([body, undefined]);
  });

  it('is an error if it was read before, or after ten thousand pages', () => {
    const ended = { code: 'incomplete-list', facts: advice('run the command again') };
    const endless = (reason: string) =>
      expect.objectContaining({ ...ended, message: `the pages do not end: ${reason}` });
    const repeated = endless('next_url leads back to a page already read');
    expect(() => pageAfter(linkTo('?page=1'))).toThrow(repeated);
    const visited = Array.from({ length: 9_999 }, (_, index) => `?page=${index + 10}`);
    expect(pageAfter(linkTo('?page=2'), visited)).toContain('?page=2');
    const all = [...visited, '?page=1'];
    expect(() => pageAfter(linkTo('?page=2'), all)).toThrow(endless('10000 were read'));
  });
});
