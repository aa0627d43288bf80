// Lists, values and records in every format.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createListWriter,
  createValueWriter,
  FORMATS,
  type Format,
  type ListOptions,
  type RecordOptions,
  type Row,
  writeRecord,
} from '../../src/output/writers.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';
import { HOSTILE, HOSTILE_ESCAPED } from './hostile.ts';

const ROWS: readonly Row[] = [
  { id: 7, name: 'debian.ova', folder: 'debian', public: true, later: { x: 1 } },
  { id: 12, name: 'a,b.ova', folder: null },
];
const TIMES = { fields: ['at', 'gone'], format: (text: string) => `<${text}>` };

interface ListCase extends Partial<ListOptions> {
  readonly rows?: readonly Row[];
  readonly meta?: unknown;
}

async function list(format: Format, { rows = ROWS, meta, ...options }: ListCase = {}) {
  const sink = new MemorySink();
  const columns = ['name', 'folder', 'id'];
  const writer = createListWriter({ sink, terminal: () => PIPE, format, columns, ...options });
  await writer.write(rows);
  await writer.end(meta);
  return sink.text;
}

/** Returns a row for each of these formats. */
function rows(formats: readonly Format[], expected: string, options: ListCase) {
  return formats.map((format): [Format, string, ListCase] => [format, expected, options]);
}

describe('createListWriter', () => {
  const selected = { columns: ['later', 'id'], allFields: false, rows: ROWS.slice(0, 1) };
  const at = [{ at: 'x', gone: null, x: 'x' }];
  const timed = { columns: ['at', 'gone', 'x'], times: TIMES, rows: at };

  it.each<[Format, string, ListCase]>([
    ['table', 'name        folder  id\ndebian.ova  debian   7\na,b.ova     -       12\n', {}],
    ['csv', 'name,folder,id\r\ndebian.ova,debian,7\r\n"a,b.ova",,12\r\n', {}],
    ['tsv', 'name\tfolder\tid\ndebian.ova\tdebian\t7\na,b.ova\t\t12\n', {}],
    ['json', `${JSON.stringify(ROWS, null, 2)}\n`, {}],
    ['ndjson', ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''), {}],
    ['yaml', '- "id": 7\n  "x":\n    - "y"\n', { rows: [{ id: 7, x: ['y'] }] }],
    ...rows(['table', 'ndjson'], '', { rows: [] }),
    ...rows(['json', 'yaml'], '[]\n', { rows: [] }),
    ['csv', 'name,folder,id\r\n', { rows: [] }],
    ...rows(['table', 'ndjson', 'csv', 'tsv'], '7\n12\n', { quiet: true }),
    ['json', '[\n  7,\n  12\n]\n', { quiet: true }],
    ['ndjson', '{"later":{"x":1},"id":7}\n', selected],
    ['yaml', '- "later":\n    "x": 1\n  "id": 7\n', selected],
    ['csv', 'later,id\r\n"{""x"":1}",7\r\n', selected],
    ['table', 'debian.ova  debian   7\na,b.ova     -       12\n', { header: false }],
    ['tsv', 'debian.ova\tdebian\t7\na,b.ova\t\t12\n', { header: false }],
    ['table', 'debian.ova\na,b.ova\n', { quiet: true, idField: 'name' }],
    ['csv', 'at,gone,x\r\n<x>,,x\r\n', timed],
    ['ndjson', '{"at":"<x>","gone":null,"x":"x"}\n', timed],
    ['yaml', '"data":\n  - 7\n  - 12\n"meta":\n  "n": 1\n', { quiet: true, meta: { n: 1 } }],
    ['json', '7\n12\n', { get: 'id' }],
  ])('writes %s as %j with the options %j', async (format, expected, options) => {
    expect(await list(format, options)).toBe(expected);
  });

  it('writes null for a missing field of any name', async () => {
    const columns = ['id', 'toString', '__proto__'];
    const rows = [JSON.parse('{"__proto__": "mine", "id": 1}') as Row];
    const line = '{"id":1,"toString":null,"__proto__":"mine"}\n';
    expect(await list('ndjson', { columns, allFields: false, rows })).toBe(line);
  });

  it('writes the bytes of JSON.stringify', async () => {
    const value = fc.oneof(fc.integer(), fc.constant([]), fc.constant({}), fc.constant(null));
    const row = fc.dictionary(fc.constantFrom('id', 'name', '[]', '{', '\n'), fc.array(value));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 4 }), row, async (data, meta) => {
        expect(await list('json', { rows: data })).toBe(`${JSON.stringify(data, null, 2)}\n`);
        const both = `${JSON.stringify({ data, meta }, null, 2)}\n`;
        expect(await list('json', { rows: data, meta })).toBe(both);
      }),
    );
  });

  it('writes ndjson with each page, and other formats at the end', async () => {
    for (const format of FORMATS) {
      const sink = new MemorySink();
      const writer = createListWriter({ sink, terminal: () => PIPE, format, columns: ['id'] });
      await writer.write(ROWS);
      expect([format, sink.pieces.length]).toEqual([format, format === 'ndjson' ? 1 : 0]);
      await writer.end();
      expect([format, sink.pieces.length]).toEqual([format, 1]);
    }
  });

  const everywhere = FORMATS.map((format) => [format, PIPE] as const);
  it.each([...everywhere, ['table', terminalOf(80)] as const])(
    'ends a long list as %s if the sink refuses more',
    async (format, terminal) => {
      const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `ubuntu-${id}.ova` }));
      let chunks = 0;
      let isInterrupted = false;
      const write = async () => {
        if (isInterrupted) throw new Error('interrupted');
        chunks += 1;
        if (chunks === 1) setImmediate(() => setImmediate(() => (isInterrupted = true)));
      };
      const sink = { isTTY: terminal !== PIPE, columns: terminal.width, write };
      const listing = list(format, { sink, terminal: () => terminal, rows });
      await expect(listing).rejects.toThrow('interrupted');
      expect(chunks).toBeLessThan(4);
    },
  );
});

