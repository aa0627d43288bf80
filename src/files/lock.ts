// A lock for one process at a time, which expires if its holder crashes.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import type { Clock } from '../io.ts';
import { makeDirectory } from './paths.ts';

/** Milliseconds after which a lock without renewal is stale; a living holder renews it in time. */
const STALE_AFTER = 5_000;

/** The library takes over stale locks too, but of two at once the second removes the first one's new lock. */
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
 *   the file system's error if no lock can be made
 */
export async function withLock<Result>(
  file: string,
  patience: number,
  io: Clock,
  action: () => Promise<Result>,
): Promise<Result> {
  return runAndRelease(await acquire(file, patience, io), action);
}

/** Does the same, but runs the action without a lock if none can be made. */
export async function withLockIfPossible<Result>(
  file: string | undefined,
  patience: number,
  io: Clock,
  action: () => Promise<Result>,
): Promise<Result> {
  const release =
    file === undefined ? undefined : await acquire(file, patience, io).catch(ignoreSystemError);
  return runAndRelease(release, action);
}

async function runAndRelease<Result>(
  release: Release | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } finally {
    await release?.().catch(() => {});
  }
}

function ignoreSystemError(error: unknown): undefined {
  if (error instanceof ImgctlError) throw error;
}

async function acquire(file: string, patience: number, io: Clock): Promise<Release> {
  const { lock } = await import('proper-lockfile');
  makeDirectory(path.dirname(file));
  const deadline = io.now() + patience;
  for (;;) {
    try {
      return await lock(file, { ...OPTIONS, stale: NEVER });
    } catch (error) {
      if (!isHeld(error)) throw error;
    }
    if (isStale(`${file}.lock`, io)) await removeStale(file, lock, io);
    if (io.now() > deadline) {
      throw new ImgctlError(
        'timeout',
        `another imgctl has held ${file}.lock for ${patience / 1000} s`,
        { hint: 'if no other imgctl is running, remove that directory' },
      );
    }
    await io.sleep(50 + 100 * io.random(), io.signal);
  }
}

/** Removes the lock of a dead holder, one process at a time; any process may get it then. */
async function removeStale(file: string, lock: Lock, io: Clock): Promise<void> {
  let release: Release;
  try {
    release = await lock(`${file}.takeover`, { ...OPTIONS, stale: STALE_AFTER });
  } catch {
    // Another process is removing it, or has just taken this guard from a dead one.
    return;
  }
  await runAndRelease(release, async () => {
    if (isStale(`${file}.lock`, io)) fs.rmSync(`${file}.lock`, { recursive: true, force: true });
  });
}

/** True for a lock in the future too: its holder died while the clock was wrong. */
function isStale(directory: string, { system }: Clock): boolean {
  const stat = fs.lstatSync(directory, { throwIfNoEntry: false });
  return stat !== undefined && Math.abs(system.now() - stat.mtimeMs) > STALE_AFTER;
}

function isHeld(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ELOCKED';
}
