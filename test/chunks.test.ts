import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ReadArguments, readChunks, readFileChunks } from '../src/chunks.ts';
import { temporaryDirectory } from './support/io.ts';

const BYTES = randomBytes(100);

/** A file of 100 bytes, read at most 7 at a time, and not from `broken` on. */
function source(broken = Number.POSITIVE_INFINITY) {
  const read = async (...[to, at, length, from]: ReadArguments) => {
    await wait(0);
    if (from >= broken) throw new Error('broken');
    return { bytesRead: BYTES.subarray(from, from + Math.min(length, 7)).copy(to, at) };
  };
  return { read };
}

async function collect(chunks: AsyncIterable<Buffer>) {
  const copies: Buffer[] = [];
  for await (const chunk of chunks) {
    const copy = Buffer.from(chunk);
    // The next chunk arrives meanwhile.
    await wait(5);
    expect(chunk.equals(copy)).toBe(true);
    copies.push(copy);
  }
  return copies;
}

it.each([
  { start: 0, end: 100, sizes: [30, 30, 30, 10] },
  { start: 0, end: 60, sizes: [30, 30] },
  { start: 99, end: 100, sizes: [1] },
  { start: 13, end: 75, sizes: [30, 30, 2] },
  { start: 50, end: 200, sizes: [30, 20] },
  { start: 20, end: 20, sizes: [] },
  { start: 300, end: 400, sizes: [] },
])('reads from $start to $end in chunks of $sizes', async ({ start, end, sizes }) => {
  const chunks = await collect(readChunks(source(), start, end, 30));
  expect(chunks.map(({ length }) => length)).toEqual(sizes);
  expect(Buffer.concat(chunks).equals(BYTES.subarray(start, end))).toBe(true);
});

it('fails at the chunk that cannot be read', async () => {
  const chunks = readChunks(source(60), 0, 100, 30);
  expect((await chunks.next()).value?.length).toBe(30);
  // Its failure waits here, unhandled by anyone.
  await wait(50);
  expect((await chunks.next()).value?.length).toBe(30);
  await wait(50);
  await expect(chunks.next()).rejects.toThrow('broken');
});

it('forgets a failure behind the last chunk that was wanted', async () => {
  for await (const chunk of readChunks(source(30), 0, 100, 30)) {
    expect(chunk.length).toBe(30);
    await wait(50);
    break;
  }
});

it('reads a part of a file', async () => {
  const file = path.join(temporaryDirectory(), 'file');
  writeFileSync(file, BYTES);
  expect(
    Buffer.concat(await collect(readFileChunks(file, 3, 90))).equals(BYTES.subarray(3, 90)),
  ).toBe(true);
  expect(Buffer.concat(await collect(readFileChunks(file))).equals(BYTES)).toBe(true);
  await expect(collect(readFileChunks(`${file}0`))).rejects.toMatchObject({ code: 'ENOENT' });
});
