// Tables in a pipe and on a terminal, and records.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TableOptions, writeTable } from '../../src/output/table.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { displayWidth } from '../../src/output/width.ts';
import { PIPE, terminalOf, textOf } from '../support/memory-sink.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

const DATA: TableOptions = {
  columns: ['id', 'name', 'folder'],
  rows: [
    [7, 'debian-12-server-cloudimg-amd64.ova', 'debian'],
    [1234, '日本語.ova', null],
    [56, 'e\u0301.ova', 'a/b'],
  ],
  asRecords: false,
  idField: 'id',
  timeFields: [],
  terminal: PIPE,
  header: true,
  trunc: true,
  mayDrop: true,
  boxed: false,
};

const colored = (terminal: Terminal): Terminal => ({ ...terminal, color: true });

/** Returns the table as a list of lines, and the hidden columns. */
async function shown(options: Partial<TableOptions>) {
  let hidden: readonly string[] = [];
  const text = await textOf(async (sink) => {
    hidden = await writeTable(sink, { ...DATA, ...options });
  });
  return { text, lines: text.split('\n').slice(0, -1), hidden };
}

const tableText = async (options: Partial<TableOptions>) => (await shown(options)).text;

/** Any rows of three cells. */
function anyRows() {
  const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
  const row = fc.array(value, { minLength: 3, maxLength: 3 });
  return fc.array(row, { minLength: 1, maxLength: 5 });
}

it.each([
  ['a pipe', PIPE],
  ['a terminal', terminalOf(80)],
])(
  'a table in %s aligns columns by width, numbers to the right, without trailing spaces',
  async (_where, terminal) => {
    expect((await shown({ terminal })).lines).toEqual([
      '  id  name                                 folder',
      '   7  debian-12-server-cloudimg-amd64.ova  debian',
      '1234  日本語.ova                           -',
      '  56  e\u0301.ova                                a/b',
    ]);
  },
);

describe.each([
  ['a pipe', PIPE],
  ['a terminal', terminalOf(80)],
])('a table in %s', (_where, terminal) => {
  it.each([
    ['no header', false, ['a'], [['x']], 'x\n'],
    ['mixed values aligned to the left', true, ['a'], [[1], ['xx'], [true]], 'a\n1\nxx\ntrue\n'],
    [
      'numbers and missing values aligned to the right',
      true,
      ['n'],
      [[1], [null], [22]],
      ' n\n 1\n -\n22\n',
    ],
    ['only missing values aligned to the left', true, ['bb', 'c'], [[null, 1]], 'bb  c\n-   1\n'],
    ['an empty text as empty', true, ['a', 'b'], [['', 'x']], 'a  b\n   x\n'],
    ['a list as JSON', true, ['a'], [[['x', 1]]], 'a\n["x",1]\n'],
    ['two lines as one', true, ['a'], [['x\ny']], 'a\nx\\ny\n'],
  ])('shows %s', async (_case, header, columns, rows, expected) => {
    expect(await tableText({ terminal, header, columns, rows })).toBe(expected);
  });

  it('paints headers, ids, times, states and missing values, and keeps the columns aligned', async () => {
    const columns = ['id', 'status', 'created_on', 'name'];
    const rows = [
      [7, 'PENDING', '2025', 'é日.ova'],
      [12, 'FAILED', null, 'x'],
    ];
    const { text } = await shown({ columns, rows, terminal: colored(terminal) });
    expect(text.replaceAll('\u001b', '')).toBe(
      [
        '[2mid[22m  [2mstatus[22m   [2mcreated_on[22m  [2mname[22m',
        ' [36m7[39m  [33mPENDING[39m  [2m2025[22m        é日.ova',
        '[36m12[39m  [31mFAILED[39m   [2m-[22m           x',
        '',
      ].join('\n'),
    );
    const plain = text.replaceAll(/\u001b\[\d+m/g, '');
    expect(plain).toBe(await tableText({ columns, rows, terminal }));
  });
});

describe('a table in a pipe', () => {
  it('shows a wide cell in full without padding the others to its width', async () => {
    const rows = [
      ['x'.repeat(2_000), 1],
      ['y', 2],
    ];
    const padded = `y${' '.repeat(999)}  2\n`;
    expect(await tableText({ columns: ['a', 'b'], rows, header: false })).toBe(
      `${rows[0]?.[0]}  1\n${padded}`,
    );
  });

  it('shows any rows in full, escaped and one per line', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(), async (rows) => {
        const { lines } = await shown({ rows });
        expect(lines).toHaveLength(rows.length + 1);
        for (const line of lines) {
          expect(line).not.toMatch(RAW_HARM);
          expect(line).not.toMatch(/\s$/);
        }
      }),
    );
  });
});

