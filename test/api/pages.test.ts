// Tests that the next page takes only the query of next_url, and that pages end.

import { describe, expect, it } from 'vitest';
import { nextPage } from '../../src/api/responses.ts';

const FIRST = 'https://images.example.com/api/v2/image?page=1';

function pageAfter(json: unknown, visited: readonly string[] = ['?page=1']): string | undefined {
  const body = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  const { length: wireBytes } = body;
  const message = { method: 'GET', url: new URL(FIRST), status: 200, headers: {} };
  return nextPage({ ...message, body, wireBytes, receivedAt: 0 }, new Set(visited))?.href;
}

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

  it.each<[unknown]>([
    ['no JSON'],
    [null],
    [[]],
    [{}],
    [{ meta: null }],
    [{ meta: { pages: null } }],
    [{ meta: { pages: {} } }],
    [linkTo(null)],
    [linkTo(2)],
    [linkTo('http://[')],
  ])('does not exist after %j', (body) => {
    expect(pageAfter(body)).toBeUndefined();
  });

  const endless = (reason: string) =>
    expect.objectContaining({
      code: 'incomplete-list',
      message: `the pages do not end: ${reason}`,
      hint: 'run the command again',
    });

  it('is an error if it was read before', () => {
    expect(() => pageAfter(linkTo('?page=1'))).toThrow(
      endless('next_url leads back to a page already read'),
    );
  });

  it('is an error after ten thousand pages', () => {
    const visited = Array.from({ length: 9_999 }, (_, index) => `?page=${index + 10}`);
    expect(pageAfter(linkTo('?page=2'), visited)).toContain('?page=2');
    expect(() => pageAfter(linkTo('?page=2'), [...visited, '?page=1'])).toThrow(
      endless('10000 were read'),
    );
  });
});
