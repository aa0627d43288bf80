// Long texts and lists in pieces: the same bytes, and an event loop that turns meanwhile.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkWriter, inPieces, MAX_PIECE } from '../../src/output/text.ts';
import { createListWriter, FORMATS, type Format, type Row } from '../../src/output/writers.ts';
import { MemorySink, PIPE, textOf } from '../support/memory-sink.ts';

/** Runs the work; `onTurn` is called at each turn of the event loop. */
async function watchTurns(work: () => Promise<void>, onTurn: () => void): Promise<void> {
  let isDone = false;
  const next = () => {
    onTurn();
    if (!isDone) setImmediate(next);
  };
  setImmediate(next);
  await work();
  isDone = true;
}

async function writeList(format: Format, rows: readonly Row[]): Promise<void> {
  const columns = ['id', 'name'];
  const writer = createListWriter({
    sink: new MemorySink(80),
    terminal: () => PIPE,
    format,
    columns,
  });
  await writer.write(rows);
  await writer.end();
}

const LONG: Readonly<Record<string, string>> = {
  letters: 'a'.repeat(1e6),
  quotes: '"'.repeat(2e5),
  emoji: '😀'.repeat(5e5),
  families: '👩‍👩‍👧'.repeat(1e5),
};

describe.each(FORMATS)('a list as %s', (format) => {
  it('lets the event loop turn often while its rows are formatted', async () => {
    let formatted = 0;
    let most = 0;
    const rows = Array.from({ length: 10_000 }, (_, id) => ({
      id,
      get name() {
        formatted += 1;
        return `ubuntu-${id}.ova`.repeat(6);
      },
    }));
    await watchTurns(
      () => writeList(format, rows),
      () => {
        most = Math.max(most, formatted);
        formatted = 0;
      },
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(3_000);
  });
});

describe.each(['table', 'csv', 'tsv'] as const)('a long cell as %s', (format) => {
  // A table takes ASCII as it is.
  const letters = format === 'table' ? [] : ['letters'];
  it.each([...letters, 'emoji', 'families'])('is formatted piece by piece: %s', async (kind) => {
    let turns = 0;
    await watchTurns(
      () => writeList(format, [{ id: 1, name: LONG[kind] }]),
      () => {
        turns += 1;
      },
    );
    const pieces = (LONG[kind]?.length ?? 0) / MAX_PIECE;
    // Writing alone takes a turn per piece.
    expect(turns).toBeGreaterThan(1.5 * pieces);
  });
});

describe('json of a list', () => {
  it('has the bytes of JSON.stringify', async () => {
    const write = async (rows: readonly Row[], meta?: Row) => {
      const sink = new MemorySink();
      const writer = createListWriter({
        sink,
        terminal: () => PIPE,
        format: 'json',
        columns: ['id'],
      });
      await writer.write(rows);
      await writer.end(meta);
      return sink.text;
    };
    const value = fc.oneof(fc.integer(), fc.constant([]), fc.constant({}), fc.constant(null));
    const row = fc.dictionary(fc.constantFrom('id', 'name', '[]', '{'), fc.array(value));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 4 }), row, async (data, meta) => {
        expect(await write(data)).toBe(`${JSON.stringify(data, null, 2)}\n`);
        expect(await write(data, meta)).toBe(`${JSON.stringify({ data, meta }, null, 2)}\n`);
      }),
    );
  });
});

describe('ChunkWriter', () => {
  it('writes once for many short texts, and in order', async () => {
    const sink = new MemorySink();
    const out = new ChunkWriter(sink, (chunk) => chunk.toUpperCase());
    for (const text of ['a', 'b', 'c']) expect(out.add(text)).toBeUndefined();
    await out.end();
    expect(sink.pieces).toEqual(['ABC']);
  });

  it('writes nothing without text', async () => {
    const sink = new MemorySink();
    await new ChunkWriter(sink).end();
    expect(sink.pieces).toEqual([]);
  });

  it('writes every text whole', async () => {
    const texts = Object.values(LONG);
    const written = await textOf(async (out) => {
      for (const text of texts) await out.add(text);
    });
    expect(written === texts.join('')).toBe(true);
  });
});

describe('inPieces', () => {
  it('changes a short text at once', () => {
    expect(inPieces('abc', (text) => text.toUpperCase())).toBe('ABC');
  });

  it.each(Object.keys(LONG))('changes a long text like a short one: %s', async (kind) => {
    const text = `x${LONG[kind]}`;
    const change = (piece: string) => piece.replace(/[^x]/gu, (point) => `<${point.length}>`);
    expect((await inPieces(text, change)) === change(text)).toBe(true);
  });
});
