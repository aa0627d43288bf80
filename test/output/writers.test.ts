// Lists and records in every format; csv is parsed by a small reader that shares nothing with the writer.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advice } from '../../src/facts.ts';
import type { Sink } from '../../src/io.ts';
import type { Column, Row } from '../../src/output/columns.ts';
import { FORMAT_NAMES, type Format } from '../../src/output/formats.ts';
import { Output, type OutputOptions } from '../../src/output/output.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { listWriter } from '../../src/output/writers.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';
import { anyText, HOSTILE, RAW_HARM } from './hostile.ts';

const ROWS: readonly Row[] = [
  { id: 7, name: 'debian.ova', folder: 'debian', public: true, later: { x: 1 } },
  { id: 12, name: 'a,b.ova', folder: null },
];
/** As the service sends it, and as programs read it. */
const SENT = '2018-07-18 Wed 15:36:49 EDT';
const SHOWN = '2018-07-18T19:36:49Z';

interface ListCase extends OutputOptions {
  readonly rows?: readonly Row[];
  readonly metaText?: unknown;
  readonly names?: readonly string[];
  readonly only?: string;
  readonly isOne?: boolean;
  readonly sink?: Sink;
  readonly terminal?: Terminal;
}

function outputOf(
  format: Format,
  { names = ['name', 'folder', 'id'], only, ...options }: ListCase,
) {
  const known = [...new Set([...names, ...(only === undefined ? [] : [only])])];
  const columns = known.map((name): Column => {
    const computed = name === 'computed' ? { value: () => null } : {};
    const looks = { isId: name === only, isTime: name === 'at' };
    return { name, type: '', meaning: '', ...looks, ...computed };
  });
  const run = { format, quiet: only !== undefined, time: () => undefined, now: () => 0 };
  return new Output(columns, options, run);
}

async function list(format: Format, given: ListCase = {}) {
  const {
    rows = ROWS,
    metaText,
    isOne,
    sink = new MemorySink(),
    terminal = PIPE,
    ...options
  } = given;
  const place = { sink, terminal: () => terminal, footer: () => {} };
  const writer = listWriter(outputOf(format, options), place, isOne);
  await writer.write(rows);
  await writer.end(metaText);
  return sink instanceof MemorySink ? sink.text : '';
}

describe('listWriter', () => {
  const chosen = ['later', 'id'];
  const selected = { names: chosen, columns: chosen, rows: ROWS.slice(0, 1) };
  const timed = { names: ['at', 'gone', 'x'], rows: [{ at: SENT, gone: null, x: 'x' }] };
  const empty = { rows: [] };
  const odd = [JSON.parse('{"__proto__": "mine", "id": 1}') as Row];
  const names = ['id', 'toString', '__proto__'];
  const inherited = { names, columns: names, rows: odd };
  const computed = { names: ['computed'], columns: ['computed'], rows: [{ computed: 'sent' }] };

  it.each<[Format, string, ListCase]>([
    ['table', 'name        folder  id\ndebian.ova  debian   7\na,b.ova     -       12\n', {}],
    ['csv', 'name,folder,id\r\ndebian.ova,debian,7\r\n"a,b.ova",,12\r\n', {}],
    ['tsv', 'name\tfolder\tid\ndebian.ova\tdebian\t7\na,b.ova\t\t12\n', {}],
    ['ndjson', ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''), {}],
    ['yaml', '- id: 7\n  x:\n    - "y"\n', { rows: [{ id: 7, x: ['y'] }] }],
    ['table', '', empty],
    ['ndjson', '', empty],
    ['yaml', '[]\n', empty],
    ['csv', 'name,folder,id\r\n', empty],
    ['ndjson', '{"later":{"x":1},"id":7}\n', selected],
    ['csv', 'later,id\r\n"{""x"":1}",7\r\n', selected],
    ['table', 'debian.ova  debian   7\na,b.ova     -       12\n', { header: false }],
    ['table', 'debian.ova\na,b.ova\n', { only: 'name' }],
    ['csv', 'a,b\n', { urls: true, rows: [{ url: 'a,b' }] }],
    ['table', 'so\u00adft a\n', { only: 'name', rows: [{ name: 'so\u00adft\na' }] }],
    ['csv', `at,gone,x\r\n${SHOWN},,x\r\n`, timed],
    ['ndjson', `{"at":"${SHOWN}","gone":null,"x":"x"}\n`, timed],
    ['yaml', 'data:\n  - 7\n  - 12\nmeta:\n  "n": 1\n', { only: 'id', metaText: { n: 1 } }],
    ['ndjson', '{"id":1,"toString":null,"__proto__":"mine"}\n', inherited],
    ['ndjson', '{"computed":null}\n', computed],
  ])('writes %s as %j with the options %j', async (format, expected, options) => {
    expect(await list(format, options)).toBe(expected);
  });

  it('writes the bytes of JSON.stringify', async () => {
    const value = fc.oneof(fc.integer(), fc.constant([]), fc.constant({}), fc.constant(null));
    const row = fc.dictionary(fc.constantFrom('id', 'name', '[]', '{', '\n'), fc.array(value));
    const rows = fc.array(row, { maxLength: 4 });
    const property = fc.asyncProperty(rows, fc.option(row), async (data, meta) => {
      const written = await list('json', { rows: data, metaText: meta ?? undefined });
      expect(written).toBe(`${JSON.stringify(meta ? { data, meta } : data, null, 2)}\n`);
    });
    await fc.assert(property);
  });

  it('writes ndjson with each page, and other formats at the end', async () => {
    for (const format of FORMAT_NAMES) {
      const sink = new MemorySink();
      const place = { sink, terminal: () => PIPE, footer: () => {} };
      const writer = listWriter(outputOf(format, { names: ['id'] }), place);
      await writer.write(ROWS);
      expect({ format, pieces: sink.pieces.length }).toEqual({
        format,
        pieces: format === 'ndjson' ? 1 : 0,
      });
      await writer.end();
      expect({ format, pieces: sink.pieces.length }).toEqual({ format, pieces: 1 });
    }
  });

  const PLACES = FORMAT_NAMES.map((format): [Format, Terminal] => [format, PIPE]);
  PLACES.push(['table', terminalOf(80)]);
  it.each(PLACES)('ends a long list as %s if the sink refuses more', async (format, terminal) => {
    const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `ubuntu-${id}.ova` }));
    let chunks = 0;
    let isInterrupted = false;
    const write = async () => {
      if (isInterrupted) throw new Error('interrupted');
      chunks += 1;
      if (chunks === 1) setImmediate(() => setImmediate(() => (isInterrupted = true)));
    };
    const sink = { isTTY: terminal !== PIPE, columns: terminal.width, write };
    const listing = list(format, { sink, terminal, names: ['id', 'name'], rows });
    await expect(listing).rejects.toThrow('interrupted');
    expect(chunks).toBeLessThan(4);
  });
});

