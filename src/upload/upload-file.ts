// A local file that is uploaded: a stream whose bytes are hashed as they pass, which notices changes.

import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';

/** A file to upload. */
export interface LocalFile {
  /** Without a folder. */
  readonly name: string;
  readonly path: string;
  /** What has a digest of its own, with the algorithm as Node names it, such as `sha256`. */
  readonly regions: readonly {
    readonly offset: number;
    readonly size: number;
    readonly algorithm: string;
  }[];
}

/** Small enough to see progress on a slow line. Parts of S3 are a multiple of it. */
const CHUNK = 256 * 1024;

export type UploadFile = Awaited<ReturnType<typeof openUploadFile>>;

/** Opens a file; every function throws ImgctlError `failed` if it is unreadable or has changed. */
export async function openUploadFile({ path, regions }: LocalFile, signal: AbortSignal) {
  const fail = (cause: unknown): never => {
    throw new ImgctlError('failed', `cannot read ${path}: ${errorReason(cause)}`, { cause });
  };
  const handle = await open(path).catch(fail);
  const { size, identity } = await factsOf(handle);
  let known: readonly string[] | undefined;

  /** Returns the bytes in chunks, each full but the last. */
  async function* read(start = 0, end = size): AsyncGenerator<Buffer> {
    for (let position = start; position < end; ) {
      signal.throwIfAborted();
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, end - position));
      for (let filled = 0; filled < chunk.length; ) {
        const { bytesRead } = await handle
          .read(chunk, filled, chunk.length - filled, position + filled)
          .catch(fail);
        if (bytesRead === 0) throw changedError(path);
        filled += bytesRead;
      }
      yield chunk;
      position += chunk.length;
    }
  }

  /** Returns all bytes and computes the digests meanwhile, from the beginning each time. */
  async function* readAll(): AsyncGenerator<Buffer> {
    const hashes = regions.map(({ algorithm }) => createHash(algorithm));
    let position = 0;
    for await (const chunk of read()) {
      for (const [index, region] of regions.entries()) {
        const start = Math.max(region.offset - position, 0);
        const end = Math.min(region.offset + region.size - position, chunk.length);
        if (start < end) hashes[index]?.update(chunk.subarray(start, end));
      }
      yield chunk;
      position += chunk.length;
    }
    known = hashes.map((hash) => hash.digest('hex'));
  }

  return {
    size,
    /** Differs after every change of the file. */
    identity,
    read,
    readAll,
    /** Returns the digests of the regions in hexadecimal; reads the file unless `readAll` did. */
    async digests(): Promise<readonly string[]> {
      if (!known) for await (const _ of readAll());
      if ((await factsOf(handle)).identity !== identity) throw changedError(path);
      return known ?? [];
    },
    close: () => handle.close(),
  };
}

async function factsOf(handle: FileHandle) {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return { size: Number(size), identity: [dev, ino, size, mtimeNs, ctimeNs].join(':') };
}

export function changedError(path: string): ImgctlError {
  return new ImgctlError('failed', `${path} changed while it was uploaded`, {
    hint: 'wait until the file is complete, then run the command again',
  });
}
