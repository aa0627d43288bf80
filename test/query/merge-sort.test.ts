// Long lists sorted in steps.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortInSteps } from '../../src/query/merge-sort.ts';

interface Item {
  readonly key: number;
  readonly place: number;
}

const byKey = (left: Item, right: Item) => left.key - right.key;

function itemsOf(count: number, keyOf: (place: number) => number): Item[] {
  return Array.from({ length: count }, (_, place) => ({ key: keyOf(place), place }));
}

describe('sortInSteps', () => {
  it.each([0, 1, 2, 4_999, 5_000, 5_001, 12_345, 40_000])(
    'sorts %i items like Array.prototype.sort, equal ones in their order',
    async (count) => {
      for (const keys of [7, 1e9]) {
        const items = itemsOf(count, (place) => (place * 7919) % keys);
        const copy = [...items];
        expect(await sortInSteps(items, byKey)).toEqual([...items].sort(byKey));
        expect(items).toEqual(copy);
      }
    },
  );

  it('sorts any items', async () => {
    const keys = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(keys, async (values) => {
        const items = itemsOf(values.length, (place) => values[place] ?? 0);
        expect(await sortInSteps(items, byKey)).toEqual([...items].sort(byKey));
      }),
    );
  });

  it('lets the event loop turn after at most some thousand items', async () => {
    let compared = 0;
    let most = 0;
    let isDone = false;
    const next = () => {
      most = Math.max(most, compared);
      compared = 0;
      if (!isDone) setImmediate(next);
    };
    setImmediate(next);
    await sortInSteps(
      itemsOf(50_000, (place) => (place * 7919) % 50_021),
      (left, right) => {
        compared += 1;
        return byKey(left, right);
      },
    );
    isDone = true;
    // 50,000 items take about 700,000 comparisons.
    expect(most).toBeLessThan(100_000);
  });
});
