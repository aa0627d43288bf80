// Tables in a pipe and on a terminal, and records.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../src/output/columns.ts';
import { Output, type OutputOptions } from '../../src/output/output.ts';
import { writeTable } from '../../src/output/table.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { displayWidth } from '../../src/output/width.ts';
import { listWriter } from '../../src/output/writers.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

/** How the columns of these names look. */
const LOOKS: Record<string, Partial<Column>> = {
  id: { isId: true },
  created_on: { isTime: true },
  updated_on: { isTime: true, hides: 'if narrow' },
  state: { isState: true },
  status: { isState: true },
  token_state: { isState: true },
  data_store: { hides: 'first' },
  folder: { hides: 'second', distinguishes: 'name' },
};

/** `columns` has their names in one text. */
interface TableCase extends Omit<OutputOptions, 'columns'> {
  readonly columns: string;
  readonly rows?: readonly (readonly unknown[])[];
  readonly isChosen?: boolean;
  readonly asRecords?: boolean;
  readonly terminal?: Terminal;
}

/** Returns the table as text and as lines, and the hidden columns. */
async function shown({ columns, rows = [], terminal = PIPE, ...options }: TableCase) {
  const { isChosen = false, asRecords, ...rest } = options;
  const names = columns.split(' ');
  const all = names.map((name) => ({ name, type: '', meaning: '', ...LOOKS[name] }));
  const asked = { ...rest, columns: isChosen ? names : undefined, time: 'raw' } as const;
  const run = { format: 'table', quiet: false, time: () => undefined, now: () => 0 } as const;
  const output = new Output(all, asked, run);
  const records = rows.map((row) => {
    return Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]));
  });
  const sink = new MemorySink();
  const hidden = asRecords
    ? await listWriter(output, { sink, terminal: () => terminal, footer() {} }, true).write(records)
    : await writeTable(sink, output, records, terminal);
  return { text: sink.text, lines: sink.text.split('\n').slice(0, -1), hidden };
}

const colored = (terminal: Terminal): Terminal => ({ ...terminal, color: true });

describe.each([
  ['a pipe', PIPE],
  ['a terminal', terminalOf(80)],
])('a table in %s', (_where, terminal) => {
  it.each<[string, string, unknown[][], string]>([
    ['mixed values to the left', 'a', [[1], ['xx'], [true]], 'a\n1\nxx\ntrue\n'],
    ['numbers to the right', 'n', [[1], [null], [22]], ' n\n 1\n -\n22\n'],
    ['only missing values to the left', 'bb c', [[null, 1]], 'bb  c\n-   1\n'],
    ['an empty text as empty', 'a b', [['', 'x']], 'a  b\n   x\n'],
    ['two lines as one', 'a', [['x\ny']], 'a\nx\\ny\n'],
    ['columns aligned', 'id a b', [[12, '日本', 1]], 'id  a     b\n12  日本  1\n'],
  ])('has %s', async (_case, columns, rows, expected) => {
    expect((await shown({ columns, rows, terminal })).text).toBe(expected);
  });

  it('has records with each field uncut and escaped on its own line', async () => {
    const rows = [[5, HOSTILE, ''], [6]];
    const { text } = await shown({ columns: 'id 名前 bad\nkey', rows, terminal, asRecords: true });
    const first = `id        5\n名前      ${HOSTILE_ESCAPED}\nbad\\nkey\n`;
    expect(text).toBe(`${first}\nid        6\n名前      -\nbad\\nkey  -\n`);
  });

  it('paints headers, ids, times, states and missing values, and keeps the columns aligned', async () => {
    const rows = [
      [7, 'PENDING', '2025', 'é日.ova'],
      [12, 'FAILED', null, 'x'],
    ];
    const columns = 'id status created_on name';
    const { text } = await shown({ columns, rows, terminal: colored(terminal) });
    expect(text.replaceAll('\u001b', '')).toBe(
      '[2mid[22m  [2mstatus[22m   [2mcreated_on[22m  [2mname[22m\n' +
        ' [36m7[39m  [33mPENDING[39m  [2m2025[22m        é日.ova\n' +
        '[36m12[39m  [31mFAILED[39m   [2m-[22m           x\n',
    );
    const tokens = { columns: 'id token_state', rows: [[1, 'valid']] };
    expect((await shown({ ...tokens, terminal: colored(terminal) })).text).toContain('[32mvalid');
  });
});

