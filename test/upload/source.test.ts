// Files that are uploaded, small ones and those that a thread reads: bytes, digests, retries and changes.

import { createHash } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { MIN_FOR_THREAD, prepareThread, sharedBuffer } from '../../src/upload/reader.ts';
import { Source } from '../../src/upload/source.ts';
import { temporaryDirectory } from '../support/io.ts';
import { bytesOf } from '../support/uploads.ts';

const MIB = 2 ** 20;
const digest = (algorithm: string, bytes: Buffer) =>
  createHash(algorithm).update(bytes).digest('hex');

describe.each([
  ['in this thread', 5 * MIB + 3],
  ['in a thread of its own', MIN_FOR_THREAD + 3],
])('a source that is read %s', (_where, size) => {
  const regions = [
    { offset: 1000, size: 2 * MIB, algorithm: 'sha1' },
    { offset: 3 * MIB, size: Number.POSITIVE_INFINITY, algorithm: 'sha256' },
  ];

  async function setUp() {
    const bytes = bytesOf(size, 'source');
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, bytes);
    const source = await Source.open(file, regions, new AbortController().signal);
    const expected = [
      digest('sha1', bytes.subarray(1000, 1000 + 2 * MIB)),
      digest('sha256', bytes.subarray(3 * MIB)),
    ];
    const readAll = async (start: number) => {
      const pieces: Buffer[] = [];
      for await (const piece of source.read(start)) pieces.push(Buffer.from(piece));
      return Buffer.concat(pieces).equals(bytes.subarray(start));
    };
    return { bytes, file, source, expected, readAll };
  }

  it('has the bytes from any position, and each region hashed once', async () => {
    const { source, readAll, expected } = await setUp();
    prepareThread();
    expect(await readAll(2 * MIB + 5)).toBe(true);
    expect(await readAll(0)).toBe(true);
    expect(await source.digests()).toEqual(expected);
    await source.close();
  });

  it('goes on after a reader that stopped', async () => {
    const { source, readAll, expected } = await setUp();
    for await (const piece of source.read()) if (piece.length > 0) break;
    expect(await readAll(MIB)).toBe(true);
    expect(await source.digests()).toEqual(expected);
    await source.close();
  });

  it('reads parts with their MD5', async () => {
    const { source, bytes, expected } = await setUp();
    const buffer = sharedBuffer(3 * MIB);
    for (let start = 0; start < size; start += buffer.length) {
      const part = await source.readPart(buffer, start);
      const wanted = bytes.subarray(start, start + buffer.length);
      expect(part.bytes.equals(wanted)).toBe(true);
      expect(part.md5).toBe(digest('md5', wanted));
    }
    expect(await source.digests()).toEqual(expected);
    await source.close();
  });

  it('fails if the file becomes shorter, and then reads another', async () => {
    const { source, file, readAll } = await setUp();
    truncateSync(file, MIB);
    await expect(readAll(0)).rejects.toThrow(`${file} changed while it was uploaded`);
    await source.close();
    const { source: next, expected } = await setUp();
    expect(await next.digests()).toEqual(expected);
    await next.close();
  });
});
