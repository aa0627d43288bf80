// Tables in a pipe, and records.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ColumnKind, writeRecordTable, writeTable } from '../../src/output/table.ts';
import { loadStyle, PLAIN } from '../../src/output/terminal.ts';
import { textOf } from '../support/memory-sink.ts';
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
  kinds: readonly ColumnKind[] = ['id', 'text', 'text'],
  style = PLAIN,
): Promise<string> {
  return textOf((out) => writeTable(out, header, rows, kinds, style));
}

describe('writeTable', () => {
  it('aligns columns by width, numbers to the right, without trailing spaces', async () => {
    expect(await tableText(HEADER, ROWS)).toBe(
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
  ])('shows %s', async (_case, header, rows, expected) => {
    expect(await tableText(header, rows)).toBe(expected);
  });

  it('shows a wide cell in full without padding the others to its width', async () => {
    const rows = [
      ['x'.repeat(2_000), 1],
      ['y', 2],
    ];
    const padded = `y${' '.repeat(999)}  2\n`;
    expect(await tableText(undefined, rows)).toBe(`${rows[0]?.[0]}  1\n${padded}`);
  });

  it('shows any rows in full, escaped and one per line', async () => {
    const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
    const rows = fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rows, async (cells) => {
        const lines = (await tableText(HEADER, cells)).split('\n');
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
    const text = await tableText(header, rows, kinds, await loadStyle({ color: true }));
    expect(text.replaceAll('\u001b', '')).toBe(
      [
        '[2mid[22m  [2mstatus[22m   [2mat[22m',
        ' [36m7[39m  [33mPENDING[39m  [2m2025[22m',
        '[36m12[39m  [31mFAILED[39m   [2m-[22m',
        '',
      ].join('\n'),
    );
    const plain = text.replaceAll(/\u001b\[\d+m/g, '');
    expect(plain).toBe(await tableText(header, rows, kinds));
  });
});

describe('writeRecordTable', () => {
  it('shows each field uncut and escaped on its own line', async () => {
    const record = { id: 5, 名前: HOSTILE, folder: null, errors: ['x'], 'bad\nkey': '' };
    expect(await textOf((out) => writeRecordTable(out, record, () => 'text', PLAIN))).toBe(
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
