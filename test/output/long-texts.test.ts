// Long texts and lists: the same bytes in chunks, with turns of the event loop between them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeText } from '../../src/output/text.ts';
import { createListWriter, FORMATS, type Row } from '../../src/output/writers.ts';
import { MemorySink, PIPE, terminalOf } from '../support/memory-sink.ts';

describe('writeText', () => {
  it('writes once for many short texts, and in order', async () => {
    const sink = new MemorySink();
    await writeText(sink, ['a', 'b', 'c']);
    expect(sink.pieces).toEqual(['abc']);
  });

  it('writes nothing without text', async () => {
    const sink = new MemorySink();
    await writeText(sink, []);
    expect(sink.pieces).toEqual([]);
  });

  it('writes the next chunk after the sink has accepted the one before', async () => {
    let isWriting = false;
    const pieces: string[] = [];
    const write = async (text: string) => {
      expect(isWriting).toBe(false);
      isWriting = true;
      await new Promise(setImmediate);
      isWriting = false;
      pieces.push(text);
    };
    const texts = Array.from({ length: 50_000 }, (_, index) => `${index} 😀\n`);
    await writeText({ isTTY: false, columns: undefined, write }, texts);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(texts.join(''));
  });
});

it.each([...FORMATS.map((format) => [format, PIPE] as const), ['table', terminalOf(80)] as const])(
  'a long list as %s ends between two chunks when the sink refuses more',
  async (format, terminal) => {
    const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, name: `ubuntu-${id}.ova` }));
    let isInterrupted = false;
    let chunks = 0;
    const write = async () => {
      if (isInterrupted) throw new Error('interrupted');
      chunks += 1;
      if (chunks === 1) setImmediate(() => setImmediate(() => (isInterrupted = true)));
    };
    const sink = { isTTY: terminal !== PIPE, columns: terminal.width, write };
    const options = { sink, terminal: () => terminal, format, columns: ['id', 'name'] };
    const print = async () => {
      const writer = createListWriter(options);
      await writer.write(rows);
      await writer.end();
    };
    await expect(print()).rejects.toThrow('interrupted');
    expect(chunks).toBeLessThan(4);
  },
);

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
    const row = fc.dictionary(fc.constantFrom('id', 'name', '[]', '{', '\n'), fc.array(value));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 4 }), row, async (data, meta) => {
        expect(await write(data)).toBe(`${JSON.stringify(data, null, 2)}\n`);
        expect(await write(data, meta)).toBe(`${JSON.stringify({ data, meta }, null, 2)}\n`);
      }),
    );
  });
});
