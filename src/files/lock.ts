// One process at a time: a lock that outlives neither its holder nor a crash.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import type { Clock } from '../io.ts';
import { makeDirectory } from './json-file.ts';
import { withoutSignalHandlers } from './signal-handlers.ts';

/** A holder that is gone is noticed after this many milliseconds; a living one renews its lock in time. */
const STALE_AFTER = 5_000;

/** The library takes a stale lock by itself, but two at once might: the second removes the first one's new lock. */
const NEVER = Number.MAX_SAFE_INTEGER;

const OPTIONS = {
  realpath: false,
  update: STALE_AFTER / 2,
  // Lost only if this process was stopped for long; its write is atomic all the same.
  onCompromised: () => {},
};

type Lock = typeof import('proper-lockfile').lock;
type Release = () => Promise<void>;

/**
 * Runs the action while holding the lock of `file` (a directory `<file>.lock` beside it).
 * @throws ImgctlError timeout: others held it for longer than `patience` milliseconds;
 *   the file system's error where no lock can be made there
 */
export async function withLock<Result>(
  file: string,
  patience: number,
  io: Clock,
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
  io: Clock,
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

async function acquire(file: string, patience: number, io: Clock): Promise<Release> {
  const { lock } = await withoutSignalHandlers(() => import('proper-lockfile'));
  makeDirectory(path.dirname(file));
  const deadline = io.now() + patience;
  for (;;) {
    try {
      return await lock(file, { ...OPTIONS, stale: NEVER });
    } catch (error) {
      if (!isHeld(error)) throw error;
    }
    if (isStale(`${file}.lock`)) await removeStale(file, lock);
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

/** Takes the lock of a dead holder away, one process at a time; it is then anybody's. */
async function removeStale(file: string, lock: Lock): Promise<void> {
  let release: Release;
  try {
    release = await lock(`${file}.takeover`, { ...OPTIONS, stale: STALE_AFTER });
  } catch {
    // Another process is at it, or took this guard from a dead one at the same moment: ask again later.
    return;
  }
  try {
    if (isStale(`${file}.lock`)) fs.rmSync(`${file}.lock`, { recursive: true, force: true });
  } finally {
    await release().catch(() => {});
  }
}

/** Of a time to come, too: a holder that died while the clock was wrong leaves such a lock. */
function isStale(directory: string): boolean {
  const stat = fs.lstatSync(directory, { throwIfNoEntry: false });
  return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) > STALE_AFTER;
}

function isHeld(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ELOCKED';
}
