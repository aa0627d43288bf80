// Compares SeenKeys with plain sets.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SeenKeys } from '../../src/catalogue/reading.ts';

const SPECIAL = [8_191, 2 ** 22 - 1, 2 ** 22, 2 ** 53, 1.5, Number.NaN, '7', null, undefined];
const KEYS = fc.oneof(
  fc.integer({ min: -2, max: 40 }),
  fc.constantFrom(...SPECIAL),
  fc.nat(),
  fc.string(),
);

it('SeenKeys agrees with one Set per reading and one of yielded keys for any keys', () => {
  const step = fc.record({ key: KEYS, yields: fc.boolean(), startsReading: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const keys = new SeenKeys();
      keys.startReading();
      const yielded = new Set<unknown>();
      let pass = new Set<unknown>();
      // A pass per image would be more than there are in any listing.
      for (const { key, yields, startsReading } of steps.slice(0, 100)) {
        if (startsReading) {
          keys.startReading();
          pass = new Set();
        }
        expect(keys.wasYielded(key)).toBe(yielded.has(key));
        if (yields && !yielded.has(key)) {
          keys.markYielded(key);
          yielded.add(key);
        }
        expect(keys.yieldedCount).toBe(yielded.size);
        expect(keys.addIfNew(key)).toBe(!pass.has(key));
        pass.add(key);
        expect(keys.count).toBe(pass.size);
      }
    }),
  );
});
