// Reads a file and computes digests of its regions, in a thread of its own if there is much to read.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import { crc32 } from 'node:zlib';

export interface Region {
  readonly offset: number;
  readonly size: number;
  /** As Node names it, such as `sha256`. */
  readonly algorithm: string;
}

interface ReadJob {
  /** To fill; in shared memory, see `sharedBuffer`. */
  readonly bytes: Buffer;
  /** In the file. */
  readonly position: number;
  /** Bytes at the beginning of these that were hashed before. */
  readonly hashed: number;
  /** The checksums of these bytes alone are wanted. */
  readonly isPart?: boolean;
}

export interface Checksums {
  /** Hexadecimal; empty if not wanted. */
  readonly md5: string;
  /** Unsigned; 0 if not wanted. */
  readonly crc32: number;
}

interface Filled extends Checksums {
  /** Less than wanted at the end of the file. */
  readonly length: number;
}

/** Jobs are done in order, and hash each byte of the file once, without gaps. They reject with system errors. */
export interface Reader {
  read(job: ReadJob): Promise<Filled>;
  /** Returns the digest of each region in hexadecimal, after the last job. */
  digests(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starting a thread takes as long as hashing this many bytes. */
export const MIN_FOR_THREAD = 32 * 2 ** 20;

export function createReader(handle: FileHandle, regions: readonly Region[], size: number): Reader {
  return size < MIN_FOR_THREAD ? readHere(handle, regions) : readInThread(handle, regions);
}

/** Returns memory that a thread can fill without a copy. */
export function sharedBuffer(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}

function readHere(handle: FileHandle, regions: readonly Region[]): Reader {
  const hashes = regions.map(({ algorithm }) => createHash(algorithm));
  const fill = async ({ bytes, position, hashed, isPart }: ReadJob): Promise<Filled> => {
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
    if (!isPart) return { length, md5: '', crc32: 0 };
    return { length, md5: createHash('md5').update(part).digest('hex'), crc32: crc32(part) };
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
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
const { parentPort } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const { readSync } = require('node:fs');
const { crc32 } = require('node:zlib');
let fd;
let regions;
let hashes;
const fill = (bytes, position) => {
  let length = 0;
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(fd, bytes, length, bytes.length - length, position + length);
  }
  return length;
};
parentPort.on('message', ({ file, bytes, position, hashed, isPart }) => {
  if (file) {
    ({ fd, regions } = file);
    hashes = regions.map(({ algorithm }) => createHash(algorithm));
    return;
  }
  if (!bytes) return parentPort.postMessage(hashes.map((hash) => hash.digest('hex')));
  const length = fill(bytes, position);
  const part = bytes.subarray(0, length);
  const md5 = isPart ? createHash('md5').update(part).digest('hex') : '';
  parentPort.postMessage({ length, md5, crc32: isPart ? crc32(part) : 0 });
  regions.forEach(({ offset, size }, index) => {
    const start = Math.max(offset - position, hashed);
    const end = Math.min(offset + size - position, length);
    if (start < end) hashes[index].update(bytes.subarray(start, end));
  });
});
`;

let spare: Promise<Worker> | undefined;

/** Starts a thread for the next file early, while other things are waited for. */
export function prepareThread(): void {
  spare ??= createThread();
  spare.catch(() => {});
}

async function createThread(): Promise<Worker> {
  const { Worker } = await import('node:worker_threads');
  const worker = new Worker(THREAD, { eval: true, env: {}, execArgv: [] });
  // The program may end without it, unless it waits for an answer.
  worker.on('error', () => {}).unref();
  return worker;
}

type Question = { resolve(answer: unknown): void; reject(error: unknown): void };

/** Answers come in the order of the questions. */
function readInThread({ fd }: FileHandle, regions: readonly Region[]): Reader {
  const questions: Question[] = [];
  let isReusable = true;
  const fail = (error: unknown) => {
    isReusable = false;
    for (const question of questions.splice(0)) question.reject(error);
  };
  const answer = (result: unknown) => questions.shift()?.resolve(result);
  const open = async () => {
    const thread = spare ?? createThread();
    spare = undefined;
    const worker = await thread;
    worker.on('message', answer).on('error', fail).ref();
    worker.postMessage({ file: { fd, regions } });
    return worker;
  };
  let opened: Promise<Worker> | undefined;
  const ask = <Answer>(job: object): Promise<Answer> => {
    const result = new Promise<unknown>((resolve, reject) => questions.push({ resolve, reject }));
    opened ??= open();
    opened.then((worker) => worker.postMessage(job)).catch(fail);
    return result as Promise<Answer>;
  };
  return {
    read: ask,
    digests: () => ask({}),
    async close() {
      // A thread that is reading must end before the file is closed; an idle one takes the next file.
      if (questions.length > 0) fail(new Error('closed'));
      const worker = await opened?.catch(() => undefined);
      worker?.off('message', answer).off('error', fail).unref();
      if (worker && isReusable && !spare) spare = Promise.resolve(worker);
      else await worker?.terminate();
    },
  };
}
