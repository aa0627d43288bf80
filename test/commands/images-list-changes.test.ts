// images list while the list changes or lies: the promised outcome and the exact requests, never a quiet short list.

import { describe, expect, it } from 'vitest';
import type { Image, Pages } from '../../src/api/types.ts';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import type { Handler } from '../support/scripted-server.ts';
import { catalogueOf, idsOf, scripted } from './listing-harness.ts';

const JSON_LINE = 'images list --per-page 2 -o json';
const NDJSON_LINE = 'images list --per-page 2 -o ndjson';

/** Answers from one list until a request's page, then from another; meta.pages as `changes` say. */
function changing(before: readonly Image[], request: number, after: readonly Image[]): Handler {
  return ({ url }, index) => ({ json: cataloguePage(url, index < request ? before : after) });
}

/** Pages with exactly these ids, and parts of meta.pages that are not as they should be. */
function pagesOf(
  contents: readonly (readonly number[])[],
  changes: (page: number, url: URL) => Partial<Pages> = () => ({}),
): Handler {
  const images = testImages(100);
  return ({ url }) => {
    const page = Number(url.searchParams.get('page'));
    const ids = contents[page - 1] ?? [];
    const body = cataloguePage(url, testImages(contents.flat().length), {
      pages: contents.length,
      next_url: page < contents.length ? url.href : null,
      ...changes(page, url),
    });
    return { json: { ...body, data: ids.map((id) => images[id - 1]) } };
  };
}

/** Fails page 3 of six images so many times. */
function failing(times: number): Handler {
  let left = times;
  return (request, index) => {
    if (request.url.searchParams.get('page') !== '3' || left === 0) {
      return catalogueOf(testImages(6))(request, index);
    }
    left -= 1;
    return { status: 503, json: { message: 'Busy.' } };
  };
}

const next = (href: string | null) => ({ next_url: href });
const moved = (url: URL, page: number) => {
  const target = new URL(url);
  target.searchParams.set('page', String(page));
  return target.href;
};

describe.each<[string, Handler, readonly number[], readonly number[]]>([
  ['a total that grows', changing(testImages(4), 1, testImages(6)), [1, 2, 3, 4, 5, 6], [1, 2, 3]],
  [
    'a total that shrinks',
    changing(testImages(6), 1, testImages(5, 2)),
    [2, 3, 4, 5, 6],
    [1, 2, 1, 2, 3],
  ],
  [
    'overlapping pages',
    pagesOf(
      [
        [1, 2],
        [2, 3],
        [3, 4],
      ],
      () => ({ total: 4 }),
    ),
    [1, 2, 3, 4],
    [1, 2, 3],
  ],
  [
    'a next_url that is the page itself',
    pagesOf([[1, 2], [3]], (_page, url) => next(url.href)),
    [1, 2, 3],
    [1, 2, 3],
  ],
  [
    'A-B-A',
    pagesOf(
      [
        [1, 2],
        [3, 4],
        [1, 2],
      ],
      (page, url) => ({ ...next(moved(url, page === 1 ? 2 : 1)), pages: 2, total: 4 }),
    ),
    [1, 2, 3, 4],
    [1, 2, 3],
  ],
  ['an empty page with a next', pagesOf([[1, 2], [], [3, 4]]), [1, 2, 3, 4], [1, 2, 3]],
  ['page 3 failing twice', failing(2), [1, 2, 3, 4, 5, 6], [1, 2, 3, 3, 3]],
])('%s', (_what, handler, ids, pages) => {
  it('ends complete', async () => {
    const run = await scripted(handler);
    const { stdout, stderr, exitCode } = await run.imgctl(JSON_LINE);
    expect({ ids: idsOf(stdout), stderr, exitCode }).toEqual({ ids, stderr: '', exitCode: 0 });
    expect(run.pages()).toEqual(pages);
  });
});

it('a list read anew repeats nothing that ndjson had written', async () => {
  const { imgctl } = await scripted(changing(testImages(6), 1, testImages(5, 2)));
  const { stdout, exitCode } = await imgctl(NDJSON_LINE);
  expect({ ids: idsOf(stdout), exitCode }).toEqual({ ids: [1, 2, 3, 4, 5, 6], exitCode: 0 });
});

it('a list read anew keeps to the limit', async () => {
  const { imgctl } = await scripted(changing(testImages(8), 1, testImages(6, 3)));
  const { stdout } = await imgctl(`${NDJSON_LINE} --limit 5 -f id,ge,1 -f id,le,9`);
  expect(idsOf(stdout)).toEqual([1, 2, 3, 4, 5]);
});

it('a next_url to another port is never followed', async () => {
  const stranger = await scripted(() => ({ json: {} }));
  const run = await scripted(
    pagesOf([[1, 2], [3]], (page) =>
      next(page === 1 ? `${stranger.server.baseUrl}/v2/image?page=2` : null),
    ),
  );
  expect(idsOf((await run.imgctl(JSON_LINE)).stdout)).toEqual([1, 2, 3]);
  expect(run.pages()).toEqual([1, 2]);
  expect(stranger.pages()).toEqual([]);
});

describe.each<[string, Handler, { code: string; exitCode: number }, readonly number[]]>([
  [
    'page 3 failing for good',
    failing(Number.POSITIVE_INFINITY),
    { code: 'server-error', exitCode: 1 },
    [1, 2, 3, 3, 3, 3, 3],
  ],
  [
    'pages that stay empty though more is announced',
    pagesOf([[1, 2], [], []], () => ({ total: 6 })),
    { code: 'incomplete-list', exitCode: 1 },
    [1, 2, 3, 1, 2, 3, 1, 2, 3],
  ],
  [
    'a token that is refused in the middle',
    (request, index) =>
      index < 1
        ? catalogueOf(testImages(6))(request, index)
        : { status: 401, json: { message: 'Invalid token.' } },
    { code: 'token-refused', exitCode: 4 },
    [1, 2],
  ],
])('%s', (_what, handler, error, pages) => {
  it('is an error without a list', async () => {
    const run = await scripted(handler);
    const { stdout, stderr, exitCode } = await run.imgctl(JSON_LINE);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: error.exitCode });
    expect(JSON.parse(stderr)).toMatchObject({ error });
    expect(run.pages()).toEqual(pages);
  });

  it('is an error after what ndjson has shown', async () => {
    const { imgctl } = await scripted(handler);
    const { stdout, exitCode } = await imgctl(NDJSON_LINE);
    expect(idsOf(stdout).slice(0, 2)).toEqual([1, 2]);
    expect(exitCode).toBe(error.exitCode);
  });
});
