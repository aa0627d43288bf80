// Waiting until an abort signal.

import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { atAbort, untilAborted } from '../src/abort.ts';

it('untilAborted settles like the work, or rejects at the abort, and forgets the signal', async () => {
  const abort = new AbortController();
  const reason = new Error('stop');
  const never = new Promise<never>(() => {});
  expect(await untilAborted(Promise.resolve(7), abort.signal)).toBe(7);
  await expect(untilAborted(Promise.reject(reason), abort.signal)).rejects.toBe(reason);
  await new Promise(setImmediate);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  const waiting = untilAborted(never, abort.signal);
  abort.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(untilAborted(never, abort.signal)).rejects.toBe(reason);
});

it('atAbort calls back once, unless it was told not to', () => {
  const abort = new AbortController();
  const calls: string[] = [];
  const forget = atAbort(abort.signal, () => calls.push('forgotten'));
  atAbort(abort.signal, () => calls.push('called'));
  forget();
  abort.abort();
  expect(calls).toEqual(['called']);
});
