// Reads a file in chunks, the next one while the last is used.

import { open } from 'node:fs/promises';

/** Larger reads fall out of the processor's cache before they are hashed. */
const READ_SIZE = 1024 * 1024;

/** Receives all bytes of a file in order. */
export interface ByteCheck {
  /** Needs the chunk until it ends; does not fail. */
  update(chunk: Buffer): void | Promise<void>;
  /** Returns what is wrong, or null. */
  end(): string | null | Promise<string | null>;
}

/** The buffer, the place in it, how many bytes at most, and from where in the file. */
export type ReadArguments = [to: Buffer, at: number, length: number, from: number];

/** A FileHandle, or its like. */
interface Source {
  read(...to: ReadArguments): Promise<{ bytesRead: number }>;
}

/**
 * Returns the bytes from `start` to `end`, or to the end of the file. All chunks but the last have
 * `length` bytes; each is valid until the next one is asked for.
 */
export async function* readChunks(
  source: Source,
  start: number,
  end: number,
  length: number,
): AsyncGenerator<Buffer> {
  const fill = async (memory: Buffer, position: number): Promise<Buffer> => {
    const chunk = memory.subarray(0, Math.max(0, end - position));
    for (let filled = 0; filled < chunk.length; ) {
      const rest = chunk.length - filled;
      const { bytesRead } = await source.read(chunk, filled, rest, position + filled);
      if (bytesRead === 0) return chunk.subarray(0, filled);
      filled += bytesRead;
    }
    return chunk;
  };
  if (start >= end) return;
  // A package may have many small files.
  const memory = Buffer.allocUnsafe(Math.min(2 * length, end - start));
  let [used, free] = [memory.subarray(0, length), memory.subarray(length)];
  for (let [position, next] = [start, fill(used, start)]; ; ) {
    const chunk = await next;
    if (chunk.length === 0) return;
    position += chunk.length;
    next = fill(free, position);
    // Its error is thrown when it is asked for, and nobody may ask.
    next.catch(() => undefined);
    [used, free] = [free, used];
    yield chunk;
  }
}

/** Returns the bytes of a file as `readChunks` does, in chunks that suit a hash. */
export async function* readFileChunks(
  path: string,
  start = 0,
  end?: number,
): AsyncGenerator<Buffer> {
  if (start === end) return;
  const handle = await open(path);
  try {
    yield* readChunks(handle, start, end ?? (await handle.stat()).size, READ_SIZE);
  } finally {
    await handle.close();
  }
}
