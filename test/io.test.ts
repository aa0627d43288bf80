// The real Io: what its sinks do beyond passing text on.

import { describe, expect, it } from 'vitest';
import { afterWrites, environmentOf } from '../src/io.ts';
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

describe('environmentOf', () => {
  const env = { imgctl_password: 'a', NODE_TLS_REJECT_UNAUTHORIZED: '0' };

  it('finds names of any case on Windows only', () => {
    const windows = environmentOf({ env: { ...env }, platform: 'win32' });
    expect(windows).toEqual({ IMGCTL_PASSWORD: 'a', NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    const linux = environmentOf({ env: { ...env }, platform: 'linux' });
    expect(linux).toEqual(env);
  });

  it('hides NODE_TLS_REJECT_UNAUTHORIZED from Node', () => {
    const own = { ...env };
    environmentOf({ env: own, platform: 'linux' });
    expect(own).toEqual({ imgctl_password: 'a' });
  });
});