describe('a table that is wider than the terminal', () => {
  const columns = ['id', 'name', 'folder', 'data_store', 'updated_on'];
  const row = [1234, 'x'.repeat(44), 'y'.repeat(8), 'z'.repeat(10), '2'.repeat(16)];

  /** Returns the columns with the widths of their values. */
  async function widthsAt(width: number, options: Partial<TableOptions> = {}) {
    const table = await shown({ columns, rows: [row], terminal: terminalOf(width), ...options });
    const [head = '', values = ''] = table.lines;
    const names = head.trim().split(/ +/);
    const isHeader = names.every((name) => (options.columns ?? columns).includes(name));
    if (!isHeader) return { widths: 'records', hidden: table.hidden };
    const widths = values.trim().split(/ +/);
    return {
      widths: names.map((name, index) => `${name} ${widths[index]?.length}`).join(', '),
      hidden: table.hidden,
    };
  }

  it.each([
    [90, 'id 4, name 44, folder 8, data_store 10, updated_on 16', []],
    [89, 'id 4, name 44, folder 8, updated_on 16', ['data_store']],
    [77, 'id 4, name 44, updated_on 16', ['folder', 'data_store']],
    [60, 'id 4, name 36, updated_on 16', ['folder', 'data_store']],
    [40, 'id 4, name 16, updated_on 16', ['folder', 'data_store']],
    [39, 'records', []],
  ])('shows at %i columns: %s', async (width, widths, hidden) => {
    expect(await widthsAt(width)).toEqual({ widths, hidden });
  });

  it('becomes records if less than 16 columns remain for the name', async () => {
    const rows = [[12345, ...row.slice(1)]];
    expect((await widthsAt(41, { rows })).widths).toBe('id 5, name 16, updated_on 16');
    expect((await widthsAt(40, { rows })).widths).toBe('records');
    const short = { columns: ['id', 'name'], rows: [[12345, 'x'.repeat(9)]] };
    expect((await widthsAt(16, short)).widths).toBe('id 5, name 9');
  });

  it('drops no column that was asked for', async () => {
    const mayDrop = false;
    expect(await widthsAt(70, { mayDrop })).toEqual({
      widths: 'id 4, name 24, folder 8, data_store 10, updated_on 16',
      hidden: [],
    });
    expect((await widthsAt(61, { mayDrop })).widths).toBe('records');
  });

  it('cuts no header, id or time, and no state', async () => {
    const name = 'a_long_name_of_a_column';
    const options = { columns: [name, 'name'], rows: [['x'.repeat(40), 'y'.repeat(40)]] };
    expect((await widthsAt(41, options)).widths).toBe(`${name} 23, name 16`);
    expect((await widthsAt(40, options)).widths).toBe('records');
    const states = { columns: ['state', 'name'], rows: [['s'.repeat(30), 'y'.repeat(40)]] };
    expect((await widthsAt(50, states)).widths).toBe('state 30, name 18');
  });

  it('is not changed without trunc', async () => {
    const { widths, hidden } = await widthsAt(20, { trunc: false });
    expect([widths, hidden]).toEqual(['id 4, name 44, folder 8, data_store 10, updated_on 16', []]);
  });

  it('is cut in the middle of names, and keeps 8 cells of their start', async () => {
    const rows = [[1, 'debian-12-server-cloudimg-amd64-20231111.ova', '2026-11-22 19:32']];
    const table = { columns: ['id', 'name', 'updated_on'], rows, header: false };
    expect(await tableText({ ...table, terminal: terminalOf(40) })).toBe(
      '1  debian-1…231111.ova  2026-11-22 19:32\n',
    );
  });

  it('shows every field of a row below the other as records', async () => {
    const rows = DATA.rows.slice(0, 2);
    expect(await tableText({ rows, terminal: terminalOf(20) })).toBe(
      'id      7\nname    debian-12-server-cloudimg-amd64.ova\nfolder  debian\n\n' +
        'id      1234\nname    日本語.ova\nfolder  -\n',
    );
  });

  it('cuts a name of a megabyte, and shows it in full without trunc', async () => {
    const name = `start${'日'.repeat(400_000)}end`;
    const rows = [[1, name, 'f']];
    const [, cut = ''] = (await shown({ rows, terminal: terminalOf(80) })).lines;
    expect(displayWidth(cut)).toBeLessThanOrEqual(80);
    expect(cut).toMatch(/^ 1 {2}start日+….*日end/);
    expect(await tableText({ rows, terminal: terminalOf(80), trunc: false })).toContain(name);
  });

  it('shows any rows within the width, escaped and one per line', async () => {
    const width = fc.integer({ min: 40, max: 100 });
    await fc.assert(
      fc.asyncProperty(
        anyRows(),
        width,
        fc.boolean(),
        fc.boolean(),
        async (rows, cells, unicode, boxed) => {
          const { lines } = await shown({ rows, terminal: terminalOf(cells, unicode), boxed });
          for (const line of lines) expect(line).not.toMatch(RAW_HARM);
          const isTable = lines.length === rows.length + (boxed ? 4 : 1);
          if (!isTable) return;
          for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(cells);
        },
      ),
    );
  });
});

