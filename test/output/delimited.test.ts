// csv and tsv, parsed by a small reader that shares nothing with the writer.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createListWriter } from '../../src/output/writers.ts';
import { MemorySink, PIPE } from '../support/memory-sink.ts';
import { anyText, HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from './hostile.ts';

type Rows = readonly (readonly unknown[])[];

/** Writes rows, which may have different numbers of cells, without a header. */
async function delimited(format: 'csv' | 'tsv', rows: Rows, onTerminal: boolean): Promise<string> {
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

const csvText = (rows: Rows, onTerminal: boolean) => delimited('csv', rows, onTerminal);
const tsvText = (rows: Rows, onTerminal: boolean) => delimited('tsv', rows, onTerminal);

/** RFC 4180; a line that breaks its rules gives other cells. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    rows.at(-1)?.push(cell.replace(/^"|"$/g, '').replaceAll('""', '"'));
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

describe('a list as csv', () => {
  it.each([
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
      'byte order marks before a formula',
      ['\ufeff=1', '\ufeff\ufeff@x'],
      "'\ufeff=1,'\ufeff\ufeff@x",
    ],
    ['a byte order mark before text', ['\ufeffa=1'], '\ufeffa=1'],
    ['negative numbers', [-5, -0.5], '-5,-0.5'],
  ])('writes %s', async (_case, row, expected) => {
    expect(await csvText([row], false)).toBe(`${expected}\r\n`);
  });

  it('writes exact values to a file and escapes them on a terminal', async () => {
    const quoted = (text: string) => `"'${text.replaceAll('"', '""')}"\r\n`;
    expect(await csvText([[HOSTILE]], false)).toBe(quoted(HOSTILE));
    expect(await csvText([[HOSTILE]], true)).toBe(quoted(HOSTILE_ESCAPED));
  });

  it('parses to the same cells, formulas with their apostrophe', async () => {
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
        expect(readCsv(await csvText(cells, false))).toEqual(expected);
      }),
    );
  });

  it('writes one harmless line per row on a terminal', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(anyText(), { minLength: 1 })), async (cells) => {
        const lines = (await csvText(cells, true)).split('\r\n');
        expect(lines).toHaveLength(cells.length + 1);
        for (const line of lines) expect(line).not.toMatch(RAW_HARM);
      }),
    );
  });
});

describe('a list as tsv', () => {
  it.each([
    ['plain', ['a', 1, true, null], 'a\t1\ttrue\t'],
    ['tab, CR and LF', ['a\tb\rc\nd\r\ne'], 'a b c d  e'],
    ['quotes and commas unchanged', ['"a",b'], '"a",b'],
    ['formulas unchanged', ['=1+1', -5], '=1+1\t-5'],
    ['a map', [{ a: 'x\ty' }], '{"a":"x\\ty"}'],
  ])('writes %s', async (_case, row, expected) => {
    expect(await tsvText([row], false)).toBe(`${expected}\n`);
  });

  it('escapes on a terminal only', async () => {
    expect(await tsvText([['\u001b[31m\u202e\t']], false)).toBe('\u001b[31m\u202e \n');
    expect(await tsvText([['\u001b[31m\u202e\t']], true)).toBe('\\u001b[31m\\u202e \n');
  });

  it('writes as many cells as given, and nothing harmful on a terminal', async () => {
    const rows = fc.array(fc.array(anyText(), { minLength: 2, maxLength: 2 }));
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), async (cells, onTerminal) => {
        const lines = (await tsvText(cells, onTerminal)).split('\n').slice(0, -1);
        expect(lines).toHaveLength(cells.length);
        for (const line of lines) {
          const read = line.split('\t');
          expect(read).toHaveLength(2);
          if (onTerminal) for (const cell of read) expect(cell).not.toMatch(RAW_HARM);
        }
      }),
    );
  });
});
