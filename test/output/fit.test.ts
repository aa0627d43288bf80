// Which columns fit into a width, and how names are cut.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ColumnSize, cutTexts, fitColumns } from '../../src/output/fit.ts';
import { displayWidth } from '../../src/output/width.ts';
import { anyText } from './hostile.ts';

const size = (name: string, width: number, rest: Partial<ColumnSize> = {}): ColumnSize => ({
  name,
  width,
  headerWidth: name.length,
  mayCut: name !== 'id' && !name.endsWith('_on'),
  isConstant: false,
  ...rest,
});

const LIST = [
  size('id', 4),
  size('name', 44),
  size('folder', 8),
  size('data_store', 10),
  size('updated_on', 16),
];
const gaps = (count: number) => 2 * (count - 1);

/** Returns the columns as `name width`. */
function shownIn(columns: readonly ColumnSize[], available: number) {
  const layout = fitColumns(columns, available, gaps);
  return layout?.shown.map((column, index) => `${columns[column]?.name} ${layout.widths[index]}`);
}

describe('fitColumns', () => {
  it.each([
    [90, ['id 4', 'name 44', 'folder 8', 'data_store 10', 'updated_on 16']],
    [89, ['id 4', 'name 44', 'folder 8', 'updated_on 16']],
    [77, ['id 4', 'name 44', 'updated_on 16']],
    [60, ['id 4', 'name 36', 'updated_on 16']],
    [40, ['id 4', 'name 16', 'updated_on 16']],
    [39, undefined],
  ])('at %i columns shows %j', (available, expected) => {
    expect(shownIn(LIST, available)).toEqual(expected);
  });

  it('shows records if less than 16 columns remain for the name', () => {
    const wider = [size('id', 5), ...LIST.slice(1)];
    expect(shownIn(wider, 41)).toEqual(['id 5', 'name 16', 'updated_on 16']);
    expect(shownIn(wider, 40)).toBeUndefined();
    expect(shownIn([size('id', 5), size('name', 9), size('updated_on', 16)], 40)).toHaveLength(3);
  });

  it('drops constant columns first, those of low priority before others', () => {
    const columns = LIST.map((column) => ({
      ...column,
      isConstant: !/^(id|name)$/.test(column.name),
    }));
    expect(shownIn(columns, 88)?.map((text) => text.split(' ')[0])).toEqual([
      ...['id', 'name', 'folder', 'updated_on'],
    ]);
    expect(shownIn(columns, 76)).toEqual(['id 4', 'name 44', 'updated_on 16']);
    expect(shownIn(columns, 67)).toEqual(['id 4', 'name 44']);
    const one = LIST.map((column) => ({ ...column, isConstant: column.name === 'folder' }));
    expect(shownIn(one, 89)?.join()).not.toContain('folder');
    expect(shownIn(one, 89)?.join()).toContain('data_store');
  });

  it('never cuts a header, an id or a time, and keeps the last column', () => {
    const header = size('a_long_name_of_a_column', 40, { headerWidth: 23 });
    expect(shownIn([header, size('name', 40)], 41)).toEqual([
      'a_long_name_of_a_column 23',
      'name 16',
    ]);
    expect(shownIn([header, size('name', 40)], 40)).toBeUndefined();
    expect(shownIn([size('folder', 60)], 50)).toEqual(['folder 50']);
  });

  it('never exceeds the width', () => {
    const column = fc.record({
      name: fc.constantFrom('id', 'name', 'folder', 'data_store', 'updated_on', 'path'),
      width: fc.integer({ min: 10, max: 70 }),
      isConstant: fc.boolean(),
    });
    const columns = fc.uniqueArray(column, {
      minLength: 1,
      maxLength: 6,
      selector: (each) => each.name,
    });
    fc.assert(
      fc.property(columns, fc.integer({ min: 1, max: 200 }), (drawn, available) => {
        const sizes = drawn.map(({ name, width, ...rest }) => size(name, width, rest));
        const layout = fitColumns(sizes, available, gaps);
        if (layout === undefined) return;
        const total = layout.widths.reduce((sum, width) => sum + width, gaps(layout.shown.length));
        expect(total).toBeLessThanOrEqual(available);
        for (const [index, column] of layout.shown.entries()) {
          const { width = 0, mayCut = false } = sizes[column] ?? {};
          const shown = layout.widths[index] ?? 0;
          if (shown < width) expect([mayCut, shown >= 16]).toEqual([true, true]);
          expect(shown).toBeLessThanOrEqual(width);
        }
      }),
    );
  });
});

const ascii = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'ab1-'), minLength: length, maxLength: length });

describe('cutTexts', () => {
  it.each([
    ['debian-12-server-cloudimg-amd64-20231111.ova', 30, true, 'debian-12-…-amd64-20231111.ova'],
    ['debian-12-server-cloudimg-amd64-20231111.ova', 30, false, 'debian-12...amd64-20231111.ova'],
    ['short.ova', 16, true, 'short.ova'],
    ['日本語日本語日本語日本語.ova', 16, true, '日本…日本語.ova'],
  ])('cuts %j to %i cells (unicode: %s): %j', (text, width, unicode, expected) => {
    expect(cutTexts([text], width, unicode)).toEqual([expected]);
  });

  it('chooses a cut that keeps names different', () => {
    const names = ['1', '2', '3'].map((end) => `ubuntu-${end}2345678901-cloudimg-amd64.ova`);
    expect(new Set(cutTexts(names, 16, true)).size).toBe(3);
  });

  it('keeps names different that differ in any one place, if 16 cells can show it', () => {
    const parts = fc.tuple(
      ascii(30),
      fc.uniqueArray(ascii(4), { minLength: 2, maxLength: 30 }),
      ascii(30),
    );
    const width = fc.integer({ min: 16, max: 60 });
    fc.assert(
      fc.property(
        parts,
        width,
        fc.boolean(),
        fc.nat(30),
        ([start, middles, end], cells, unicode, at) => {
          const names = middles.map((middle) => start.slice(at) + middle + end.slice(30 - at));
          expect(new Set(cutTexts(names, cells, unicode)).size).toBe(middles.length);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never exceeds the width, and changes nothing that fits', () => {
    fc.assert(
      fc.property(
        fc.array(anyText(), { maxLength: 6 }),
        fc.integer({ min: 4, max: 20 }),
        fc.boolean(),
        (texts, width, unicode) => {
          const cut = cutTexts(texts, width, unicode);
          expect(cut).toHaveLength(texts.length);
          for (const [index, text] of texts.entries()) {
            expect(displayWidth(cut[index] ?? '')).toBeLessThanOrEqual(width);
            if (displayWidth(text) <= width) expect(cut[index]).toBe(text);
          }
        },
      ),
    );
  });
});
