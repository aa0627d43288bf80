// One record in every format.

import { describe, expect, it } from 'vitest';
import { type Format, type RecordOptions, writeRecord } from '../../src/output/writers.ts';
import { MemorySink, PIPE } from '../support/memory-sink.ts';

const RECORD = { id: 41, status: 'PENDING', errors: [], created_on: 'x' };

async function show(format: Format, options: Partial<RecordOptions> = {}): Promise<string> {
  const sink = new MemorySink();
  await writeRecord({ sink, terminal: PIPE, format, ...options }, RECORD);
  return sink.text;
}

describe('writeRecord', () => {
  it.each([
    ['table', 'id          41\nstatus      PENDING\nerrors      []\ncreated_on  x\n'],
    ['json', `${JSON.stringify(RECORD, null, 2)}\n`],
    ['ndjson', `${JSON.stringify(RECORD)}\n`],
    ['yaml', 'id: 41\nstatus: PENDING\nerrors: []\ncreated_on: x\n'],
    ['csv', 'id,status,errors,created_on\r\n41,PENDING,[],x\r\n'],
    ['tsv', 'id\tstatus\terrors\tcreated_on\n41\tPENDING\t[]\tx\n'],
  ] as const)('writes %s', async (format, expected) => {
    expect(await show(format)).toBe(expected);
  });

  it.each([
    ['table', 'status  PENDING\nlabel   -\n'],
    ['json', '{\n  "status": "PENDING",\n  "label": null\n}\n'],
    ['ndjson', '{"status":"PENDING","label":null}\n'],
    ['csv', 'status,label\r\nPENDING,\r\n'],
  ] as const)('writes %s with selected columns', async (format, expected) => {
    expect(await show(format, { columns: ['status', 'label'], allFields: false })).toBe(expected);
  });

  it.each([
    ['table', '41\n'],
    ['json', '[\n  41\n]\n'],
  ] as const)('writes the identifier as %s', async (format, expected) => {
    expect(await show(format, { quiet: true })).toBe(expected);
  });

  it.each([
    ['table', 'id          41\ncreated_on  <x>\n'],
    ['ndjson', '{"id":41,"status":"PENDING","errors":[],"created_on":"<x>"}\n'],
  ] as const)('writes %s with formatted times', async (format, expected) => {
    const times = { fields: ['created_on'], format: (text: string) => `<${text}>` };
    expect(await show(format, { columns: ['id', 'created_on'], times })).toBe(expected);
  });

  it('writes bold names with colour', async () => {
    const terminal = { ...PIPE, color: true };
    expect(await show('table', { terminal, columns: ['id'] })).toBe('\u001b[1mid\u001b[22m  41\n');
  });
});
