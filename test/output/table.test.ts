// Tables on a terminal and in a pipe.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeRecordTable, writeTable } from '../../src/output/table.ts';
import { displayWidth, type Terminal } from '../../src/output/terminal.ts';
import { PIPE, terminalOf, textOf } from '../support/memory-sink.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

const HEADER = ['id', 'name', 'folder'];
const ROWS = [
  [7, 'debian-12-server-cloudimg-amd64.ova', 'debian'],
  [1234, '日本語.ova', null],
  [56, 'e\u0301.ova', 'a/b'],
];

function tableText(
  header: readonly string[] | undefined,
  rows: readonly (readonly unknown[])[],
  terminal: Terminal,
): Promise<string> {
  return textOf((out) => writeTable(out, header, rows, terminal, String));
}

describe('writeTable', () => {
  it('aligns columns by width, numbers to the right, without trailing spaces', async () => {
    expect(await tableText(HEADER, ROWS, PIPE)).toBe(
      [
        '  id  name                                 folder',
        '   7  debian-12-server-cloudimg-amd64.ova  debian',
        '1234  日本語.ova                           -',
        '  56  e\u0301.ova                                a/b',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [true, ['  id  name          folder', '   7  debian-12-s…  debian']],
    [false, ['  id  name          folder', '   7  debian-12...  debian']],
  ])('cuts the widest column first on a terminal (unicode: %s)', async (unicode, expected) => {
    const text = await tableText(HEADER, ROWS.slice(0, 2), terminalOf(26, unicode));
    const lines = text.split('\n');
    expect(lines.slice(0, 2)).toEqual(expected);
  });

  it('gives remaining cells to the columns that are cut', async () => {
    const text = await tableText(undefined, [['aaaaaaaa', 'bbbbbbbb', 'c']], terminalOf(14));
    expect(text).toBe('aaaa…  bbb…  c\n');
  });

  it('does not cut numbers, as part of an id is another id', async () => {
    const text = await tableText(undefined, [[123456, 'abcdef', 'abcdef']], terminalOf(14));
    expect(text).toBe('123456  a…  a…\n');
  });

  it('cuts lines if one cell per column does not fit', async () => {
    const text = await tableText(['a', 'b', 'c', 'd'], [[1, 2, 3, 4]], terminalOf(6));
    expect(text).toBe('a  b …\n1  2 …\n');
  });

  it.each([
    ['no header', undefined, [['x']], 'x\n'],
    ['no rows', ['id'], [], 'id\n'],
    ['mixed values aligned to the left', ['a'], [[1], ['xx'], [true]], 'a\n1\nxx\ntrue\n'],
    [
      'numbers and missing values aligned to the right',
      ['n'],
      [[1], [null], [22]],
      ' n\n 1\n -\n22\n',
    ],
    ['only missing values aligned to the left', ['bb', 'c'], [[null, 1]], 'bb  c\n-   1\n'],
    ['an empty text as empty', ['a', 'b'], [['', 'x']], 'a  b\n   x\n'],
    ['a list as JSON', ['a'], [[['x', 1]]], 'a\n["x",1]\n'],
    ['two lines as one', ['a'], [['x\ny']], 'a\nx\\ny\n'],
  ])('shows %s', async (_case, header, rows, expected) => {
    expect(await tableText(header, rows, PIPE)).toBe(expected);
  });

  it('shows a wide cell in full without padding the others to its width', async () => {
    const rows = [
      ['x'.repeat(2_000), 1],
      ['y', 2],
    ];
    const padded = `y${' '.repeat(999)}  2\n`;
    expect(await tableText(undefined, rows, PIPE)).toBe(`${rows[0]?.[0]}  1\n${padded}`);
  });

  it('shows any rows within the width, escaped and one per line', async () => {
    const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
    const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 60 }),
        fc.boolean(),
        async (cells, width, unicode) => {
          const text = await tableText(HEADER, cells, terminalOf(width, unicode));
          const lines = text.split('\n');
          expect(lines).toHaveLength(cells.length + 2);
          for (const line of lines) {
            expect(displayWidth(line)).toBeLessThanOrEqual(width);
            expect(line).not.toMatch(RAW_HARM);
            expect(line).not.toMatch(/\s$/);
          }
        },
      ),
    );
  });
});

describe('writeRecordTable', () => {
  it('shows each field uncut and escaped on its own line', async () => {
    const record = { id: 5, 名前: HOSTILE, folder: null, errors: ['x'], 'bad\nkey': '' };
    expect(await textOf((out) => writeRecordTable(out, record, String))).toBe(
      [
        'id        5',
        `名前      ${HOSTILE_ESCAPED}`,
        'folder    -',
        'errors    ["x"]',
        'bad\\nkey',
        '',
      ].join('\n'),
    );
  });
});
