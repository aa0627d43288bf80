// Remembers the images of a listing in one byte per id, so that a large catalogue takes little memory.

/** Larger ids go into a Map: an array up to them would take more memory. */
const MAX_ARRAY = 2 ** 22;
const YIELDED_BIT = 0x80;
/** The bits for the number of the reading in which a key was last seen; readings are few. */
const READING_MASK = 0x7f;

/** Remembers which images were seen in the current reading, and which were yielded. */
export class SeenKeys {
  #bytes = new Uint8Array(1_024);
  readonly #others = new Map<unknown, number>();
  #reading = 0;
  #count = 0;
  #yieldedCount = 0;

  /** Number of different keys in this reading. */
  get count(): number {
    return this.#count;
  }

  /** Number of keys yielded in all readings. */
  get yieldedCount(): number {
    return this.#yieldedCount;
  }

  /** Starts a new reading, in which every key is new again; what was yielded stays yielded. */
  startReading(): void {
    this.#reading += 1;
    this.#count = 0;
  }

  /** Returns true if the key is new in this reading. */
  addIfNew(key: unknown): boolean {
    const mark = this.#get(key);
    if ((mark & READING_MASK) === this.#reading) return false;
    this.#set(key, (mark & YIELDED_BIT) | this.#reading);
    this.#count += 1;
    return true;
  }

  /** Remembers for all readings that a key was yielded. */
  markYielded(key: unknown): void {
    this.#set(key, this.#get(key) | YIELDED_BIT);
    this.#yieldedCount += 1;
  }

  wasYielded(key: unknown): boolean {
    return (this.#get(key) & YIELDED_BIT) !== 0;
  }

  #get(key: unknown): number {
    return (isSmall(key) ? this.#bytes[key] : this.#others.get(key)) ?? 0;
  }

  #set(key: unknown, mark: number): void {
    if (!isSmall(key)) {
      this.#others.set(key, mark);
      return;
    }
    if (key >= this.#bytes.length) {
      const longer = new Uint8Array(Math.max(key + 1, 2 * this.#bytes.length));
      longer.set(this.#bytes);
      this.#bytes = longer;
    }
    this.#bytes[key] = mark;
  }
}

function isSmall(key: unknown): key is number {
  return Number.isInteger(key) && (key as number) >= 0 && (key as number) < MAX_ARRAY;
}
