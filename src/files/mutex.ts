// A mutex for one process at a time. It is stale if another process sees no change of it for 5 s.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError, isMissing, tryOr } from '../errors.ts';
import { builtin, type Clock } from '../io.ts';
import { type AssertHeld, makeFolder, UUID } from './atomic-file.ts';

/** Milliseconds between two renewals. */
const RENEWAL = 1_000;
/** Milliseconds without a change. NFS shows changes up to 3 s late. */
const STALE_AFTER = 5_000;

const MAX_PAUSE = 1_000;

export class MutexLostError extends ImgctlError {}

export interface Mutex {
  /** Throws MutexLostError unless the mutex is still held. */
  readonly assertHeld: AssertHeld;
  readonly release: () => void;
}

export const NO_MUTEX: Mutex = { assertHeld: () => {}, release: () => {} };

/**
 * Holds the mutex of `file` until `release`: the folder `<file>.lock`, with one file in it. The
 * random name of that file is the holder's, so that nobody takes over, renews or releases the mutex
 * of another one. Clocks are never compared, because machines that share a folder may have
 * different ones.
 * @throws ImgctlError locked: others held it for longer than `patience` milliseconds; the file
 * system's error if no mutex can be made
 */
export async function holdMutex(
  file: string,
  patience: number,
  io: Clock,
  onWait?: () => void,
): Promise<Mutex> {
  const own = await acquire(`${file}.lock`, patience, io, onWait);
  let time = io.now() / 1_000;
  const assertHeld = () => {
    // Clocks may stand still or be set back, but this changes every time.
    time += 1;
    try {
      fs.utimesSync(own, time, time);
    } catch (error) {
      if (!isMissing(error)) return;
      const message = `${path.dirname(own)} was removed, or another imgctl took it over`;
      throw new MutexLostError('failed', message, { facts: 'run the command again' });
    }
  };
  const timer = setInterval(() => tryOr(assertHeld, undefined), RENEWAL).unref();
  const release = () => {
    clearInterval(timer);
    dropHolder(own);
  };
  return { assertHeld, release };
}

/** Does the same, but without a mutex if there is no file or none can be made. */
export async function holdMutexIfPossible(
  file: string | undefined,
  ...rest: [patience: number, io: Clock, onWait?: () => void]
): Promise<Mutex> {
  if (file === undefined) return NO_MUTEX;
  try {
    return await holdMutex(file, ...rest);
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    return NO_MUTEX;
  }
}

/** Runs the action while holding the mutex. */
export async function withMutex<Result>(
  held: Promise<Mutex>,
  action: (assertHeld: AssertHeld) => Promise<Result>,
): Promise<Result> {
  const { assertHeld, release } = await held;
  try {
    return await action(assertHeld);
  } finally {
    release();
  }
}

/** Milliseconds. */
const ANNOUNCE_INTERVAL = 30_000;

/** Waits for a mutex, and calls `say` every 30 s meanwhile. */
export function announceWait<Held>(held: Promise<Held>, say: () => void): Promise<Held> {
  const timer = setInterval(say, ANNOUNCE_INTERVAL).unref();
  return held.finally(() => clearInterval(timer));
}

/** Takes the mutex of a file from its holder, who notices; leaves what imgctl did not create. */
export function breakMutex(file: string): void {
  const folder = `${file}.lock`;
  const holder = tryOr(() => look(folder)[0], undefined);
  if (holder !== undefined) dropHolder(path.join(folder, holder));
}

async function acquire(folder: string, patience: number, io: Clock, onWait?: () => void) {
  makeFolder(path.dirname(folder));
  const own = path.join(folder, builtin('node:crypto').randomUUID());
  let seen = '';
  let unchanged = 0;
  for (let waited = 0; ; ) {
    if (claim(folder, own)) return own;
    if (waited === 0) onWait?.();
    const [holder, state] = look(folder);
    if (state !== seen) unchanged = 0;
    seen = state;
    if (unchanged > STALE_AFTER) {
      // Its holder was killed before it wrote its file: the next round makes the folder again.
      if (holder === undefined) tryOr(() => fs.rmdirSync(folder), undefined);
      else if (takeOver(path.join(folder, holder), own)) return own;
    }
    if (waited > patience) {
      const message = `another imgctl has locked ${folder} for ${patience / 1_000} s`;
      const facts = 'if no other imgctl is running, remove that directory';
      throw new ImgctlError('locked', message, { facts });
    }
    const before = io.elapsed();
    await io.sleep(50 + 100 * io.random(), io.signal);
    // Under load a pause takes longer. A suspension, which may have stopped the holder too, counts
    // as one pause.
    const passed = Math.min(io.elapsed() - before, MAX_PAUSE);
    waited += passed;
    unchanged += passed;
  }
}

const HOLDER = new RegExp(`^${UUID}$`);

/**
 * Returns the holder's file and a text that changes with every renewal.
 * @throws an error for a link or a folder that imgctl did not create, in which nothing may be
 * renamed or deleted
 */
function look(folder: string): readonly [holder: string | undefined, state: string] {
  try {
    const names = fs.lstatSync(folder).isDirectory() ? fs.readdirSync(folder) : [''];
    if (!names.every((name) => HOLDER.test(name))) {
      throw new Error(`${folder} was not created by imgctl`);
    }
    const [holder] = names;
    const { mtimeMs } = fs.lstatSync(path.join(folder, holder ?? ''));
    return [holder, `${holder} ${mtimeMs}`];
  } catch (error) {
    if (isMissing(error)) return [undefined, 'released'];
    throw error;
  }
}

/** Takes a free mutex. Of several processes, one succeeds. */
function claim(folder: string, own: string): boolean {
  try {
    fs.mkdirSync(folder);
    fs.writeFileSync(own, '');
    return settleRace(own);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    const isRemoved = code === 'ENOENT' && syscall === 'open';
    if (code === 'EEXIST' || isRemoved) return false;
    tryOr(() => fs.rmdirSync(folder), undefined);
    throw error;
  }
}

/** Takes a stale mutex from its holder. Of several processes, one succeeds. */
function takeOver(holder: string, own: string): boolean {
  return tryOr(() => {
    fs.renameSync(holder, own);
    return settleRace(own);
  }, false);
}

/** True if only this process holds the mutex. Else releases it: another took it over meanwhile. */
function settleRace(own: string): boolean {
  if (fs.readdirSync(path.dirname(own)).length === 1) return true;
  dropHolder(own);
  return false;
}

function dropHolder(own: string): void {
  tryOr(() => {
    fs.unlinkSync(own);
    fs.rmdirSync(path.dirname(own));
  }, undefined);
}
