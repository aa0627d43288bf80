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

/** Ids as they came, the highest first. They are outside of the heap, which a plain array of many numbers makes grow. */
export class IdList {
  #ids = new Float64Array(1_000);
  #length = 0;

  get lowest(): number {
    return this.#ids[this.#length - 1] ?? Number.POSITIVE_INFINITY;
  }

  add(ids: readonly number[]): void {
    const length = this.#length + ids.length;
    if (length > this.#ids.length) {
      const larger = new Float64Array(2 * length);
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids.set(ids, this.#length);
    this.#length = length;
  }

  toSet(): Set<number> {
    return new Set(this.#ids.subarray(0, this.#length));
  }
}
