// The set of keys holds what a Set would.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeySet } from '../../src/api/key-set.ts';

const KEYS = fc.oneof(
  fc.integer({ min: -2, max: 40 }),
  fc.constantFrom(
    8_191,
    8_192,
    2 ** 24 - 1,
    2 ** 24,
    2 ** 53,
    1.5,
    Number.NaN,
    '7',
    null,
    undefined,
  ),
  fc.nat(),
  fc.string(),
);

it('is as a Set is, whatever the keys', () => {
  fc.assert(
    fc.property(fc.array(KEYS), KEYS, (keys, other) => {
      const [found, expected] = [new KeySet(), new Set<unknown>()];
      for (const key of keys) {
        found.add(key);
        expected.add(key);
        expect(found.size).toBe(expected.size);
      }
      for (const key of [...keys, other]) expect(found.has(key)).toBe(expected.has(key));
    }),
  );
});