/** Writes one row of cells without a header. */
async function delimited(format: 'csv' | 'tsv', cells: readonly unknown[], onTerminal = false) {
  const sink = new MemorySink(onTerminal ? 80 : undefined);
  const names = cells.map((_, index) => `${index}`);
  await list(format, { sink, names, header: false, rows: [Object.fromEntries(cells.entries())] });
  return sink.text;
}

/** Reads one row by RFC 4180; text that breaks its rules gives other cells. */
function readCsv(text: string): string[] {
  const cells = text.replace(/\r\n$/, ',').matchAll(/("(?:[^"]|"")*"|[^",\r\n]*),/g);
  return [...cells].map(([, cell = '']) => cell.replace(/^"|"$/g, '').replaceAll('""', '"'));
}

describe('a row', () => {
  const BYTE_ORDER = "'\ufeff=1,'\ufeff\ufeff@x,\ufeffa";
  it.each<[string, unknown[], string]>([
    ['null and missing', ['a', null, undefined, true], 'a,,,true'],
    ['a list', [['x', null]], '"[""x"",null]"'],
    ['one empty cell', [null], '""'],
    ['formulas', ['=A1,"B"', '+1', '-1', '@A1', '\t=1'], '"\'=A1,""B""",\'+1,\'-1,\'@A1,\'\t=1'],
    ['formulas after a line break', ['\r=1', '\n=1'], '"\'\r=1","\'\n=1"'],
    ['full-width formulas', ['＝1', '＋1', '－1', '＠A1'], "'＝1,'＋1,'－1,'＠A1"],
    ['byte order marks', ['\ufeff=1', '\ufeff\ufeff@x', '\ufeffa'], BYTE_ORDER],
    ['negative numbers', [-5, -0.5], '-5,-0.5'],
    ['exact values', [HOSTILE], `"'${HOSTILE.replaceAll('"', '""')}"`],
  ])('as csv has %s', async (_case, row, expected) => {
    expect(await delimited('csv', row)).toBe(`${expected}\r\n`);
  });

  it('as csv parses to the same cells, as tsv has as many, and both are escaped on a terminal', async () => {
    const cell = fc.oneof(anyText(), fc.constant(null), fc.integer());
    const row = fc.array(cell, { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(row, async (cells) => {
      const expected = cells.map((value) => {
        const isFormula = typeof value === 'string' && /^\ufeff*[=+\-@\t\r\n＝＋－＠]/.test(value);
        return `${isFormula ? "'" : ''}${value ?? ''}`;
      });
      expect(readCsv(await delimited('csv', cells))).toEqual(expected);
      expect((await delimited('csv', cells, true)).slice(0, -2)).not.toMatch(RAW_HARM);
      const tsv = (await delimited('tsv', cells, true)).slice(0, -1).split('\t');
      expect(tsv).toHaveLength(cells.length);
      for (const text of tsv) expect(text).not.toMatch(RAW_HARM);
    });
    await fc.assert(property);
  });

  it.each<[string, unknown[], string, boolean]>([
    ['spaces for tab, CR and LF', ['a\tb\rc\nd\r\ne'], 'a b c d  e', false],
    ['quotes, commas and formulas unchanged', ['"a",b', '=1+1', -5], '"a",b\t=1+1\t-5', false],
    ['a map as JSON', [{ a: 'x\ty' }], '{"a":"x\\ty"}', false],
    ['exact values in a file', ['\u001b[31m\u202e\t'], '\u001b[31m\u202e ', false],
    ['escapes on a terminal', ['\u001b[31m\u202e\t', '😀'], '\\u001b[31m\\u202e \t😀', true],
  ])('as tsv has %s', async (_case, row, expected, onTerminal) => {
    expect(await delimited('tsv', row, onTerminal)).toBe(`${expected}\n`);
  });
});

const RECORD = { id: 41, status: 'PENDING', errors: [], at: SENT };
const CHOSEN = { names: ['status', 'label'], columns: ['status', 'label'] };

it.each<[Format, string, ListCase]>([
  ['table', `id      41\nstatus  PENDING\nerrors  []\nat      ${SENT}\n`, { time: 'raw' }],
  ['json', `${JSON.stringify({ ...RECORD, at: SHOWN }, null, 2)}\n`, {}],
  ['yaml', `id: 41\nstatus: PENDING\nerrors: []\nat: "${SENT}"\n`, { time: 'raw' }],
  ['csv', `id,status,errors,at\r\n41,PENDING,[],${SHOWN}\r\n`, {}],
  ['table', 'status  PENDING\nlabel   -\n', CHOSEN],
  ['csv', 'status,label\r\nPENDING,\r\n', CHOSEN],
  ['table', '41\n', { only: 'id' }],
  ['json', '[\n  41\n]\n', { only: 'id' }],
  ['ndjson', `{"id":41,"status":"PENDING","errors":[],"at":"${SHOWN}"}\n`, {}],
])('listWriter writes one record as %s as %j with the options %j', async (...row) => {
  const [format, expected, options] = row;
  const record = { rows: [RECORD], isOne: true, names: Object.keys(RECORD) };
  expect(await list(format, { ...record, ...options })).toBe(expected);
});

it('listWriter writes records of a table one after the other', async () => {
  const options = { asRecords: true, omitsMissing: true, rows: ROWS };
  expect(await list('table', options)).toBe(
    'name    debian.ova\nfolder  debian\nid      7\n\nname  a,b.ova\nid    12\n',
  );
  const dash = { ...options, names: ['name', 'folder'], rows: [{ name: '-', folder: null }] };
  expect(await list('table', dash)).toBe('name  -\n');
  const own = { shown: [], names: [], asRecords: true, rows: [{ disk: 1 }, { 'disk 2': 'x' }] };
  expect(await list('table', own)).toBe('disk  1\n\ndisk 2  x\n');
});

it('listWriter says how many rows have no value, however many items of a list are null', async () => {
  const rows = [{ x: [null, 'a', null, null] }, { x: ['b'] }];
  const noValue = (options: ListCase, facts: string) =>
    expect(list('table', { names: ['x'], get: 'x', rows, ...options })).rejects.toMatchObject({
      ...{ code: 'not-found', message: '1 of 2 results have no x', facts: advice(facts) },
    });
  await noValue({}, 'omit --get to see all fields');
  await noValue({ trunc: true }, 'use -c x -o tsv --no-header');
});

it('listWriter writes a table for each value of a column, with aligned columns', async () => {
  const rows = [
    { id: 1, x: 'b' },
    { id: 2, x: 'a' },
    { id: 300, x: 'b' },
  ];
  const options = { rows, names: ['id', 'x'], shown: ['id'], groupBy: 'x' };
  expect(await list('table', options)).toBe('b\n id\n  1\n300\n\na\n id\n  2\n');
  expect(await list('csv', { ...options, lineColumns: ['id', 'x'] })).toBe(
    'id,x\r\n1,b\r\n2,a\r\n300,b\r\n',
  );
});
