// A mutex for one process at a time: the folder `<file>.lock`, which holds one file.
//
//     no folder                  free: a process that can create it adds its file
//     a folder without a file    being claimed
//     one file                   held; its holder renews its time
//     several files              taken by several: each that sees the others withdraws
//
// It is stale if another process sees no change of it for 5 s: its holder was killed.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError, isDefect, isMissing, tryOr } from '../errors.ts';
import { builtin, type Clock } from '../io.ts';
import { type AssertHeld, makeFolder, UUID } from './atomic-file.ts';

/** Milliseconds between two renewals. */
const RENEWAL = 1_000;
/** Milliseconds without a change. NFS shows changes up to 3 s late. */
const STALE_AFTER = 5_000;

export class MutexLostError extends ImgctlError {}

export interface Mutex {
  /** Throws MutexLostError unless the mutex is still held. */
  readonly assertHeld: AssertHeld;
  readonly release: () => void;
}

export const NO_MUTEX: Mutex = { assertHeld: () => {}, release: () => {} };

/**
 * Holds the mutex of `file` until `release`. The random name of the file in it is the holder's, so
 * that nobody takes over, renews or releases the mutex of another one. Clocks are never compared,
 * because machines that share a folder may have different ones.
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
      // Any other error, such as of a share that hangs, does not show that it was lost.
      if (!isMissing(error)) return;
      const message = `${path.dirname(own)} was removed, or another imgctl took it over`;
      throw new MutexLostError('failed', message, { facts: 'run the command again' });
    }
  };
  const timer = setInterval(() => tryOr(assertHeld, undefined), RENEWAL).unref();
  const release = () => {
    clearInterval(timer);
    withdraw(own);
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
    if (error instanceof ImgctlError || isDefect(error)) throw error;
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
  const timer = setInterval(say, ANNOUNCE_INTERVAL);
  return held.finally(() => clearInterval(timer));
}

/** Takes the mutex of a file from its holder, who notices; leaves what imgctl did not create. */
export function breakMutex(file: string): void {
  const folder = `${file}.lock`;
  const { holder } = tryOr(() => look(folder), FREE);
  if (holder !== undefined) withdraw(holder);
}

/** Returns the own file, in the folder that it took. */
async function acquire(folder: string, patience: number, io: Clock, onWait?: () => void) {
  makeFolder(path.dirname(folder));
  const own = path.join(folder, builtin('node:crypto').randomUUID());
  let seen = FREE;
  let unchanged = 0;
  let waited = 0;
  while (!claim(own)) {
    if (waited === 0) onWait?.();
    const current = look(folder);
    if (current.holder !== seen.holder || current.time !== seen.time) unchanged = 0;
    seen = current;
    if (unchanged > STALE_AFTER && takeOver(seen, own)) return own;
    if (waited > patience) {
      const message = `another imgctl has locked ${folder} for ${patience / 1_000} s`;
      const facts = 'if no other imgctl is running, remove that directory';
      throw new ImgctlError('locked', message, { facts });
    }
    const passed = await pause(io);
    waited += passed;
    unchanged += passed;
  }
  return own;
}

/** Milliseconds. */
const MAX_PAUSE = 1_000;

/**
 * Waits about 100 ms.
 * @returns the milliseconds that passed, which are more under load. A suspension of the machine,
 * which may have stopped the holder too, counts as one pause.
 */
async function pause(io: Clock): Promise<number> {
  const before = io.elapsed();
  await io.sleep(50 + 100 * io.random(), io.signal);
  return Math.min(io.elapsed() - before, MAX_PAUSE);
}

/** What another process sees of a mutex. */
interface Look {
  /** Its file. */
  readonly holder?: string | undefined;
  /** Changes whenever it is renewed, and is compared with nothing else. */
  readonly time?: number;
}

const FREE: Look = {};
const HOLDER = new RegExp(`^${UUID}$`);

/**
 * @throws an error for a link, a file or a folder that imgctl did not create, in which nothing may
 * be renamed or deleted
 */
function look(folder: string): Look {
  try {
    const names = fs.lstatSync(folder).isDirectory() ? fs.readdirSync(folder) : undefined;
    if (!names?.every((name) => HOLDER.test(name))) {
      throw new Error(`${folder} was not created by imgctl`);
    }
    const [holder] = names.map((name) => path.join(folder, name));
    return { holder, time: fs.lstatSync(holder ?? folder).mtimeMs };
  } catch (error) {
    if (isMissing(error)) return FREE;
    throw error;
  }
}

/** Takes a free mutex. Of several processes, one succeeds. */
function claim(own: string): boolean {
  const folder = path.dirname(own);
  try {
    fs.mkdirSync(folder);
    fs.writeFileSync(own, '');
    return isAlone(own);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    const isRemoved = code === 'ENOENT' && syscall !== 'mkdir';
    if (code === 'EEXIST' || isRemoved) return false;
    tryOr(() => fs.rmdirSync(folder), undefined);
    throw error;
  }
}

/** Takes a stale mutex. Of several processes, one succeeds. */
function takeOver({ holder }: Look, own: string): boolean {
  return tryOr(() => {
    if (holder === undefined) {
      // Killed before it wrote its file. The next round claims the mutex.
      fs.rmdirSync(path.dirname(own));
      return false;
    }
    fs.renameSync(holder, own);
    return isAlone(own);
  }, false);
}

/** True if only this process has taken the mutex; else it withdraws. */
function isAlone(own: string): boolean {
  if (fs.readdirSync(path.dirname(own)).length === 1) return true;
  withdraw(own);
  return false;
}

/** Deletes the own file, and the folder unless another one is in it. */
function withdraw(own: string): void {
  tryOr(() => {
    fs.unlinkSync(own);
    fs.rmdirSync(path.dirname(own));
  }, undefined);
}
