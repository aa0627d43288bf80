// Tables in a pipe, and records.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadStyle, PLAIN } from '../../src/output/style.ts';
import { type ColumnKind, recordText, tableText } from '../../src/output/table.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

const HEADER = ['id', 'name', 'folder'];
const ROWS = [
  [7, 'debian-12-server-cloudimg-amd64.ova', 'debian'],
  [1234, '日本語.ova', null],
  [56, 'e\u0301.ova', 'a/b'],
];

const KINDS: readonly ColumnKind[] = ['id', 'text', 'text'];

describe('tableText', () => {
  it('aligns columns by width, numbers to the right, without trailing spaces', () => {
    expect(tableText(HEADER, ROWS, KINDS, PLAIN)).toBe(
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
    expect(tableText(header, rows, KINDS, PLAIN)).toBe(expected);
  });

  it('shows any rows in full, escaped and one per line', () => {
    const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
    const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, (cells) => {
        const lines = tableText(HEADER, cells, KINDS, PLAIN).split('\n');
        expect(lines).toHaveLength(cells.length + 2);
        for (const line of lines) {
          expect(line).not.toMatch(RAW_HARM);
          expect(line).not.toMatch(/\s$/);
        }
      }),
    );
  });

  it('paints headers, ids, times, states and missing values, and keeps the columns aligned', async () => {
    const header = ['id', 'status', 'at'];
    const rows = [
      [7, 'PENDING', '2025'],
      [12, 'FAILED', null],
    ];
    const kinds = ['id', 'state', 'time'] as const;
    const text = tableText(header, rows, kinds, await loadStyle({ color: true }));
    expect(text.replaceAll('\u001b', '')).toBe(
      [
        '[2mid[22m  [2mstatus[22m   [2mat[22m',
        ' [36m7[39m  [33mPENDING[39m  [2m2025[22m',
        '[36m12[39m  [31mFAILED[39m   [2m-[22m',
        '',
      ].join('\n'),
    );
    const plain = text.replaceAll(/\u001b\[\d+m/g, '');
    expect(plain).toBe(tableText(header, rows, kinds, PLAIN));
  });
});

describe('recordText', () => {
  it('shows each field uncut and escaped on its own line', () => {
    const record = { id: 5, 名前: HOSTILE, folder: null, errors: ['x'], 'bad\nkey': '' };
    expect(recordText(record, () => 'text', PLAIN)).toBe(
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
