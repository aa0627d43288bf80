// A small seeded generator of numbers, so that a seed always gives the same catalogue.

/** Draws numbers; the same seed draws the same ones on every machine. */
export interface Random {
  /** An integer from 0 up to, but not including, the limit. */
  below(limit: number): number;
  /** One of the values. */
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
}

/** A 32-bit xorshift generator over the seed, which may be any integer. */
export function seededRandom(seed: number): Random {
  // Neighbouring seeds are spread apart first, and 0, which xorshift never leaves, is stepped over.
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bf03635) >>> 0 || 1;
  const below = (limit: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  return {
    below,
    pick: (values) => values[below(values.length)] ?? values[0],
  };
}