describe('a table with frames', () => {
  it.each([
    [true, '┌────┬───────────────┬────────┐', '├────┼───────────────┼────────┤', '│'],
    [false, '+----+---------------+--------+', '+----+---------------+--------+', '|'],
  ])('is drawn on a terminal (unicode: %s)', async (unicode, top, middle, bar) => {
    const rows = [[7, 'debian-12.ova', 'debian']];
    const { lines } = await shown({ boxed: true, rows, terminal: terminalOf(80, unicode) });
    expect(lines).toEqual([
      top,
      '| id | name          | folder |'.replaceAll('|', bar),
      middle,
      '|  7 | debian-12.ova | debian |'.replaceAll('|', bar),
      top.replace('┌', '└').replace('┐', '┘').replaceAll('┬', '┴'),
    ]);
  });

  it('has one header and one frame, whatever the number of batches', async () => {
    const rows = Array.from({ length: 120 }, (_, index) => [index, `n${index}`, 'f']);
    const plain = (await shown({ rows, terminal: terminalOf(80) })).lines;
    expect(plain).toHaveLength(121);
    expect(plain[60]).toBe(' 59  n59   f');
    const boxed = (await shown({ rows, terminal: terminalOf(80), boxed: true })).lines;
    expect(boxed).toHaveLength(124);
    expect(boxed.filter((line) => /^[┌├└]/.test(line))).toHaveLength(3);
  });

  it('colours no border', async () => {
    const text = await tableText({ boxed: true, terminal: colored(terminalOf(80)) });
    expect(text.split('\n')[0]).toMatch(/^┌[─┬]+┐$/);
  });
});

describe('a record', () => {
  it('shows each field uncut and escaped on its own line', async () => {
    const record = { id: 5, 名前: HOSTILE, folder: null, errors: ['x'], 'bad\nkey': '' };
    const columns = Object.keys(record);
    expect(await tableText({ columns, rows: [Object.values(record)], asRecords: true })).toBe(
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
