// A lock for one process at a time. It is stale if it does not change while another process watches it.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { builtin, type Clock } from '../io.ts';
import { type ConfirmLock, isMissing } from './atomic-file.ts';
import { makeDirectory } from './paths.ts';

/** Milliseconds between two renewals. */
const RENEWAL = 1_000;
/** Milliseconds without a change. NFS shows changes up to 3 s late. */
const STALE_AFTER = 5_000;

const MAX_PAUSE = 1_000;

/** Another process took the lock over while this one was stopped. */
export class LockLostError extends ImgctlError {}

/**
 * Runs the action while holding the lock of `file`: the folder `<file>.lock`, with one file in it. The random
 * name of that file is the holder's, so that nobody takes over, renews or releases the lock of another one.
 * The action's `confirm` throws LockLostError unless the lock is still held. Clocks are never compared, because machines that share a folder may have different ones.
 * @throws ImgctlError timeout: others held it for longer than `patience` milliseconds; LockLostError;
 *   the file system's error if no lock can be made
 */
export async function withLock<Result>(
  file: string,
  patience: number,
  io: Clock,
  action: (confirm: ConfirmLock) => Promise<Result>,
): Promise<Result> {
  return hold(await acquire(`${file}.lock`, patience, io), io, action);
}

/** Does the same, but runs the action without a lock if none can be made. */
export async function withLockIfPossible<Result>(
  file: string | undefined,
  patience: number,
  io: Clock,
  action: (confirm: ConfirmLock) => Promise<Result>,
): Promise<Result> {
  let own: string | undefined;
  try {
    own = file && (await acquire(`${file}.lock`, patience, io));
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
  }
  return own ? hold(own, io, action) : action(() => {});
}

/** Runs the action, renews the holder's file meanwhile, and releases the lock. */
async function hold<Result>(
  own: string,
  io: Clock,
  action: (confirm: ConfirmLock) => Promise<Result>,
): Promise<Result> {
  let time = io.now() / 1_000;
  const renew = () => {
    // Clocks may stand still or be set back, but this changes every time.
    time += 1;
    fs.utimesSync(own, time, time);
  };
  const confirm = () => {
    try {
      renew();
    } catch (cause) {
      if (!isMissing(cause)) return;
      const message = `another imgctl took over ${path.dirname(own)} while this one was stopped`;
      throw new LockLostError('failed', message, { hint: 'run the command again', cause });
    }
  };
  const timer = setInterval(() => ignoreErrors(renew), RENEWAL).unref();
  try {
    return await action(confirm);
  } finally {
    clearInterval(timer);
    release(own);
  }
}

/** Returns the holder's file. */
async function acquire(folder: string, patience: number, io: Clock): Promise<string> {
  makeDirectory(path.dirname(folder));
  const own = path.join(folder, builtin('node:crypto').randomUUID());
  let seen = '';
  let unchanged = 0;
  for (let waited = 0; ; ) {
    if (claim(folder, own)) return own;
    const { holder, state } = look(folder);
    if (state !== seen) unchanged = 0;
    seen = state;
    if (unchanged > STALE_AFTER && claim(folder, own, { from: holder })) return own;
    if (waited > patience) {
      const message = `another imgctl has held ${folder} for ${patience / 1_000} s`;
      const hint = 'if no other imgctl is running, remove that directory';
      throw new ImgctlError('timeout', message, { hint });
    }
    const pause = 50 + 100 * io.random();
    const before = io.now();
    await io.sleep(pause, io.signal);
    // Under load a pause takes longer. A suspension or a change of the clock counts as one long pause at most.
    const passed = Math.min(Math.max(io.now() - before, pause), MAX_PAUSE);
    waited += passed;
    unchanged += passed;
  }
}

/** Returns the name of the holder's file, if there is one, and a text that changes with every renewal. */
function look(folder: string): { readonly holder: string | undefined; readonly state: string } {
  try {
    const [holder] = fs.readdirSync(folder);
    const { mtimeMs } = fs.lstatSync(path.join(folder, holder ?? ''));
    return { holder, state: `${holder} ${mtimeMs}` };
  } catch (error) {
    if (isMissing(error)) return { holder: undefined, state: 'released' };
    throw error;
  }
}

/** Takes a free lock, or a stale one from its holder. Of several processes, one succeeds. */
function claim(folder: string, own: string, stale?: { from: string | undefined }): boolean {
  try {
    if (stale?.from !== undefined) {
      fs.renameSync(path.join(folder, stale.from), own);
    } else {
      // Its holder was killed before it wrote its file.
      if (stale) fs.rmdirSync(folder);
      fs.mkdirSync(folder, { mode: 0o700 });
      fs.writeFileSync(own, '', { mode: 0o600, flag: 'wx' });
    }
    if (fs.readdirSync(folder).length === 1) return true;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    const isRemoved = code === 'ENOENT' && syscall === 'open';
    if (stale || code === 'EEXIST' || isRemoved) return false;
    ignoreErrors(() => fs.rmdirSync(folder));
    throw error;
  }
  // Stopped after it made the folder, so that another process took that for stale.
  release(own);
  return false;
}

function release(own: string): void {
  ignoreErrors(() => {
    fs.unlinkSync(own);
    fs.rmdirSync(path.dirname(own));
  });
}

function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {
    // The lock of another process, or a full or read-only disk: the next process takes over.
  }
}
