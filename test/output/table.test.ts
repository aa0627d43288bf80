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

const WHERE = [
  ['a pipe', PIPE],
  ['a terminal', terminalOf(80)],
] as const;

const CASES: [string, Partial<TableOptions>, string][] = [
  [
    'columns aligned by width, numbers to the right, and no trailing spaces',
    {},
    '  id  name                                 folder\n' +
      '   7  debian-12-server-cloudimg-amd64.ova  debian\n' +
      '1234  日本語.ova                           -\n' +
      '  56  e\u0301.ova                                a/b\n',
  ],
  ['no header', { header: false, columns: ['a'], rows: [['x']] }, 'x\n'],
  ['mixed values to the left', { columns: ['a'], rows: [[1], ['xx'], [true]] }, 'a\n1\nxx\ntrue\n'],
  [
    'numbers and missing values to the right',
    { columns: ['n'], rows: [[1], [null], [22]] },
    ' n\n 1\n -\n22\n',
  ],
  [
    'only missing values to the left',
    { columns: ['bb', 'c'], rows: [[null, 1]] },
    'bb  c\n-   1\n',
  ],
  ['an empty text as empty', { columns: ['a', 'b'], rows: [['', 'x']] }, 'a  b\n   x\n'],
  ['a list as JSON', { columns: ['a'], rows: [[['x', 1]]] }, 'a\n["x",1]\n'],
  ['two lines as one', { columns: ['a'], rows: [['x\ny']] }, 'a\nx\\ny\n'],
  [
    'records with each field uncut and escaped on its own line',
    { asRecords: true, columns: ['id', '名前', 'bad\nkey'], rows: [[5, HOSTILE, ''], [6]] },
    `id        5\n名前      ${HOSTILE_ESCAPED}\nbad\\nkey\n\nid        6\n名前      -\nbad\\nkey  -\n`,
  ],
];

describe.each(WHERE)('a table in %s', (_where, terminal) => {
  it.each(CASES)('has %s', async (_case, options, expected) => {
    expect(await tableText({ ...options, terminal })).toBe(expected);
  });

  it('paints headers, ids, times, states and missing values, and keeps the columns aligned', async () => {
    const columns = ['id', 'status', 'created_on', 'name'];
    const rows = [
      [7, 'PENDING', '2025', 'é日.ova'],
      [12, 'FAILED', null, 'x'],
    ];
    const { text } = await shown({ columns, rows, terminal: colored(terminal) });
    expect(text.replaceAll('\u001b', '')).toBe(
      '[2mid[22m  [2mstatus[22m   [2mcreated_on[22m  [2mname[22m\n' +
        ' [36m7[39m  [33mPENDING[39m  [2m2025[22m        é日.ova\n' +
        '[36m12[39m  [31mFAILED[39m   [2m-[22m           x\n',
    );
  });
});

it('a table in a pipe shows a wide cell in full without padding the others to its width', async () => {
  const wide = 'x'.repeat(2_000);
  const rows = [
    [wide, 1],
    ['y', 2],
  ];
  const expected = `${wide}  1\ny${' '.repeat(999)}  2\n`;
  expect(await tableText({ columns: ['a', 'b'], rows, header: false })).toBe(expected);
});

it('a table in a pipe shows any rows in full, escaped and one per line', async () => {
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

  const full = 'id 4, name 44, folder 8, data_store 10, updated_on 16';
  const named = (id: number): Partial<TableOptions> => ({ rows: [[id, ...row.slice(1)]] });
  const title = 'a_long_name_of_a_column';
  const titled = { columns: [title, 'name'], rows: [['x'.repeat(40), 'y'.repeat(40)]] };
  const states = { columns: ['state', 'name'], rows: [['s'.repeat(30), 'y'.repeat(40)]] };
  const narrow = { columns: ['id', 'name'], rows: [[12345, 'x'.repeat(9)]] };

  it.each<[number, string, string[], Partial<TableOptions>]>([
    [90, full, [], {}],
    [89, 'id 4, name 44, folder 8, updated_on 16', ['data_store'], {}],
    [77, 'id 4, name 44, updated_on 16', ['folder', 'data_store'], {}],
    [60, 'id 4, name 36, updated_on 16', ['folder', 'data_store'], {}],
    [40, 'id 4, name 16, updated_on 16', ['folder', 'data_store'], {}],
    [39, 'records', [], {}],
    [41, 'id 5, name 16, updated_on 16', ['folder', 'data_store'], named(12345)],
    [40, 'records', [], named(12345)],
    [16, 'id 5, name 9', [], narrow],
    [70, 'id 4, name 24, folder 8, data_store 10, updated_on 16', [], { mayDrop: false }],
    [61, 'records', [], { mayDrop: false }],
    [41, `${title} 23, name 16`, [], titled],
    [40, 'records', [], titled],
    [50, 'state 30, name 18', [], states],
    [20, full, [], { trunc: false }],
  ])('shows at %i columns: %s, hidden: %j (%j)', async (width, widths, hidden, options) => {
    expect(await widthsAt(width, options)).toEqual({ widths, hidden });
  });

  it('is cut in the middle of names, and keeps 8 cells of their start', async () => {
    const rows = [[1, 'debian-12-server-cloudimg-amd64-20231111.ova', '2026-11-22 19:32']];
    const table = { columns: ['id', 'name', 'updated_on'], rows, header: false };
    expect(await tableText({ ...table, terminal: terminalOf(40) })).toBe(
      '1  debian-1…231111.ova  2026-11-22 19:32\n',
    );
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
    [true, '┌────┬────────────┐', '├────┼────────────┤', '│', '└────┴────────────┘'],
    [false, '+----+------------+', '+----+------------+', '|', '+----+------------+'],
  ])('is drawn on a terminal (unicode: %s)', async (unicode, top, middle, bar, bottom) => {
    const table = { columns: ['id', 'name'], rows: [[7, 'debian.ova']], boxed: true };
    const head = '| id | name       |'.replaceAll('|', bar);
    const row = '|  7 | debian.ova |'.replaceAll('|', bar);
    const lines = [top, head, middle, row, bottom];
    expect((await shown({ ...table, terminal: terminalOf(80, unicode) })).lines).toEqual(lines);
    const painted = await shown({ ...table, terminal: colored(terminalOf(80, unicode)) });
    expect(painted.lines[0]).toBe(top);
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
});
