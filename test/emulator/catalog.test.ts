// The generated catalogue: equal for equal seeds, and realistic.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { buildCatalog } from '../../src/emulator/catalog.ts';
import { parseTimestamp } from '../../src/query/timestamp.ts';
import { END } from '../support/emulator.ts';

const LARGE = buildCatalog(5000, 1, END);

function distinct(images: readonly Image[], field: 'name' | 'path' | 'data_store') {
  return new Set(images.map((image) => image[field]));
}

describe('the catalogue', () => {
  it('depends only on count, seed and last day', () => {
    expect(buildCatalog(300, 7, END)).toEqual(buildCatalog(300, 7, END));
    expect(buildCatalog(300, 7, END)).not.toEqual(buildCatalog(300, 8, END));
  });

  it.each([25, 250])('of %i images ends at the start of its last day', (count) => {
    const now = Date.UTC(2030, 1, 3, 15, 30);
    const images = buildCatalog(count, 1, now);
    const updates = images.map((image) => parseTimestamp(image.updated_on) ?? 0);
    expect(Math.max(...updates)).toBe(Date.UTC(2030, 1, 3));
    // The dates in the names move too.
    const names = images.map((image) => image.name).join(' ');
    expect(Math.max(...[...names.matchAll(/20\d{6}/g)].map(Number))).toBeGreaterThan(20290000);
  });

  it.each([0, 1, 2, 39, 40, 250, 1001])('has exactly %i images', (count) => {
    expect(buildCatalog(count, 1, END)).toHaveLength(count);
  });

  it('has ascending ids and unique paths', () => {
    const ids = LARGE.map((image) => image.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(distinct(LARGE, 'path').size).toBe(LARGE.length);
  });

  it('has names in two folders, images without a folder, and several data stores', () => {
    expect(distinct(LARGE, 'name').size).toBe(LARGE.length - 125);
    expect(LARGE.filter((image) => image.folder === null).length).toBeGreaterThan(20);
    const dataStores = [...distinct(LARGE, 'data_store')].sort().join(' ');
    expect(dataStores).toBe('archive-01 images-01 images-02 images-03');
  });

  it('has the common distributions among the default 250 images', () => {
    const folders = new Set(buildCatalog(250, 1, END).map((image) => image.folder));
    const common = ['ubuntu', 'debian', 'rocky', 'almalinux', 'fedora', 'photon', 'freebsd'];
    expect(common.filter((folder) => !folders.has(folder))).toEqual([]);
  });

  it('derives path and label as in section 2.2', () => {
    for (const image of LARGE) {
      const label = image.folder === null ? image.name : `${image.folder}/${image.name}`;
      const path = `[${image.data_store}] ${label}`;
      expect(image).toMatchObject({ label, path, public: true });
    }
  });

  it('has no update before its creation, and none after its last day', () => {
    for (const image of LARGE) {
      const [created = Number.NaN, updated = Number.NaN] = [
        parseTimestamp(image.created_on),
        parseTimestamp(image.updated_on),
      ];
      expect(updated).toBeGreaterThanOrEqual(created);
      expect(updated).toBeLessThan(Date.UTC(2025, 7, 1));
    }
  });

  it('is all ASCII, as the order by code point requires', () => {
    expect(LARGE.filter((image) => /[^ -~]/.test(image.path))).toEqual([]);
  });
});
