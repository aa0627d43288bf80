// The parts of an upload to S3: their digests, and the memory that they are read into.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { CHUNK, type Place } from './upload-file.ts';

/** The digests of a part: MD5 in hexadecimal, and CRC-32 as S3 writes it. */
export interface Digests {
  readonly md5: string;
  readonly crc: string;
}

/** Returns the ETag of an object of these parts. */
export function multipartTag(parts: readonly Digests[]): string {
  const bytes = Buffer.from(parts.map(({ md5 }) => md5).join(''), 'hex');
  return `${createHash('md5').update(bytes).digest('hex')}-${parts.length}`;
}

/** Yields the digests of each part; empty content is one part. */
export async function* digestsOf(
  chunks: AsyncIterable<Buffer>,
  partSize = Number.POSITIVE_INFINITY,
): AsyncGenerator<Digests> {
  let hash = createHash('md5');
  let crc = 0;
  let position = 0;
  const digests = (): Digests => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(crc);
    return { md5: hash.digest('hex'), crc: bytes.toString('base64') };
  };
  let count = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    crc = crc32(chunk, crc);
    position += chunk.length;
    if (position < partSize) continue;
    yield digests();
    count += 1;
    hash = createHash('md5');
    crc = 0;
    position = 0;
  }
  if (position > 0 || count === 0) yield digests();
}

/**
 * Returns buffers for parts, which are used again. A file is read into them from its beginning; after each part, the
 * buffer is taken, and released once it is sent. A part is read at once: each read costs CPU.
 * @param count maximum number of buffers
 * @param waitForRelease waits until one may have been released
 */
export function createBuffers(
  partSize: number,
  fileSize: number,
  count: number,
  waitForRelease: () => Promise<void>,
) {
  const free: Buffer[] = [];
  let created = 0;
  let current: Buffer | undefined;
  const place: Place = async (position, left) => {
    while (!current && free.length === 0 && created === count) await waitForRelease();
    current ??= free.pop();
    if (!current) {
      created += 1;
      current = Buffer.allocUnsafe(Math.min(partSize, fileSize));
    }
    const offset = position % partSize;
    return current.subarray(offset, offset + left);
  };
  return {
    place,
    take() {
      const taken = current;
      current = undefined;
      return taken;
    },
    release(buffer: Buffer | undefined) {
      if (buffer) free.push(buffer);
    },
  };
}

/** Yields the bytes in chunks, so that progress shows. */
export async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += CHUNK) {
    yield bytes.subarray(start, start + CHUNK);
  }
}
