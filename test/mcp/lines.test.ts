// The sink that keeps one page of lines.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineSink } from '../../src/mcp/lines.ts';

it('LineSink > counts all lines and keeps a page, however they are cut', async () => {
  const lines = fc.array(
    fc.string().map((text) => text.replaceAll('\n', '')),
    { maxLength: 20 },
  );
  const size = fc.integer({ min: 0, max: 25 });
  await fc.assert(
    fc.asyncProperty(
      lines,
      size,
      size,
      fc.integer({ min: 1, max: 9 }),
      async (all, skip, keep, step) => {
        const bytes = Buffer.from(all.map((line) => `${line}\n`).join(''));
        const sink = new LineSink({ skip, keep });
        for (let at = 0; at < bytes.length; at += step)
          await sink.write(bytes.subarray(at, at + step));
        expect(sink.count).toBe(all.length);
        expect(sink.lines).toEqual(all.slice(skip, skip + keep));
      },
    ),
  );
});
