// csv and yaml as Python reads them (skipped without Python or PyYAML).

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createListWriter, type Format, type Row } from '../../src/output/writers.ts';
import { MemorySink, PIPE } from '../support/memory-sink.ts';
import { HOSTILE } from './hostile.ts';
import { TRAPS } from './yaml-traps.ts';

const NUMBERS = [0, -5, 1.5, 1e21, 1e-7, 123456789012, -2.5e30];
const ROWS: readonly Row[] = [
  ...TRAPS.map((name, index) => ({ id: index, name, folder: null, public: true })),
  { id: 1, ['k'.repeat(2_000)]: 1, ['"'.repeat(600)]: { a: [], b: 'x' }, [':'.repeat(1_500)]: [1] },
  ...NUMBERS.map((id) => ({ id, name: HOSTILE, tags: [['x'], {}, []], [HOSTILE]: { '=': '<<' } })),
];

/** Returns the JSON that a Python program prints for the rows in that format. */
async function askPython(format: Format, program: string): Promise<unknown> {
  const sink = new MemorySink();
  const columns = ['id', 'name', 'tags'];
  const writer = createListWriter({ sink, terminal: () => PIPE, format, columns });
  await writer.write(ROWS);
  await writer.end();
  const child = spawnSync('python3', ['-c', program], { input: sink.text, encoding: 'utf8' });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

function pythonCan(program: string): boolean {
  return spawnSync('python3', ['-c', program]).status === 0;
}

describe.skipIf(!pythonCan('pass'))('python3', () => {
  it('reads csv as the texts of the values, formulas with their apostrophe', async () => {
    const program =
      'import csv, json, sys, io\n' +
      'text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf8", newline="")\n' +
      'print(json.dumps(list(csv.reader(text))))';
    const text = (value: unknown) => {
      if (typeof value === 'object') return JSON.stringify(value);
      const cell = value === undefined ? '' : String(value);
      return typeof value === 'string' && /^[=+\-@\t\r\n]/.test(cell) ? `'${cell}` : cell;
    };
    expect(await askPython('csv', program)).toEqual([
      ['id', 'name', 'tags'],
      ...ROWS.map((row) => [text(row.id), text(row.name), text(row.tags)]),
    ]);
  });

  it.skipIf(!pythonCan('import yaml'))('reads yaml as the values', async () => {
    const program =
      'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin.buffer.read())))';
    expect(await askPython('yaml', program)).toEqual(ROWS);
  });
});
