// Files that are uploaded: their bytes, digests and changes.

import { createHash } from 'node:crypto';
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSource } from '../../src/upload/source.ts';
import { temporaryDirectory } from '../support/io.ts';
import { bytesOf } from '../support/uploads.ts';

const MIB = 2 ** 20;
const SIZE = 5 * MIB + 3;

const digest = (algorithm: string, bytes: Buffer) =>
  createHash(algorithm).update(bytes).digest('hex');

async function setUp(size = SIZE) {
  const bytes = bytesOf(size, 'source');
  const file = path.join(temporaryDirectory(), 'file');
  writeFileSync(file, bytes);
  const regions = [
    { offset: 1000, size: 2 * MIB, algorithm: 'sha1' },
    { offset: 3 * MIB, size: 2 * MIB + 3, algorithm: 'sha256' },
    { offset: 2 * MIB, size: 2 * MIB, algorithm: 'sha512' },
  ];
  const expected = regions.map(({ offset, size: length, algorithm }) =>
    digest(algorithm, bytes.subarray(offset, offset + length)),
  );
  const source = await openSource(file, regions, new AbortController().signal);
  return { bytes, file, source, expected };
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

describe('a source', () => {
  it.each([
    [SIZE, 0, SIZE],
    [SIZE, 2 * MIB + 5, SIZE],
    [SIZE, MIB, MIB + 7],
    [SIZE, SIZE, SIZE],
    [0, 0, 0],
  ])('of %i bytes has those from %i to %i', async (size, start, end) => {
    const { bytes, source } = await setUp(size);
    expect((await joined(source.read(start, end))).equals(bytes.subarray(start, end))).toBe(true);
    await source.close();
  });

  it('has the digests of its regions, whatever was read before', async () => {
    const { bytes, source, expected } = await setUp();
    for await (const chunk of source.readAll()) if (chunk.length > 0) break;
    await joined(source.read(MIB));
    expect(await source.digests()).toEqual(expected);
    expect((await joined(source.readAll())).equals(bytes)).toBe(true);
    expect(await source.digests()).toEqual(expected);
    await source.close();
  });

  it.each([
    ['shorter', (file: string) => truncateSync(file, MIB)],
    ['longer', (file: string) => appendFileSync(file, 'x')],
  ])('fails if the file becomes %s', async (_what, change) => {
    const { source, file } = await setUp();
    change(file);
    await expect(source.digests()).rejects.toThrow(`${file} changed while it was uploaded`);
    await source.close();
  });
});
