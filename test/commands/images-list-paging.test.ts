// images list with pages that change or fail: smoke tests, since test/api covers paging.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { catalogueOf, cataloguePage, idsOf, testImages } from '../support/catalogue-page.ts';
import type { Handler } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

const LINE = 'images list --per-page 2 -o';

/** Serves one list to the first request and another one from then on. */
const changing =
  (before: readonly Image[], after: readonly Image[]): Handler =>
  ({ url }, index) => ({ json: cataloguePage(url, index === 0 ? before : after) });

/** Fails the first requests for page 3 of six images. */
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

describe('images list', () => {
  it.each<[string, string, Handler, readonly number[]]>([
    ['retries a page that answers 503', 'json', failing(2), [1, 2, 3, 4, 5, 6]],
    [
      'reads a list that shrinks again from its start',
      'json',
      changing(testImages(6), testImages(5, 2)),
      [2, 3, 4, 5, 6],
    ],
    [
      'prints no image of a list that shrinks twice',
      'ndjson',
      changing(testImages(6), testImages(5, 2)),
      [1, 2, 3, 4, 5, 6],
    ],
    [
      'prints at most --limit images of a list that shrinks',
      'ndjson --limit 5 -f id,ge,1 -f id,le,9',
      changing(testImages(8), testImages(6, 3)),
      [1, 2, 3, 4, 5],
    ],
  ])('%s', async (_title, format, handler, ids) => {
    const { imgctl } = await scriptedUser(handler);
    const { stdout, stderr, exitCode } = await imgctl(`${LINE} ${format}`);
    expect({ ids: idsOf(stdout), stderr, exitCode }).toEqual({ ids, stderr: '', exitCode: 0 });
  });

  it('fails without a list if a page keeps failing, but after the rows of ndjson', async () => {
    const { imgctl } = await scriptedUser(failing(Number.POSITIVE_INFINITY));
    const json = await imgctl(`${LINE} json`);
    expect(json).toMatchObject({ stdout: '', exitCode: 1 });
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'server-error' } });
    const ndjson = await imgctl(`${LINE} ndjson`);
    expect(idsOf(ndjson.stdout).slice(0, 2)).toEqual([1, 2]);
    expect(ndjson.exitCode).toBe(1);
  });
});
