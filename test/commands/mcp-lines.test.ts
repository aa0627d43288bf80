// The sink that keeps the first lines.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineSink } from '../../src/commands/mcp.ts';

it('LineSink > counts all lines and keeps the first, however they are cut', async () => {
  const lines = fc.array(
    fc.string().map((text) => text.replaceAll('\n', '')),
    { maxLength: 20 },
  );
  const size = fc.integer({ min: 0, max: 25 });
  await fc.assert(
    fc.asyncProperty(lines, size, fc.integer({ min: 1, max: 9 }), async (all, limit, step) => {
      const bytes = Buffer.from(all.map((line) => `${line}\n`).join(''));
      const sink = new LineSink(limit);
      for (let at = 0; at < bytes.length; at += step)
        await sink.write(bytes.subarray(at, at + step));
      expect(sink.count).toBe(all.length);
      expect(sink.lines).toEqual(all.slice(0, limit));
    }),
  );
});
