// Ids of images, as pages are read by them.

import type { ReceivedImage } from '../api/types.ts';
import { readValue } from '../query/fields.ts';

export function idOf(image: ReceivedImage): number {
  return Number(readValue(image, 'id') ?? Number.NaN);
}

/** True for whole numbers below the bound, the highest first, each once. */
export function areDescending(ids: readonly number[], bound = Number.POSITIVE_INFINITY): boolean {
  return ids.every((id, at) => Number.isSafeInteger(id) && id < (ids[at - 1] ?? bound));
}

/** Returns the lowest id with more digits: 1000 for 250. */
export function lowestLongerId(id: number): number {
  return 10 ** `${id}`.length;
}
