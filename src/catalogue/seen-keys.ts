// Remembers which images were seen in each pass over a list and which were yielded, in a byte per small id.

/** Larger ids go into a Map: an array up to them would take more memory. */
const MAX_ARRAY = 2 ** 22;
const YIELDED = 0x80;
const PASS = 0x7f;

export class SeenKeys {
  #bytes = new Uint8Array(1_024);
  readonly #others = new Map<unknown, number>();
  #pass = 0;
  #count = 0;

  /** Number of different keys in this pass. */
  get count(): number {
    return this.#count;
  }

  /** Starts a new pass, in which every key is new again; what was yielded stays yielded. */
  startPass(): void {
    this.#pass += 1;
    this.#count = 0;
  }

  /** Returns true if the key is new in this pass. */
  addIfNew(key: unknown): boolean {
    const mark = this.#get(key);
    if ((mark & PASS) === this.#pass) return false;
    this.#set(key, (mark & YIELDED) | this.#pass);
    this.#count += 1;
    return true;
  }

  /** Returns true if the key was not yielded before, in any pass. */
  yieldIfNew(key: unknown): boolean {
    if (this.wasYielded(key)) return false;
    this.#set(key, this.#get(key) | YIELDED);
    return true;
  }

  wasYielded(key: unknown): boolean {
    return (this.#get(key) & YIELDED) !== 0;
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
