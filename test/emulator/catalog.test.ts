// What the emulator makes up: the catalogue and its timestamps.

import { expect, it } from 'vitest';
import { buildCatalog, serviceTimestamp } from '../../src/emulator/catalog.ts';
import { parseTimestamp } from '../../src/query/timestamp.ts';
import { END } from '../support/emulator.ts';

it('the catalogue depends only on count, seed and last day, and ends there', () => {
  expect(buildCatalog(300, 7, END)).toEqual(buildCatalog(300, 7, END));
  expect(buildCatalog(300, 7, END)).not.toEqual(buildCatalog(300, 8, END));
  for (const count of [0, 1, 25, 39, 40]) expect(buildCatalog(count, 1, END)).toHaveLength(count);
  const moved = buildCatalog(25, 1, Date.UTC(2030, 1, 3, 15, 30));
  const updates = moved.map((image) => parseTimestamp(image.updated_on) ?? 0);
  expect(Math.max(...updates)).toBe(Date.UTC(2030, 1, 3));
  const days = moved.flatMap(({ name }) => name.match(/20\d{6}/g) ?? []).map(Number);
  expect(Math.max(...days)).toBeGreaterThan(20290000);
});

it.each([
  ['2025-03-09T06:59:59Z', '2025-03-09 Sun 01:59:59 EST'],
  ['2025-03-09T07:00:00Z', '2025-03-09 Sun 03:00:00 EDT'],
  ['2026-11-01T05:59:59Z', '2026-11-01 Sun 01:59:59 EDT'],
  ['2026-11-01T06:00:00Z', '2026-11-01 Sun 01:00:00 EST'],
])('serviceTimestamp writes %s as %s', (time, expected) => {
  expect(serviceTimestamp(Date.parse(time))).toBe(expected);
});
