// A local file that is uploaded: its bytes are checked as they pass, and changes are noticed.

import type { BigIntStats } from 'node:fs';
import { open } from 'node:fs/promises';
import { type ByteCheck, type ReadArguments, readChunks } from '../chunks.ts';
import { errorReason, ImgctlError, permissionAdvice } from '../errors.ts';
import type { Clock } from '../io.ts';

interface Region {
  readonly offset: number;
  readonly size: number;
  start(): ByteCheck;
}

/** What is wrong with each region that was read, or null. */
export type RegionResults = ReadonlyMap<Region, string | null>;

export interface LocalFile {
  readonly name: string;
  readonly path: string;
  readonly regions: readonly Region[];
  /** What its fingerprint was when its package was checked. */
  readonly checkedFingerprint: string | undefined;
}

/** Shows progress on a slow line, and is more than a socket buffers. S3 parts are a multiple. */
const CHUNK = 256 * 1024;

/**
 * Milliseconds. Two changes within the resolution of a file system's clock may leave the same times
 * (git, racy-git.txt).
 */
export const SETTLED = 2_000;

/** The file of the user is unreadable or has changed: not a failure of the storage. */
export class LocalFileError extends ImgctlError {}

/** What a storage needs of a file. A chunk is valid until the next one is read. */
export interface UploadSource {
  readonly size: number;
  read(start?: number, end?: number): AsyncGenerator<Buffer>;
  /** Returns all bytes and checks them meanwhile, from the beginning each time. */
  readAll(): AsyncGenerator<Buffer>;
}

/** An open file. Every function throws LocalFileError if the file is unreadable or has changed. */
export interface UploadFile extends UploadSource {
  /** Differs after a change of the file. */
  readonly fingerprint: string;
  /** The fingerprint, if every later change will show in it. */
  readonly settledFingerprint: string | undefined;
  /** Reads the file unless `readAll` did. */
  check(onProgress: (bytes: number) => void): Promise<RegionResults>;
  close(): Promise<void>;
}

export async function openUploadFile(
  { path, regions }: LocalFile,
  { signal, now }: Pick<Clock, 'signal' | 'now'>,
): Promise<UploadFile> {
  const fail = (cause: unknown): never => {
    const message = `cannot read ${path}: ${errorReason(cause)}`;
    throw new LocalFileError('failed', message, { facts: permissionAdvice(cause, path), cause });
  };
  const handle = await open(path).catch(fail);
  const look = () => handle.stat({ bigint: true }).catch(fail);
  const stats = await look().catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  const fingerprint = fingerprintOf(stats);
  const size = Number(stats.size);
  /** From the last time that the whole file was read. */
  let results: RegionResults | undefined;

  async function* read(start = 0, end = size): AsyncGenerator<Buffer> {
    const reader = { read: (...to: ReadArguments) => handle.read(...to).catch(fail) };
    let position = start;
    for await (const chunk of readChunks(reader, start, end, CHUNK)) {
      signal.throwIfAborted();
      yield chunk;
      position += chunk.length;
    }
    if (position < end) throw changedError(path);
  }

  async function* readAll(): AsyncGenerator<Buffer> {
    const checks = regions.map((region) => ({ region, check: region.start() }));
    let position = 0;
    for await (const chunk of read()) {
      // Each check gets what the chunk has of its region, and goes on while the chunk is sent.
      const updates = checks.map(({ region, check }) => {
        const start = Math.max(region.offset - position, 0);
        const end = Math.min(region.offset + region.size - position, chunk.length);
        return start < end && check.update(chunk.subarray(start, end));
      });
      yield chunk;
      await Promise.all(updates);
      position += chunk.length;
    }
    // A check that was interrupted knows nothing.
    signal.throwIfAborted();
    const ended = checks.map(async ({ region, check }) => [region, await check.end()] as const);
    results = new Map(await Promise.all(ended));
  }

  return {
    size,
    fingerprint,
    settledFingerprint: isSettled(stats, now(), SETTLED) ? fingerprint : undefined,
    read,
    readAll,
    async check(onProgress) {
      if (regions.length > 0 && !results) {
        let position = 0;
        for await (const { length } of readAll()) {
          position += length;
          onProgress(position);
        }
      }
      if (fingerprintOf(await look()) !== fingerprint) throw changedError(path);
      return results ?? new Map();
    },
    close: () => handle.close(),
  };
}

/** Opens a file. @throws LocalFileError, also if it has changed since its package was checked */
export async function openUnchanged(file: LocalFile, clock: Clock): Promise<UploadFile> {
  const opened = await openUploadFile(file, clock);
  if (opened.fingerprint === file.checkedFingerprint) return opened;
  await opened.close();
  throw changedError(file.path);
}

type State = Pick<BigIntStats, 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>;

/** Returns a text that differs after a change, and for another file, but not after a new mount. */
export function fingerprintOf({ ino, size, mtimeNs, ctimeNs }: State): string {
  return [ino, size, mtimeNs, ctimeNs].join(':');
}

/**
 * True if every later change will show: its ctime has a fraction, and its times are old enough.
 * @param age milliseconds: SETTLED, or 0 if this process made the last change
 */
export function isSettled({ mtimeNs, ctimeNs }: State, now: number, age: number): boolean {
  const hasFraction = ctimeNs % 1_000_000_000n !== 0n;
  const changed = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  return hasFraction && now - Number(changed / 1_000_000n) >= age;
}

function changedError(path: string): LocalFileError {
  const advice = 'wait until the file is complete, then run the command again';
  return new LocalFileError('failed', `${path} changed while it was uploaded`, { facts: advice });
}