it('a table in a pipe shows a wide cell in full without padding the others to its width', async () => {
  const wide = ['x'.repeat(2_000), 1];
  const { text } = await shown({ columns: 'a b', rows: [wide, ['y', 2]], header: false });
  expect(text).toBe(`${wide[0]}  1\ny${' '.repeat(999)}  2\n`);
});

it('a table shows any rows within the width, escaped and one per line', async () => {
  const value = fc.oneof(anyText(), fc.integer(), fc.constant(null), fc.boolean());
  const row = fc.array(value, { minLength: 3, maxLength: 3 });
  const rows = fc.array(row, { minLength: 1, maxLength: 5 });
  const width = fc.option(fc.integer({ min: 40, max: 100 }));
  const property = fc.asyncProperty(rows, width, fc.boolean(), async (all, cells, unicode) => {
    const terminal = cells === null ? PIPE : terminalOf(cells, unicode);
    const { lines } = await shown({ columns: 'id name folder', rows: all, terminal });
    for (const line of lines) expect(line).not.toMatch(RAW_HARM);
    if (cells === null) expect(lines).toHaveLength(all.length + 1);
    else if (lines.length === all.length + 1) {
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(cells);
    }
    for (const line of lines) expect(line).not.toMatch(/\s$/);
  });
  await fc.assert(property);
});

describe('a table that is wider than the terminal', () => {
  const columns = 'id name folder data_store updated_on';
  const rows = [[1234, 'x'.repeat(44), 'y'.repeat(8), 'z'.repeat(10), '2'.repeat(16)]];
  const full = 'id 4, name 44, folder 8, data_store 10, updated_on 16';
  const title = 'a_long_name_of_a_column';
  const titled = { columns: `${title} name`, rows: [['x'.repeat(40), 'y'.repeat(40)]] };
  const numbered = { columns: 'name n', rows: [['y'.repeat(40), 1.2345678901234568e-10]] };
  const states = { columns: 'state name', rows: [['s'.repeat(30), 'y'.repeat(40)]] };

  it.each<[number, string, string[], Partial<TableCase>]>([
    [90, full, [], {}],
    [89, 'id 4, name 44, folder 8, updated_on 16', ['data_store'], {}],
    [77, 'id 4, name 44, updated_on 16', ['folder', 'data_store'], {}],
    [64, 'id 4, name 40, updated_on 16', ['folder', 'data_store'], {}],
    [63, 'id 4, name 44', ['folder', 'data_store', 'updated_on'], {}],
    [40, 'id 4, name 34', ['folder', 'data_store', 'updated_on'], {}],
    [39, 'records', [], {}],
    [70, 'id 4, name 24, folder 8, data_store 10, updated_on 16', [], { isChosen: true }],
    [50, `${title} 24, name 24`, [], titled],
    [49, `${title} 40`, [], titled],
    [39, 'records', [], titled],
    [56, 'state 30, name 24', [], states],
    [45, 'name 21, n 22', [], numbered],
    [20, full, [], { trunc: false }],
    [60, 'records', [], { columns: 'folder', rows: [['y'.repeat(70)]] }],
  ])('shows at %i columns: %s, hidden: %j (%j)', async (width, widths, hidden, options) => {
    const terminal = terminalOf(width);
    const table = await shown({ columns, rows, terminal, ...options });
    const [names = [], cells = []] = table.lines.map((line) => line.trim().split(/ +/));
    const isTable = names.every((name) => (options.columns ?? columns).includes(name));
    const found = names.map((name, index) => `${name} ${cells[index]?.length}`).join(', ');
    const shape = { widths: isTable ? found : 'records', hidden: table.hidden };
    expect(shape).toEqual({ widths, hidden });
  });

  const UNVERIFIED = 'no manifest, so the files cannot be verified';
  const UNKNOWN = 'unknown encoding x-imgctl-of-another-kind';
  it.each([
    [
      ...(['a.ova', UNVERIFIED] as const),
      'a.ova  no manifest, so the files cannot be\n       verified\n       hint: make one\n',
    ],
    // It may take few cells, but no word is divided.
    [
      ...(['a'.repeat(20), UNVERIFIED] as const),
      `${'a'.repeat(20)}  ${['no manifest, so the', 'files cannot be', 'verified', 'hint: make one'].join(`\n${' '.repeat(22)}`)}\n`,
    ],
    [
      ...(['a'.repeat(20), UNKNOWN] as const),
      `${'a'.repeat(20)}\n    unknown encoding\n    x-imgctl-of-another-kind\n    hint: make one\n`,
    ],
    [
      ...(['a'.repeat(30), UNVERIFIED] as const),
      `${'a'.repeat(30)}\n    no manifest, so the files cannot be\n    verified\n    hint: make one\n`,
    ],
  ])('wraps its last column between words beside %s, or puts it below: %s', async (...row) => {
    const [place, message, expected] = row;
    const rows = [
      [place, message],
      ['', 'hint: make one'],
    ];
    const table = { columns: 'place message', rows, header: false, hasSentences: true };
    const { text } = await shown({ ...table, terminal: terminalOf(42) });
    expect(text).toBe(expected);
  });

  it('is cut in the middle of names, and keeps 8 cells of their start', async () => {
    const rows = [[1, 'debian-12-server-cloudimg-amd64-20231111.ova', '2026-11-22 19:32']];
    const table = { columns: 'id name created_on', rows, header: false };
    const { text } = await shown({ ...table, terminal: terminalOf(40) });
    expect(text).toBe('1  debian-1…231111.ova  2026-11-22 19:32\n');
  });
});

