// Tests limits, and unconfirmed filters and sorts, in a catalogue listing.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import type { QueryPlan } from '../../src/query/plan.ts';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import type { Handler } from '../support/scripted-server.ts';
import { list, planOf, serving, upTo } from './harness.ts';

describe('a catalogue listing with a limit', () => {
  it.each([
    [1, [1]],
    [2, [1]],
    [3, [1, 2]],
    [5, [1, 2, 3]],
    [20, upTo(10)],
    [99, upTo(10)],
  ])('of %i requests only the pages it needs', async (limit, pages) => {
    const result = await list(
      serving(() => testImages(20)),
      { concurrency: 6, limit },
    );
    expect(result.ids).toEqual(upTo(Math.min(limit, 20)));
    expect(result.pages.sort((a, b) => a - b)).toEqual(pages);
  });

  it.each([true, false])('counts only images that match (streams: %s)', async (streams) => {
    const plan = planOf({ filters: ['id,ge,1', 'id,ge,4'] });
    const { ids, pages } = await list(
      serving(() => testImages(40)),
      { plan, limit: 2, streams },
    );
    expect(ids).toEqual([4, 5]);
    expect(pages.length).toBeLessThanOrEqual(4);
  });
});

describe('a catalogue listing with an unconfirmed filter or sort', () => {
  /** Applies and echoes the query for the first request only. */
  const forgetful =
    (applied: readonly Image[]): Handler =>
    ({ url }, index) => {
      const page = cataloguePage(url, index === 0 ? applied : testImages(8));
      const { filter: _filter, sort: _sort, ...meta } = page.meta;
      return { json: index === 0 ? page : { ...page, meta } };
    };
  const FILTER = planOf({ filters: ['id,ne,5'] });
  const SORT = planOf({ sorts: ['id,desc'] });
  const MATCHING = testImages(8).filter(({ id }) => id !== 5);
  const DESCENDING = testImages(8).reverse();

  it.each<[string, number | undefined, QueryPlan, readonly Image[], number[]]>([
    ['filter', undefined, FILTER, MATCHING, [1, 2, 3, 4, 6, 7, 8]],
    ['filter', 5, FILTER, MATCHING, [1, 2, 3, 4, 6]],
    ['sort', undefined, SORT, DESCENDING, upTo(8).reverse()],
    ['sort', 5, SORT, DESCENDING, [8, 7, 6, 5, 4]],
  ])('applies the %s locally after it streamed page 1 (limit: %s)', async (...row) => {
    const [what, limit, plan, applied, expected] = row;
    const warnings: string[] = [];
    const observer = { warn: (message: string) => warnings.push(message) };
    const query = { plan, limit, streams: true };
    const { ids, batches } = await list(forgetful(applied), query, { observer });
    expect(batches[0]?.images).toHaveLength(2);
    expect(ids).toEqual(expected);
    expect(warnings).toEqual([`the service did not confirm the ${what}, so imgctl applies it`]);
  });
});