describe('a list on a terminal', () => {
  const quoted = HOSTILE_ESCAPED.replaceAll('"', '\\"');

  it.each([
    ['table', `${HOSTILE_ESCAPED}\n`],
    ['csv', `"'${HOSTILE_ESCAPED.replaceAll('"', '""')}"\r\n`],
    ['tsv', `${HOSTILE_ESCAPED.replace('\\r\\n\\t', '   ')}\n`],
    ['json', `[\n  {\n    "name": "${quoted}"\n  }\n]\n`],
    ['ndjson', `{"name":"${quoted}"}\n`],
    ['yaml', `- "name": "${quoted}"\n`],
  ] as const)('shows a hostile name escaped in %s', async (format, expected) => {
    const sink = new MemorySink(400);
    const options = { sink, terminal: () => terminalOf(400), columns: ['name'], header: false };
    await list(format, { ...options, rows: [{ name: HOSTILE }] });
    expect(sink.text).toBe(expected);
  });
});

it('createValueWriter writes values alone, or with a header', async () => {
  for (const [format, expected] of [
    ['table', 'https://a.example/2\\u001b[m\n'],
    ['csv', 'url\r\nhttps://a.example/2\u001b[m\r\n'],
    ['json', '[\n  "https://a.example/2\\u001b[m"\n]\n'],
  ] as const) {
    const sink = new MemorySink();
    const writer = createValueWriter('url', { sink, terminal: () => terminalOf(10), format });
    await writer.write(['https://a.example/2\u001b[m']);
    await writer.end();
    expect(sink.text).toBe(expected);
  }
});

const RECORD = { id: 41, status: 'PENDING', errors: [], at: 'x' };
const COLUMNS = { columns: ['status', 'label'], allFields: false };

it.each<[Format, string, Partial<RecordOptions>]>([
  ['table', 'id      41\nstatus  PENDING\nerrors  []\nat      x\n', {}],
  ['json', `${JSON.stringify(RECORD, null, 2)}\n`, {}],
  ['yaml', '"id": 41\n"status": "PENDING"\n"errors": []\n"at": "x"\n', {}],
  ['csv', 'id,status,errors,at\r\n41,PENDING,[],x\r\n', {}],
  ['table', 'status  PENDING\nlabel   -\n', COLUMNS],
  ['csv', 'status,label\r\nPENDING,\r\n', COLUMNS],
  ['table', '41\n', { quiet: true }],
  ['table', 'id  41\nat  <x>\n', { columns: ['id', 'at'], times: TIMES }],
  ['ndjson', '{"id":41,"status":"PENDING","errors":[],"at":"<x>"}\n', { times: TIMES }],
])('writeRecord writes %s as %j with the options %j', async (format, expected, options) => {
  const sink = new MemorySink();
  await writeRecord({ sink, terminal: () => PIPE, format, ...options }, RECORD);
  expect(sink.text).toBe(expected);
});
