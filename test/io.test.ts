// The real Io: what its sinks do beyond passing text on.

import { expect, it } from 'vitest';
import { afterWrites } from '../src/io.ts';
import { MemorySink } from './support/memory-sink.ts';

it('afterWrites runs its action once, after that many writes', async () => {
  const sink = new MemorySink(undefined);
  let actions = 0;
  const wrapped = afterWrites(sink, 3, () => {
    actions += 1;
  });
  const seen: number[] = [];
  for (const text of ['a', 'b', 'c', 'd', 'e']) {
    await wrapped.write(text);
    seen.push(actions);
  }
  expect(seen).toEqual([0, 0, 1, 1, 1]);
  expect(sink.text).toBe('abcde');
});
