// Sorts long lists in steps, so that Ctrl-C and deadlines work meanwhile.

import { turn } from '../json.ts';

/** Items to sort or to merge before the event loop turns; takes some hundredths of a second. */
const STEP = 5_000;

type Compare<Item> = (left: Item, right: Item) => number;

/** Returns a sorted copy; equal items keep their order. */
export async function sortInSteps<Item>(
  items: readonly Item[],
  compare: Compare<Item>,
): Promise<Item[]> {
  let runs: Item[][] = [];
  for (let start = 0; start < items.length; start += STEP) {
    if (start > 0) await turn();
    runs.push(items.slice(start, start + STEP).sort(compare));
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: Compare<Item>,
): Promise<Item[]> {
  const merged: Item[] = [];
  let fromLeft = 0;
  for (const item of right) {
    while (fromLeft < left.length && compare(left[fromLeft] as Item, item) <= 0) {
      merged.push(left[fromLeft] as Item);
      fromLeft += 1;
      if (merged.length % STEP === 0) await turn();
    }
    merged.push(item);
    if (merged.length % STEP === 0) await turn();
  }
  for (; fromLeft < left.length; fromLeft += 1) merged.push(left[fromLeft] as Item);
  return merged;
}
