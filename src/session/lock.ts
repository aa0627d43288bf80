// One process at a time: a lock that outlives neither its holder nor a crash.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';

/** A holder that is gone is noticed after this many milliseconds; a living one renews its lock in time. */
const STALE_AFTER = 5_000;

/**
 * Runs the action while holding the lock of `file` (a directory `<file>.lock` beside it).
 * @throws ImgctlError timeout: others held it for longer than `patience` milliseconds
 */
export async function withLock<Result>(
  file: string,
  patience: number,
  action: () => Promise<Result>,
): Promise<Result> {
  const { lock } = await import('proper-lockfile');
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const release = await lock(file, {
    realpath: false,
    stale: STALE_AFTER,
    retries: {
      retries: Math.ceil(patience / 100),
      factor: 1,
      minTimeout: 50,
      maxTimeout: 150,
      randomize: true,
    },
    // Lost only if this process was stopped for long; the write after it is atomic all the same.
    onCompromised: () => {},
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ELOCKED') throw error;
    throw new ImgctlError(
      'timeout',
      `another imgctl has held ${file}.lock for ${patience / 1000} s`,
      {
        hint: 'if none is running, remove that directory',
      },
    );
  });
  try {
    return await action();
  } finally {
    await release().catch(() => {});
  }
}
