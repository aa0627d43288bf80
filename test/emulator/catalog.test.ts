// The catalogue: always the same for a count and a seed, and fit to be shown.

import { describe, expect, it } from 'vitest';
import { buildCatalog, type CatalogEntry } from '../../src/emulator/catalog.ts';
import { parseTimestamp } from '../../src/emulator/timestamp.ts';

const LARGE = buildCatalog(5000, 1);

function distinct(entries: readonly CatalogEntry[], field: 'name' | 'path' | 'data_store') {
  return new Set(entries.map(({ image }) => image[field]));
}

describe('the catalogue', () => {
  it('is the same for the same seed and another for another', () => {
    expect(buildCatalog(300, 7)).toEqual(buildCatalog(300, 7));
    expect(buildCatalog(300, 7)).not.toEqual(buildCatalog(300, 8));
  });

  it.each([0, 1, 2, 39, 40, 250, 1001])('has exactly %i images', (count) => {
    expect(buildCatalog(count, 1)).toHaveLength(count);
  });

  it('gives ascending ids and no path twice', () => {
    const ids = LARGE.map(({ image }) => image.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(distinct(LARGE, 'path').size).toBe(LARGE.length);
  });

  it('has some names in two folders, some images in none, and several data stores', () => {
    expect(distinct(LARGE, 'name').size).toBe(LARGE.length - 125);
    expect(LARGE.filter(({ image }) => image.folder === null).length).toBeGreaterThan(20);
    expect([...distinct(LARGE, 'data_store')].sort()).toEqual([
      'archive-01',
      'images-01',
      'images-02',
      'images-03',
    ]);
  });

  it('has every distribution among the default 250', () => {
    const folders = new Set(buildCatalog(250, 1).map(({ image }) => image.folder));
    for (const folder of [
      'ubuntu',
      'debian',
      'rocky',
      'almalinux',
      'fedora',
      'photon',
      'freebsd',
    ]) {
      expect(folders).toContain(folder);
    }
  });

  it('derives path and label as section 2.2 says', () => {
    for (const { image } of LARGE) {
      expect(image.label).toBe(
        image.folder === null ? image.name : `${image.folder}/${image.name}`,
      );
      expect(image.path).toBe(`[${image.data_store}] ${image.label}`);
      expect(image.public).toBe(true);
    }
  });

  it('writes the instants that it keeps, none updated before it was created', () => {
    for (const { image, created, updated } of LARGE) {
      expect(parseTimestamp(image.created_on)).toBe(created);
      expect(parseTimestamp(image.updated_on)).toBe(updated);
      expect(updated).toBeGreaterThanOrEqual(created);
      expect(updated).toBeLessThan(Date.UTC(2025, 7, 1));
    }
  });

  it('holds ASCII only, on which the order by code point rests', () => {
    expect(LARGE.filter(({ image }) => /[^ -~]/.test(image.path))).toEqual([]);
  });
});
