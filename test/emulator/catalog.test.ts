// What the emulator makes up: the catalogue and its timestamps.

import fc from 'fast-check';
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

it('the catalogue has ascending ids, unique paths, equal names, and the fields of section 2.2', () => {
  const images = buildCatalog(5000, 1, END);
  const ids = images.map((image) => image.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect(new Set(images.map(({ path }) => path)).size).toBe(images.length);
  expect(new Set(images.map(({ name }) => name)).size).toBe(images.length - 125);
  expect(images.filter((image) => image.folder === null).length).toBeGreaterThan(20);
  for (const image of images) {
    const label = image.folder === null ? image.name : `${image.folder}/${image.name}`;
    const path = `[${image.data_store}] ${label}`;
    expect(image).toMatchObject({ label, path, public: true });
    const updated = parseTimestamp(image.updated_on) ?? 0;
    expect(updated).toBeGreaterThanOrEqual(parseTimestamp(image.created_on) ?? Number.NaN);
    expect(updated).toBeLessThanOrEqual(END);
  }
});

it('serviceTimestamp agrees with the time zone data of the system since the present rule', () => {
  const newYork = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/New_York',
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'short' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  });
  const seconds = fc.integer({ min: Date.UTC(2008, 0) / 1000, max: Date.UTC(2100, 0) / 1000 });
  fc.assert(
    fc.property(seconds, (second) => {
      const parts = newYork.formatToParts(second * 1000).map(({ type, value }) => [type, value]);
      const { year, month, day, weekday, timeZoneName, ...time } = Object.fromEntries(parts);
      const clock = `${time.hour}:${time.minute}:${time.second}`;
      const expected = `${year}-${month}-${day} ${weekday} ${clock} ${timeZoneName}`;
      expect(serviceTimestamp(second * 1000)).toBe(expected);
    }),
  );
});
