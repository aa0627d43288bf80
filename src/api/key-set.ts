// A set of keys that takes a bit for each small whole number: a long list has as many ids as images.

/** Beyond it a bit for each number up to there would be more than what a Set takes. */
const MOST_BITS = 2 ** 24;

export class KeySet {
  #bits = new Uint8Array(1_024);
  #numbers = 0;
  readonly #others = new Set<unknown>();

  get size(): number {
    return this.#numbers + this.#others.size;
  }

  has(key: unknown): boolean {
    return isSmall(key) ? ((this.#bits[key >> 3] ?? 0) & bitOf(key)) !== 0 : this.#others.has(key);
  }

  add(key: unknown): void {
    if (!isSmall(key)) {
      this.#others.add(key);
    } else if (!this.has(key)) {
      const at = key >> 3;
      if (at >= this.#bits.length) this.#grow(at + 1);
      this.#bits[at] = (this.#bits[at] ?? 0) | bitOf(key);
      this.#numbers += 1;
    }
  }

  #grow(least: number): void {
    const bits = new Uint8Array(Math.max(least, 2 * this.#bits.length));
    bits.set(this.#bits);
    this.#bits = bits;
  }
}

function isSmall(key: unknown): key is number {
  return Number.isInteger(key) && (key as number) >= 0 && (key as number) < MOST_BITS;
}

function bitOf(key: number): number {
  return 1 << (key & 7);
}
