// --limit-rate: what is sent in each second, by one upload, by several, and by a push to each kind of storage.

import { describe, expect, it } from 'vitest';
import { byteRate } from '../../src/config/values.ts';
import { rateLimit } from '../../src/upload/rate.ts';
import { failed, fakeIo, runCli } from '../support/io.ts';
import { uploadUser, writeOva } from '../support/uploads.ts';

it.each([
  ['10M', 10 * 2 ** 20],
  ['500k', 500 * 1024],
  ['1.5g', 1.5 * 2 ** 30],
  ['2048', 2048],
  ['1MiB', 2 ** 20],
  ['0', 0],
])('the rate %s is %i bytes per second', (text, bytes) => {
  expect(byteRate().parse(text, '--limit-rate')).toBe(bytes);
});

it.each([
  ['10', '--limit-rate must be at least 1k (got 10)'],
  ['0.4', '--limit-rate must be at least 1k (got 0.4)'],
  ['fast', 'invalid --limit-rate: fast'],
  ['10 M', 'invalid --limit-rate: 10 M'],
  ['-1M', 'invalid --limit-rate: -1M'],
])('the rate %s is refused with examples', async (rate, text) => {
  const hint = 'use bytes per second, such as 500k, 10M or 1G, or 0 for no limit';
  const result = await runCli(['push', 'x.ova', `--limit-rate=${rate}`]);
  expect(result).toEqual(failed(2, `imgctl: ${text}\nhint: ${hint}\n`));
});

/** Yields these bytes again and again from the same memory, as a file does. */
async function* chunksOf(size: number, count: number) {
  const chunk = Buffer.alloc(size);
  for (let index = 0; index < count; index += 1) yield chunk.fill(index);
}

describe('a limit of 1 MiB per second', () => {
  const RATE = 2 ** 20;
  const CHUNK = 256 * 1024;

  it('holds for two uploads together, in each second', async () => {
    const clock = fakeIo({ time: 0 });
    const limit = rateLimit(RATE, clock);
    const sent: number[] = [];
    const upload = async () => {
      for await (const { length } of limit(chunksOf(CHUNK, 10))) {
        const second = Math.floor(clock.now() / 1000);
        sent[second] = (sent[second] ?? 0) + length;
      }
    };
    // One after the other: two sleeps at once would move this clock twice.
    await upload();
    await upload();
    expect(sent).toHaveLength(5);
    for (const bytes of sent) expect(Math.abs(bytes / RATE - 1)).toBeLessThan(0.02);
  });

  it('catches up 200 ms after a delay, and no more', async () => {
    const clock = fakeIo({ time: 0 });
    const pieces = rateLimit(RATE, clock)(chunksOf(CHUNK, 40))[Symbol.asyncIterator]();
    await pieces.next();
    clock.advance(5_000);
    let bytes = 0;
    while (clock.now() < 6_000) bytes += (await pieces.next()).value?.length ?? 0;
    expect(bytes / RATE).toBeGreaterThan(1.19);
    expect(bytes / RATE).toBeLessThan(1.23);
  });

  it('keeps the bytes of a piece when its chunk is read again', async () => {
    const pieces: Uint8Array[] = [];
    const limit = rateLimit(RATE, fakeIo({ time: 0 }));
    for await (const piece of limit(chunksOf(CHUNK, 3))) pieces.push(piece);
    const expected = [0, 1, 2].map((byte) => Buffer.alloc(CHUNK, byte));
    expect(Buffer.concat(pieces).equals(Buffer.concat(expected))).toBe(true);
  });
});

describe('push with --limit-rate', () => {
  const SIZE = 200 * 1024;

  it.each([
    ['file', '--limit-rate 100k', {}],
    ['dav', '', { IMGCTL_LIMIT_RATE: '100k' }],
    ['s3', '--limit-rate 100k', {}],
  ] as const)('to %s takes as long as its bytes need: %s %j', async (kind, option, env) => {
    const user = await uploadUser(kind);
    const io = fakeIo({ env: { ...user.env, ...env }, time: Date.now() });
    const started = io.now();
    const line = `push ${writeOva(user.work, 'web', SIZE)} --no-sync ${option}`;
    const { exitCode } = await runCli(line.trim().split(' '), io);
    expect({ exitCode, stored: user.stored() }).toEqual({ exitCode: 0, stored: ['web.ova'] });
    const seconds = (io.now() - started) / 1000;
    expect(seconds).toBeGreaterThan(2);
    expect(seconds).toBeLessThan(3);
  });

  it('ends at Ctrl-C at once', async () => {
    const user = await uploadUser('dav');
    const io = fakeIo({ env: user.env });
    const line = `push ${writeOva(user.work, 'web', SIZE)} --no-sync --limit-rate 1k`;
    const ended = runCli(line.split(' '), io);
    await expect.poll(() => io.sleeps.length).toBeGreaterThan(2);
    io.interrupt();
    expect((await ended).exitCode).toBe(130);
    expect(user.stored()).not.toContain('web.ova');
  });
});
