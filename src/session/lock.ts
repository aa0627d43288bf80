// One process at a time: a lock that outlives neither its holder nor a crash.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';

/** A holder that is gone is noticed after this many milliseconds; a living one renews its lock in time. */
const STALE_AFTER = 5_000;

type Release = () => Promise<void>;

/**
 * Runs the action while holding the lock of `file` (a directory `<file>.lock` beside it).
 * @throws ImgctlError timeout: others held it for longer than `patience` milliseconds;
 *   the file system's error where no lock can be made there
 */
export async function withLock<Result>(
  file: string,
  patience: number,
  io: Io,
  action: () => Promise<Result>,
): Promise<Result> {
  const release = await acquire(file, patience, io);
  try {
    return await action();
  } finally {
    await release().catch(() => {});
  }
}

/** The same, but without the lock where there is no place for one: better than not at all. */
export async function withLockIfPossible<Result>(
  file: string | undefined,
  patience: number,
  io: Io,
  action: () => Promise<Result>,
): Promise<Result> {
  const release =
    file === undefined ? undefined : await acquire(file, patience, io).catch(unlessOurs);
  try {
    return await action();
  } finally {
    await release?.().catch(() => {});
  }
}

function unlessOurs(error: unknown): undefined {
  if (error instanceof ImgctlError) throw error;
  return undefined;
}

async function acquire(file: string, patience: number, io: Io): Promise<Release> {
  const { lock } = await import('proper-lockfile');
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const deadline = io.now() + patience;
  for (;;) {
    try {
      return await lock(file, {
        realpath: false,
        stale: STALE_AFTER,
        // Lost only if this process was stopped for long; its write is atomic all the same.
        onCompromised: () => {},
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error;
    }
    if (io.now() > deadline) {
      throw new ImgctlError(
        'timeout',
        `another imgctl has held ${file}.lock for ${patience / 1000} s`,
        { hint: 'if none is running, remove that directory' },
      );
    }
    await io.sleep(50 + 100 * io.random(), io.signal);
  }
}
