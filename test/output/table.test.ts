// Tables on a terminal and in a pipe.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordText, tableText } from '../../src/output/table.ts';
import { displayWidth } from '../../src/output/terminal.ts';
import { PIPE, terminalOf } from '../support/memory-sink.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

const HEADER = ['id', 'name', 'folder'];
const ROWS = [
  [7, 'debian-12-server-cloudimg-amd64.ova', 'debian'],
  [1234, '日本語.ova', null],
  [56, 'e\u0301.ova', 'a/b'],
];

describe('tableText', () => {
  it('aligns columns by width, numbers to the right, without trailing spaces', () => {
    expect(tableText(HEADER, ROWS, PIPE, String)).toBe(
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
  ])('cuts the widest column first on a terminal (unicode: %s)', (unicode, expected) => {
    const lines = tableText(HEADER, ROWS.slice(0, 2), terminalOf(26, unicode), String).split('\n');
    expect(lines.slice(0, 2)).toEqual(expected);
  });

  it('gives remaining cells to the columns that are cut', () => {
    const text = tableText(undefined, [['aaaaaaaa', 'bbbbbbbb', 'c']], terminalOf(14), String);
    expect(text).toBe('aaaa…  bbb…  c\n');
  });

  it('does not cut numbers, as part of an id is another id', () => {
    const text = tableText(undefined, [[123456, 'abcdef', 'abcdef']], terminalOf(14), String);
    expect(text).toBe('123456  a…  a…\n');
  });

  it('cuts lines if one cell per column does not fit', () => {
    const text = tableText(['a', 'b', 'c', 'd'], [[1, 2, 3, 4]], terminalOf(6), String);
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
  ])('shows %s', (_case, header, rows, expected) => {
    expect(tableText(header, rows, PIPE, String)).toBe(expected);
  });

  it('shows any rows within the width, escaped and one per line', () => {
    const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
    const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 60 }), fc.boolean(), (cells, width, unicode) => {
        const lines = tableText(HEADER, cells, terminalOf(width, unicode), String).split('\n');
        expect(lines).toHaveLength(cells.length + 2);
        for (const line of lines) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(RAW_HARM);
          expect(line).not.toMatch(/\s$/);
        }
      }),
    );
  });
});

describe('recordText', () => {
  it('shows each field uncut and escaped on its own line', () => {
    const record = { id: 5, 名前: HOSTILE, folder: null, errors: ['x'], 'bad\nkey': '' };
    expect(recordText(record, String)).toBe(
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
