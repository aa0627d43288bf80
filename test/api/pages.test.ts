// The next page: the query of next_url and nothing else of it, until the pages end or go round.

import { expect, it } from 'vitest';
import { nextPage } from '../../src/api/pages.ts';

const READ = 'https://images.example.com/api/v2/image?page=1';

function after(body: unknown, visited: readonly string[] = ['?page=1']): string | undefined {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const received = {
    method: 'GET',
    url: new URL(READ),
    status: 200,
    headers: {},
    body: Buffer.from(text),
    wireBytes: text.length,
    receivedAt: 0,
  };
  return nextPage(received, new Set(visited))?.href;
}

const linkedTo = (next_url: unknown) => ({ meta: { pages: { next_url } } });

it.each([
  ['of the service', `${READ.replace('1', '2')}`, '?page=2'],
  ['of another origin', 'https://evil.example.org/v2/image?page=2', '?page=2'],
  ['with credentials', 'https://user:secret@evil.example.org/?page=2', '?page=2'],
  ['of another scheme', 'http://images.example.com/v2/image?page=2', '?page=2'],
  ['of another path', '/v2/user/image/vm?page=2#top', '?page=2'],
  ['of no path', '?page=2', '?page=2'],
  ['without a query', 'https://evil.example.org/v2/image', ''],
])('is the same resource where next_url is one %s', (_, next, query) => {
  expect(after(linkedTo(next))).toBe(`https://images.example.com/api/v2/image${query}`);
});

it.each<[unknown]>([
  ['no JSON'],
  [null],
  [[]],
  [{}],
  [{ meta: null }],
  [{ meta: { pages: null } }],
  [{ meta: { pages: {} } }],
  [linkedTo(null)],
  [linkedTo(2)],
  [linkedTo('http://[')],
])('is none after %j', (body) => {
  expect(after(body)).toBeUndefined();
});

const ENDLESS = {
  code: 'incomplete-list',
  message: 'the pages do not end: next_url leads back to a page already read',
  hint: 'run the command again',
};

it('is none that was read before', () => {
  expect(() => after(linkedTo('?page=1'))).toThrow(expect.objectContaining(ENDLESS));
});

it('is none after ten thousand', () => {
  const visited = Array.from({ length: 9_999 }, (_, index) => `?page=${index + 10}`);
  expect(after(linkedTo('?page=2'), visited)).toContain('?page=2');
  expect(() => after(linkedTo('?page=2'), [...visited, '?page=1'])).toThrow(
    expect.objectContaining(ENDLESS),
  );
});