it.each([
  ['server', 'minimal', '20250501'],
  ['generic', 'genericcloud', '20250501'],
  // Numbers alone do not tell them apart.
  ['generic', 'genericcloud', '20250502'],
])('a table is cut where %s and %s can still be told apart', async (one, other, date) => {
  const time = '2026-11-22 19:32';
  const names = [`debian-12-${one}-amd64-20250501.ova`, `debian-12-${other}-amd64-${date}.ova`];
  const rows = names.map((name, id) => [id, name, time]);
  const table = { columns: 'id name created_on', rows, header: false };
  const { lines } = await shown({ ...table, terminal: terminalOf(44) });
  const cut = lines.map((line) => line.split(/ +/)[1]?.replace(/\d{3,}/, '#'));
  expect(new Set(cut).size).toBe(2);
});

it('records with wrapped texts break between words, and leave out what is missing', async () => {
  const rows = [['token', 'check it with: imgctl doctor --check-password', null]];
  const table = { columns: 'check hint place', rows, hasSentences: true, asRecords: true };
  const { text } = await shown({ ...table, terminal: terminalOf(30) });
  expect(text).toBe('check  token\nhint   check it with: imgctl\n       doctor --check-password\n');
});

it('a table that has no room for its last column puts it below each row that has one', async () => {
  const columns = 'id name updated_on before';
  const time = '2018-07-19 12:00';
  const rows = Array.from({ length: 60 }, (_, id) => [1_000 + id, 'b'.repeat(36), time, null]);
  rows[55] = [1_055, 'a.ova', time, `name: ${'x'.repeat(36)}`];
  const { lines, hidden } = await shown({ columns, rows, terminal: terminalOf(44) });
  expect({ count: lines.length, hidden }).toEqual({ count: 62, hidden: ['updated_on'] });
  const below = `    before: name: xxxxx…${'x'.repeat(20)}`;
  expect(lines.slice(56, 58)).toEqual(['1055  a.ova', below]);
});

it('a table has one header in any number of batches', async () => {
  const rows = Array.from({ length: 120 }, () => [7, 'debian.ova']);
  const { lines } = await shown({ columns: 'id name', rows, terminal: terminalOf(80) });
  expect(lines).toEqual(['id  name', ...rows.map(() => ' 7  debian.ova')]);
});
