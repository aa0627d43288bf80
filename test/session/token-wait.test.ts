// --wait-for-token: waits for the end of the token request limit.

import { describe, expect, it } from 'vitest';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { sessionWith, startService } from './harness.ts';

/** A service whose one token request is used up. Its clock is that of the machine, and waits take no time. */
async function usedUp(patience: string | undefined) {
  const io = fakeIo({ env: { IMGCTL_PASSWORD: 'demo' }, time: Date.now() });
  const service = await startService({ tokenLimit: 1, now: io.now });
  const stored = { username: 'demo', ...(patience && { 'wait-for-token': patience }) };
  const directory = temporaryDirectory();
  const open = (folder = directory) =>
    sessionWith(service.emulator.baseUrl, folder, io.env, io, stored);
  const first = await open();
  await first.client.serviceRoot();
  const limit = first.cache.readLimit(io.now());
  service.emulator.expireTokens();
  return { ...service, io, open, first, window: (limit?.resetsAt ?? 0) - io.now() };
}

describe('--wait-for-token', () => {
  it('waits until the limit ends, then requests a token', async () => {
    const { first, io, tokenRequests, window } = await usedUp('5m');
    const before = io.now();
    await first.client.serviceRoot();
    expect(tokenRequests()).toBe(2);
    // The clock of the test moves only by waits.
    expect(io.now() - before).toBe(window);
    expect(first.notes).toEqual([
      expect.stringMatching(/^token request limit reached; waiting 1 min( \d+ s)?$/),
    ]);
  });

  it('also waits if only the service knows the limit', async () => {
    const { open, io, tokenRequests } = await usedUp('5m');
    const before = io.now();
    const other = await open(temporaryDirectory());
    await other.client.serviceRoot();
    expect(io.now()).toBeGreaterThan(before);
    // The second one was refused.
    expect(tokenRequests()).toBe(3);
  });

  it('uses the token that another process gets meanwhile', async () => {
    const { first, io, tokenRequests } = await usedUp('5m');
    const { store } = first;
    const sleep = io.sleep;
    let waits = 0;
    io.sleep = async (milliseconds, signal) => {
      waits += 1;
      if (waits === 3) {
        await store.write({ token: 'T', receivedAt: io.now(), expiresAt: io.now() + 3_600_000 });
      }
      return sleep(milliseconds, signal);
    };
    expect(await first.tokens?.renew((await first.tokens?.current()) ?? '', true)).toBe('T');
    expect(waits).toBe(3);
    expect(tokenRequests()).toBe(1);
  });

  it('does not wait for a limit that ends later', async () => {
    const { first, io, tokenRequests } = await usedUp('30s');
    const before = io.now();
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'rate-limited' });
    expect([io.now() - before, tokenRequests(), first.notes]).toEqual([0, 1, []]);
  });

  it('is off by default', async () => {
    const { first, tokenRequests } = await usedUp(undefined);
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'rate-limited' });
    expect([tokenRequests(), first.notes]).toEqual([1, []]);
  });

  it('ends at an interrupt', async () => {
    const { first, io } = await usedUp('5m');
    const sleep = io.sleep;
    io.sleep = async (milliseconds, signal) => {
      io.interrupt();
      return sleep(milliseconds, signal);
    };
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'interrupted' });
  });
});
