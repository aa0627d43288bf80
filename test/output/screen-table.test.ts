// Tables on a terminal.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawTable, type ScreenTable } from '../../src/output/screen-table.ts';
import { loadStyle, PLAIN } from '../../src/output/terminal.ts';
import { displayWidth } from '../../src/output/width.ts';
import { terminalOf, textOf } from '../support/memory-sink.ts';
import { anyText, RAW_HARM } from './hostile.ts';

const ROWS = [
  [7, 'debian-12.ova', 'debian'],
  [1234, '日本語.ova', null],
  [56, 'e\u0301.ova', 'a/b'],
];

const draw = (table: Partial<ScreenTable> = {}): Promise<string> =>
  textOf(async (out) => {
    await drawTable(out, {
      columns: ['id', 'name', 'folder'],
      kinds: ['id', 'text', 'text'],
      header: true,
      rows: ROWS,
      terminal: terminalOf(80),
      style: PLAIN,
      trunc: true,
      boxed: false,
      ...table,
    });
  });

describe('drawTable', () => {
  it('aligns any characters, numbers to the right, without trailing spaces', async () => {
    expect(await draw()).toBe(
      [
        '  id  name           folder',
        '   7  debian-12.ova  debian',
        '1234  日本語.ova     -',
        '  56  e\u0301.ova          a/b',
        '',
      ].join('\n'),
    );
    expect(await draw({ header: false, rows: ROWS.slice(0, 1) })).toBe(
      '7  debian-12.ova  debian\n',
    );
  });

  it('drops a column whose values are all the same, but never a state', async () => {
    const table = {
      columns: ['change', 'id', 'name', 'path'],
      kinds: ['state', 'id', 'text', 'text'] as const,
      rows: [7, 8].map((id) => [
        'removed',
        id,
        `debian-12-generic-amd64-build-${id}.ova`,
        '[images]',
      ]),
      terminal: terminalOf(50),
    };
    expect(await draw(table)).toMatch(/^change +id +name\nremoved +7 /);
  });

  it.each([
    [true, '┌────┬───────────────┬────────┐', '├────┼───────────────┼────────┤', '│'],
    [false, '+----+---------------+--------+', '+----+---------------+--------+', '|'],
  ])('draws frames (unicode: %s)', async (unicode, top, middle, bar) => {
    const lines = await draw({
      boxed: true,
      rows: ROWS.slice(0, 1),
      terminal: terminalOf(80, unicode),
    });
    expect(lines.split('\n')).toEqual([
      top,
      '| id | name          | folder |'.replaceAll('|', bar),
      middle,
      '|  7 | debian-12.ova | debian |'.replaceAll('|', bar),
      top.replace('┌', '└').replace('┐', '┘').replaceAll('┬', '┴'),
      '',
    ]);
  });

  it('draws the header and the frame once, whatever the number of batches', async () => {
    const rows = Array.from({ length: 120 }, (_, index) => [index, `n${index}`, 'f']);
    const plain = (await draw({ rows })).split('\n');
    expect(plain).toHaveLength(122);
    expect(plain[60]).toBe(' 59  n59   f');
    const boxed = (await draw({ rows, boxed: true })).split('\n');
    expect(boxed).toHaveLength(125);
    expect(boxed.filter((line) => /^[┌├└]/.test(line))).toHaveLength(3);
  });

  it('paints headers, ids, states and times without moving a column', async () => {
    const columns = ['id', 'status', 'created_on', 'name'];
    const kinds = ['id', 'state', 'time', 'text'] as const;
    const rows = [['a', 'FAILED', '2025', 'é日.ova']];
    const colored = await draw({ columns, kinds, rows, style: await loadStyle({ color: true }) });
    expect(colored.replaceAll('\u001b', '').split('\n')[1]).toBe(
      '[36ma[39m   [31mFAILED[39m  [2m2025[22m        é日.ova',
    );
    expect(colored.replaceAll(/\u001b\[\d+m/g, '')).toBe(await draw({ columns, kinds, rows }));
  });

  it('shows every field of a row below the other if the width is too small', async () => {
    const rows = ROWS.slice(0, 2);
    expect(await draw({ rows, terminal: terminalOf(20) })).toBe(
      'id      7\nname    debian-12.ova\nfolder  debian\n\nid      1234\nname    日本語.ova\nfolder  -\n',
    );
    expect(await draw({ rows, terminal: terminalOf(20), trunc: false })).toMatch(/^ +id {2}name/);
  });

  it('cuts a name of a megabyte, and shows it in full with trunc: false', async () => {
    const name = `start${'日'.repeat(400_000)}end`;
    const rows = [[1, name, 'f']];
    const cut = (await draw({ rows })).split('\n')[1] ?? '';
    expect(displayWidth(cut)).toBeLessThanOrEqual(80);
    expect(cut).toMatch(/^ 1 {2}start日+….*日end$/);
    expect(await draw({ rows, trunc: false })).toContain(name);
  });

  it('shows any rows within the width, escaped and one per line', async () => {
    const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
    const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), {
      minLength: 1,
      maxLength: 5,
    });
    const width = fc.integer({ min: 40, max: 100 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        width,
        fc.boolean(),
        fc.boolean(),
        async (cells, columns, unicode, boxed) => {
          const text = await draw({ rows: cells, terminal: terminalOf(columns, unicode), boxed });
          const lines = text.split('\n');
          for (const line of lines) expect(line).not.toMatch(RAW_HARM);
          const isTable = lines.length === cells.length + (boxed ? 5 : 2);
          if (!isTable) return;
          for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});
