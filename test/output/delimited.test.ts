// csv and tsv, parsed by a small reader that shares nothing with the writer.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createListWriter } from '../../src/output/writers.ts';
import { MemorySink, PIPE } from '../support/memory-sink.ts';
import { anyText, HOSTILE, RAW_HARM } from './hostile.ts';

type Cells = readonly unknown[];

/** Writes rows, which may have different numbers of cells, without a header. */
async function delimited(format: 'csv' | 'tsv', rows: readonly Cells[], onTerminal = false) {
  const sink = new MemorySink(onTerminal ? 80 : undefined);
  for (const row of rows) {
    const columns = row.map((_, index) => `${index}`);
    const options = { sink, terminal: () => PIPE, format, columns, header: false };
    const writer = createListWriter(options);
    await writer.write([Object.fromEntries(row.entries())]);
    await writer.end();
  }
  return sink.text;
}

/** RFC 4180; a line that breaks its rules gives other cells. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    rows.at(-1)?.push(cell.replace(/^"|"$/g, '').replaceAll('""', '"'));
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

it.each<[string, Cells, string]>([
  ['plain', ['a', 1, true], 'a,1,true'],
  ['null and missing', ['a', null, undefined], 'a,,'],
  ['a comma', ['a,b'], '"a,b"'],
  ['a quote', ['a"b'], '"a""b"'],
  ['line breaks', ['a\nb\rc'], '"a\nb\rc"'],
  ['a list', [['x', null]], '"[""x"",null]"'],
  ['one empty cell', [null], '""'],
  ['a formula that needs quotes', ['=A1,"B"'], '"\'=A1,""B"""'],
  ['other beginnings of a formula', ['+1', '-1', '@x'], "'+1,'-1,'@x"],
  ['a tab and a line break before a formula', ['\t=1', '\r=1'], '\'\t=1,"\'\r=1"'],
  ['full-width signs', ['＝1', '＋1', '－1', '＠1'], "'＝1,'＋1,'－1,'＠1"],
  [
    'byte order marks',
    ['\ufeff=1', '\ufeff\ufeff@x', '\ufeffa'],
    "'\ufeff=1,'\ufeff\ufeff@x,\ufeffa",
  ],
  ['negative numbers', [-5, -0.5], '-5,-0.5'],
  ['exact values', [HOSTILE], `"'${HOSTILE.replaceAll('"', '""')}"`],
])('a list as csv has %s', async (_case, row, expected) => {
  expect(await delimited('csv', [row])).toBe(`${expected}\r\n`);
});

it('a list as csv parses to the same cells, and as tsv has as many, escaped on a terminal', async () => {
  const cell = fc.oneof(anyText(), fc.constant(null), fc.integer());
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }));
  await fc.assert(
    fc.asyncProperty(rows, async (cells) => {
      const expected = cells.map((row) =>
        row.map((value) => {
          if (typeof value !== 'string') return value === null ? '' : `${value}`;
          const first = value.replace(/^\ufeff+/, '').charAt(0) || 'x';
          return '=+-@\t\r\n＝＋－＠'.includes(first) ? `'${value}` : value;
        }),
      );
      expect(readCsv(await delimited('csv', cells))).toEqual(expected);
      const lines = (await delimited('csv', cells, true)).split('\r\n');
      expect(lines).toHaveLength(cells.length + 1);
      const tsv = (await delimited('tsv', cells, true)).split('\n').slice(0, -1);
      expect(tsv.map((line) => line.split('\t').length)).toEqual(cells.map((row) => row.length));
      for (const line of [...lines, ...tsv])
        expect(line.replaceAll('\t', '')).not.toMatch(RAW_HARM);
    }),
  );
});

it.each<[string, Cells, string, boolean]>([
  ['plain cells', ['a', 1, true, null], 'a\t1\ttrue\t', false],
  ['spaces for tab, CR and LF', ['a\tb\rc\nd\r\ne'], 'a b c d  e', false],
  ['quotes and commas unchanged', ['"a",b'], '"a",b', false],
  ['formulas unchanged', ['=1+1', -5], '=1+1\t-5', false],
  ['a map as JSON', [{ a: 'x\ty' }], '{"a":"x\\ty"}', false],
  ['exact values in a file', ['\u001b[31m\u202e\t'], '\u001b[31m\u202e ', false],
  ['escapes on a terminal', ['\u001b[31m\u202e\t', 'x'], '\\u001b[31m\\u202e \tx', true],
])('a list as tsv has %s', async (_case, row, expected, onTerminal) => {
  expect(await delimited('tsv', [row], onTerminal)).toBe(`${expected}\n`);
});
