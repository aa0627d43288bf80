// Reads a file and computes digests of its regions, in a thread of its own if there is much to read.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';

export interface Region {
  readonly offset: number;
  readonly size: number;
  /** As Node names it, such as `sha256`. */
  readonly algorithm: string;
}

export interface ReadJob {
  /** To fill; in shared memory, see `sharedBuffer`. */
  readonly bytes: Buffer;
  /** In the file. */
  readonly position: number;
  /** Bytes at the beginning of these that were hashed before. */
  readonly hashed: number;
  readonly wantsMd5?: boolean;
}

export interface Filled {
  /** Less than wanted at the end of the file. */
  readonly length: number;
  /** Hexadecimal, of these bytes alone; empty if not wanted. */
  readonly md5: string;
}

/** Jobs are done in order, and hash each byte of the file once, without gaps. They reject with system errors. */
export interface Reader {
  /** Prepares for many jobs. */
  start(): void;
  read(job: ReadJob): Promise<Filled>;
  /** Returns the digest of each region in hexadecimal, after the last job. */
  digests(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starting a thread takes as long as hashing this many bytes. */
const MIN_FOR_THREAD = 32 * 2 ** 20;

export function createReader(handle: FileHandle, regions: readonly Region[], size: number): Reader {
  return size < MIN_FOR_THREAD ? readHere(handle, regions) : readInThread(handle, regions);
}

/** Returns memory that a thread can fill without a copy. */
export function sharedBuffer(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

function readHere(handle: FileHandle, regions: readonly Region[]): Reader {
  const hashes = regions.map(({ algorithm }) => createHash(algorithm));
  const fill = async ({ bytes, position, hashed, wantsMd5 }: ReadJob): Promise<Filled> => {
    let length = 0;
    for (let count = -1; count !== 0 && length < bytes.length; length += count) {
      const left = bytes.length - length;
      ({ bytesRead: count } = await handle.read(bytes, length, left, position + length));
    }
    for (const [index, { offset, size }] of regions.entries()) {
      const start = Math.max(offset - position, hashed);
      const end = Math.min(offset + size - position, length);
      if (start < end) hashes[index]?.update(bytes.subarray(start, end));
    }
    const part = bytes.subarray(0, length);
    return { length, md5: wantsMd5 ? createHash('md5').update(part).digest('hex') : '' };
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    start() {},
    read(job) {
      const next = last.then(() => fill(job));
      last = next.catch(() => {});
      return next;
    },
    digests: async () => hashes.map((hash) => hash.digest('hex')),
    async close() {
      await last;
    },
  };
}

/**
 * A text, because a bundle and an executable have no file for a thread to load. Bytes are sent while they are hashed:
 * only the next job changes them.
 */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const { readSync } = require('node:fs');
const { fd, regions } = workerData;
const hashes = regions.map(({ algorithm }) => createHash(algorithm));
const fill = (bytes, position) => {
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(fd, bytes, length, bytes.length - length, position + length);
  }
  return length;
};
parentPort.on('message', ({ bytes, position, hashed, wantsMd5 }) => {
  if (!bytes) return parentPort.postMessage(hashes.map((hash) => hash.digest('hex')));
  const length = fill(bytes, position);
  const part = bytes.subarray(0, length);
  const md5 = wantsMd5 ? createHash('md5').update(part).digest('hex') : '';
  parentPort.postMessage({ length, md5 });
  regions.forEach(({ offset, size }, index) => {
    const start = Math.max(offset - position, hashed);
    const end = Math.min(offset + size - position, length);
    if (start < end) hashes[index].update(bytes.subarray(start, end));
  });
});
`;

type Question = { resolve(answer: unknown): void; reject(error: unknown): void };

/** Answers come in the order of the questions. */
function readInThread({ fd }: FileHandle, regions: readonly Region[]): Reader {
  const questions: Question[] = [];
  const fail = (error: unknown) => {
    for (const question of questions.splice(0)) question.reject(error);
  };
  const create = async () => {
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker(THREAD, {
      ...{ eval: true, env: {}, execArgv: [] },
      workerData: { fd, regions },
    });
    worker.on('message', (answer: unknown) => questions.shift()?.resolve(answer));
    worker.on('error', fail);
    return worker;
  };
  let thread: Promise<Worker> | undefined;
  const start = () => {
    thread ??= create();
    thread.catch(fail);
  };
  const ask = <Answer>(job: object): Promise<Answer> => {
    const answer = new Promise<unknown>((resolve, reject) => questions.push({ resolve, reject }));
    start();
    thread?.then((worker) => worker.postMessage(job)).catch(fail);
    return answer as Promise<Answer>;
  };
  return {
    start,
    read: ask,
    digests: () => ask({}),
    async close() {
      // It may be reading from the file, which is closed next.
      await thread?.then((worker) => worker.terminate()).catch(() => {});
      fail(new Error('closed'));
    },
  };
}
