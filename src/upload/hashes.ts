// Computes digests of regions of a file while it is read, in a thread of its own if there is much to hash.

import { createHash, type Hash } from 'node:crypto';
import type { Worker } from 'node:worker_threads';

export interface Region {
  readonly offset: number;
  readonly size: number;
  /** As Node names it, such as `sha256`. */
  readonly algorithm: string;
}

export interface Hasher {
  /**
   * Adds the bytes at a position; calls must be in order and without gaps. The bytes must stay unchanged until
   * the promise resolves.
   */
  update(bytes: Uint8Array, position: number): Promise<void>;
  /** Returns the MD5 of these bytes alone, in hexadecimal. */
  md5(bytes: Uint8Array): Promise<string>;
  /** Returns the digest of each region in hexadecimal, after the last update. */
  digests(): Promise<string[]>;
  close(): void;
}

/** Starting a thread takes as long as hashing this many bytes. */
const MIN_FOR_THREAD = 32 * 2 ** 20;

export function createHasher(regions: readonly Region[], bytes: number): Hasher {
  return bytes < MIN_FOR_THREAD ? hashHere(regions) : hashInThread(regions);
}

function hashHere(regions: readonly Region[]): Hasher {
  const hashes: Hash[] = regions.map(({ algorithm }) => createHash(algorithm));
  return {
    async update(bytes, position) {
      for (const [index, { offset, size }] of regions.entries()) {
        const start = Math.max(offset - position, 0);
        const end = Math.min(offset + size - position, bytes.length);
        if (start < end) hashes[index]?.update(bytes.subarray(start, end));
      }
    },
    md5: async (bytes) => createHash('md5').update(bytes).digest('hex'),
    digests: async () => hashes.map((hash) => hash.digest('hex')),
    close() {},
  };
}

/** A text, because a bundle and an executable have no file for a thread to load. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const hashes = workerData.map(({ algorithm }) => createHash(algorithm));
parentPort.on('message', ({ bytes, position }) => {
  if (!bytes) return parentPort.postMessage(hashes.map((hash) => hash.digest('hex')));
  if (position === undefined) {
    return parentPort.postMessage(createHash('md5').update(bytes).digest('hex'));
  }
  workerData.forEach(({ offset, size }, index) => {
    const start = Math.max(offset - position, 0);
    const end = Math.min(offset + size - position, bytes.length);
    if (start < end) hashes[index].update(bytes.subarray(start, end));
  });
  parentPort.postMessage(undefined);
});
`;

type Job = { resolve(result: unknown): void; reject(error: unknown): void };

/** Answers come in the order of the questions. Bytes in shared memory are not copied. */
function hashInThread(regions: readonly Region[]): Hasher {
  const jobs: Job[] = [];
  let thread: Promise<Worker> | undefined;
  const start = async () => {
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker(THREAD, { eval: true, workerData: regions, env: {}, execArgv: [] });
    worker.on('message', (result: unknown) => jobs.shift()?.resolve(result));
    worker.on('error', (error) => {
      for (const job of jobs.splice(0)) job.reject(error);
    });
    return worker;
  };
  const ask = <Result>(message: object): Promise<Result> => {
    thread ??= start();
    const answer = new Promise<unknown>((resolve, reject) => jobs.push({ resolve, reject }));
    thread.then((worker) => worker.postMessage(message), jobs.at(-1)?.reject);
    return answer as Promise<Result>;
  };
  return {
    update: (bytes, position) => ask({ bytes, position }),
    md5: (bytes) => ask({ bytes }),
    digests: () => ask({}),
    close() {
      for (const job of jobs.splice(0)) job.reject(new Error('closed'));
      void thread?.then((worker) => worker.terminate());
    },
  };
}
