// Lists, values and records in every format.

import { describe, expect, it } from 'vitest';
import {
  createListWriter,
  createValueWriter,
  defaultTimeStyle,
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

async function list(
  format: Format,
  options: Partial<ListOptions> = {},
  rows: readonly Row[] = ROWS,
  meta?: unknown,
  sink = new MemorySink(),
): Promise<string> {
  const columns = ['name', 'folder', 'id'];
  const writer = createListWriter({ sink, terminal: () => PIPE, format, columns, ...options });
  for (const row of rows) await writer.write([row]);
  await writer.end(meta);
  return sink.text;
}

it('defaultTimeStyle is local for tables only', () => {
  expect(FORMATS.map(defaultTimeStyle)).toEqual(['local', ...Array(5).fill('wire')]);
});

describe('createListWriter', () => {
  it.each([
    ['table', 'name        folder  id\ndebian.ova  debian   7\na,b.ova     -       12\n'],
    ['csv', 'name,folder,id\r\ndebian.ova,debian,7\r\n"a,b.ova",,12\r\n'],
    ['tsv', 'name\tfolder\tid\ndebian.ova\tdebian\t7\na,b.ova\t\t12\n'],
    ['json', `${JSON.stringify(ROWS, null, 2)}\n`],
    ['ndjson', ROWS.map((row) => `${JSON.stringify(row)}\n`).join('')],
    [
      'yaml',
      '- "id": 7\n  "name": "debian.ova"\n  "folder": "debian"\n  "public": true\n  "later":\n    "x": 1\n' +
        '- "id": 12\n  "name": "a,b.ova"\n  "folder": null\n',
    ],
  ] as const)('writes %s', async (format, expected) => {
    expect(await list(format)).toBe(expected);
  });

  it.each([
    ['json', '[\n  {\n    "later": {\n      "x": 1\n    },\n    "id": 7\n  }\n]\n'],
    ['ndjson', '{"later":{"x":1},"id":7}\n'],
    ['yaml', '- "later":\n    "x": 1\n  "id": 7\n'],
    ['csv', 'later,id\r\n"{""x"":1}",7\r\n'],
    ['table', 'later    id\n{"x":1}   7\n'],
  ] as const)('writes %s with selected columns', async (format, expected) => {
    const options = { columns: ['later', 'id'], allFields: false };
    expect(await list(format, options, ROWS.slice(0, 1))).toBe(expected);
  });

  it('writes null for a missing field of any name', async () => {
    const options = { columns: ['id', 'label', 'toString', '__proto__'], allFields: false };
    expect(JSON.parse(await list('json', options, ROWS.slice(0, 1)))).toEqual(
      JSON.parse('[{"id": 7, "label": null, "toString": null, "__proto__": null}]'),
    );
    const row = JSON.parse('{"__proto__": "mine", "id": 1}') as Row;
    expect(await list('ndjson', options, [row])).toBe(
      '{"id":1,"label":null,"toString":null,"__proto__":"mine"}\n',
    );
  });

  it.each([
    ['table', '', '7\n12\n'],
    ['csv', 'name,folder,id\r\n', '7\n12\n'],
    ['tsv', 'name\tfolder\tid\n', '7\n12\n'],
    ['json', '[]\n', '[\n  7,\n  12\n]\n'],
    ['ndjson', '', '7\n12\n'],
    ['yaml', '[]\n', '- 7\n- 12\n'],
  ] as const)('writes %s without rows as %j and identifiers as %j', async (format, empty, ids) => {
    expect(await list(format, {}, [])).toBe(empty);
    expect(await list(format, { quiet: true })).toBe(ids);
  });

  it.each([
    ['table', 'debian.ova  debian   7\na,b.ova     -       12\n'],
    ['csv', 'debian.ova,debian,7\r\n"a,b.ova",,12\r\n'],
    ['tsv', 'debian.ova\tdebian\t7\na,b.ova\t\t12\n'],
  ] as const)('writes %s without header', async (format, expected) => {
    expect(await list(format, { header: false })).toBe(expected);
  });

  it('writes identifiers from another field', async () => {
    expect(await list('table', { quiet: true, idField: 'name' })).toBe('debian.ova\na,b.ova\n');
  });

  it('writes data and meta as two members', async () => {
    const meta = { count: 1 };
    expect(JSON.parse(await list('json', {}, ROWS, meta))).toEqual({ data: ROWS, meta });
    expect(await list('yaml', { quiet: true }, ROWS, meta)).toBe(
      '"data":\n  - 7\n  - 12\n"meta":\n  "count": 1\n',
    );
    expect(await list('csv', {}, [], meta)).toBe('name,folder,id\r\n');
  });

  it('formats time fields only', async () => {
    const times = { fields: ['at', 'gone'], format: (text: string) => `<${text}>` };
    const row = { id: 1, at: 'x', gone: null, name: 'x' };
    const options = { columns: ['at', 'name', 'gone'], times };
    expect(await list('csv', options, [row])).toBe('at,name,gone\r\n<x>,x,\r\n');
    expect(await list('ndjson', options, [row])).toBe(
      '{"id":1,"at":"<x>","gone":null,"name":"x"}\n',
    );
  });
});

describe('the sink of a list', () => {
  it('receives ndjson with each page, and other formats at the end', async () => {
    for (const format of FORMATS) {
      const sink = new MemorySink();
      const writer = createListWriter({ sink, terminal: () => PIPE, format, columns: ['id'] });
      await writer.write(ROWS);
      expect([format, sink.pieces.length]).toEqual([format, format === 'ndjson' ? 1 : 0]);
      await writer.end();
      expect([format, sink.pieces.length]).toEqual([format, 1]);
    }
  });

  it.each(['', 'x'])(
    'receives long texts in pieces of whole characters (%j first)',
    async (start) => {
      const name = start + '😀'.repeat(50_000);
      let isWriting = false;
      const pieces: string[] = [];
      const write = async (text: string) => {
        expect(isWriting).toBe(false);
        isWriting = true;
        await new Promise(setImmediate);
        isWriting = false;
        pieces.push(text);
      };
      const sink = { isTTY: false, columns: undefined, write };
      const writer = createListWriter({
        sink,
        terminal: () => PIPE,
        format: 'json',
        columns: ['name'],
      });
      await writer.write([{ name }]);
      await writer.end();
      expect(pieces.length).toBeGreaterThan(1);
      for (const piece of pieces) expect(piece).not.toMatch(/\p{Cs}/u);
      expect(JSON.parse(pieces.join(''))).toEqual([{ name }]);
    },
  );

  it('fails the writer if it fails', async () => {
    const gone = new Error('gone');
    const sink = { isTTY: false, columns: undefined, write: () => Promise.reject(gone) };
    const writer = createListWriter({
      sink,
      terminal: () => PIPE,
      format: 'ndjson',
      columns: ['id'],
    });
    await expect(writer.write(ROWS)).rejects.toBe(gone);
  });
});

describe('a list on a terminal', () => {
  const onScreen = { columns: ['name'], header: false, terminal: () => terminalOf(400) };
  const quoted = HOSTILE_ESCAPED.replaceAll('"', '\\"');

  it.each([
    ['table', `${HOSTILE_ESCAPED}\n`],
    ['csv', `"'${HOSTILE_ESCAPED.replaceAll('"', '""')}"\r\n`],
    ['tsv', `${HOSTILE_ESCAPED.replace('\\r\\n\\t', '   ')}\n`],
    ['json', `[\n  {\n    "name": "${quoted}"\n  }\n]\n`],
    ['ndjson', `{"name":"${quoted}"}\n`],
    ['yaml', `- "name": "${quoted}"\n`],
  ] as const)('shows a hostile name escaped in %s', async (format, expected) => {
    const rows = [{ name: HOSTILE }];
    expect(await list(format, onScreen, rows, undefined, new MemorySink(400))).toBe(expected);
  });

  it('has colours in a table only', async () => {
    const terminal = () => ({ ...PIPE, color: true });
    expect(await list('table', { terminal, columns: ['id'] })).toBe(
      '\u001b[2mid\u001b[22m\n \u001b[36m7\u001b[39m\n\u001b[36m12\u001b[39m\n',
    );
    for (const format of FORMATS.filter((name) => name !== 'table')) {
      expect(await list(format, { terminal })).toBe(await list(format));
    }
  });

  it('is drawn for the width at the end', async () => {
    let width = 200;
    const hidden: (readonly string[])[] = [];
    const sink = new MemorySink(200);
    const writer = createListWriter({
      sink,
      terminal: () => terminalOf(width),
      format: 'table',
      columns: ['id', 'name', 'folder'],
      footer: (names) => hidden.push(names),
    });
    await writer.write([1, 2].map((id) => ({ id, name: `${'x'.repeat(40)}${id}`, folder: 'f' })));
    width = 45;
    await writer.end();
    expect(sink.text).toBe(
      `id  name\n${[1, 2].map((id) => ` ${id}  ${'x'.repeat(40)}${id}\n`).join('')}`,
    );
    expect(hidden).toEqual([['folder']]);
  });
});

describe('createValueWriter', () => {
  const URLS = ['https://a.example/v2/image/1', 'https://a.example/v2/image/2\u001b[m'];

  it.each([
    ['table', 'https://a.example/v2/image/1\nhttps://a.example/v2/image/2\\u001b[m\n'],
    ['csv', 'url\r\nhttps://a.example/v2/image/1\r\nhttps://a.example/v2/image/2\u001b[m\r\n'],
    ['tsv', 'url\nhttps://a.example/v2/image/1\nhttps://a.example/v2/image/2\u001b[m\n'],
    ['json', `${JSON.stringify(URLS, null, 2)}\n`],
    ['ndjson', '"https://a.example/v2/image/1"\n"https://a.example/v2/image/2\\u001b[m"\n'],
    ['yaml', '- "https://a.example/v2/image/1"\n- "https://a.example/v2/image/2\\u001b[m"\n'],
  ] as const)('writes %s', async (format, expected) => {
    const sink = new MemorySink();
    const writer = createValueWriter('url', { sink, terminal: () => terminalOf(10), format });
    await writer.write(URLS);
    await writer.end();
    expect(sink.text).toBe(expected);
  });
});

describe('writeRecord', () => {
  const RECORD = { id: 41, status: 'PENDING', errors: [], created_on: 'x' };
  const COLUMNS = { columns: ['status', 'label'], allFields: false };
  const TIMES = {
    columns: ['id', 'created_on'],
    times: { fields: ['created_on'], format: (text: string) => `<${text}>` },
  };
  const COLOR = { terminal: () => ({ ...PIPE, color: true }), columns: ['id', 'status'] };

  it.each<[Format, string, Partial<RecordOptions>]>([
    ['table', 'id          41\nstatus      PENDING\nerrors      []\ncreated_on  x\n', {}],
    ['json', `${JSON.stringify(RECORD, null, 2)}\n`, {}],
    ['ndjson', `${JSON.stringify(RECORD)}\n`, {}],
    ['yaml', '"id": 41\n"status": "PENDING"\n"errors": []\n"created_on": "x"\n', {}],
    ['csv', 'id,status,errors,created_on\r\n41,PENDING,[],x\r\n', {}],
    ['tsv', 'id\tstatus\terrors\tcreated_on\n41\tPENDING\t[]\tx\n', {}],
    ['table', 'status  PENDING\nlabel   -\n', COLUMNS],
    ['json', '{\n  "status": "PENDING",\n  "label": null\n}\n', COLUMNS],
    ['csv', 'status,label\r\nPENDING,\r\n', COLUMNS],
    ['table', '41\n', { quiet: true }],
    ['json', '[\n  41\n]\n', { quiet: true }],
    ['table', 'id          41\ncreated_on  <x>\n', TIMES],
    ['ndjson', '{"id":41,"status":"PENDING","errors":[],"created_on":"<x>"}\n', TIMES],
    [
      'table',
      '\u001b[2mid\u001b[22m      \u001b[36m41\u001b[39m\n\u001b[2mstatus\u001b[22m  \u001b[33mPENDING\u001b[39m\n',
      COLOR,
    ],
  ])('writes as %s %j with the options %j', async (format, expected, options) => {
    const sink = new MemorySink();
    await writeRecord({ sink, terminal: () => PIPE, format, ...options }, RECORD);
    expect(sink.text).toBe(expected);
  });
});
