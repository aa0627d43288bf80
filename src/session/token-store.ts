// What a store of tokens does, and how a token is requested while no other process requests one.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { MutexLostError } from '../files/mutex.ts';
import type { CachedToken, RememberedLimit } from './cached-token.ts';
import type { Refusal } from './refusal.ts';

/** Stores the token and the limit of one account. A failure to read or write is a warning. */
export interface TokenStore {
  /** Returns the stored token unless it is one of `refused`. */
  read(refused?: ReadonlySet<string>): Promise<CachedToken | undefined> | CachedToken | undefined;
  readLimit(now: number): Promise<RememberedLimit | undefined> | RememberedLimit | undefined;
  writeLimit(limit: RememberedLimit): Promise<void>;
  /**
   * Does the work under the mutex of the account, or without one if none can be made.
   * @throws ImgctlError locked
   */
  withTokenMutex<Result>(work: TokenWork<Result>): Promise<Result>;
}

/**
 * What to do under the mutex: `request` a token, unless `reuse` finds one. For a renewal, `Result`
 * is the token to use; for a login, which reuses none, the RequestResult of tokens.ts.
 */
export interface TokenWork<Result> {
  /** Returns what makes the request unnecessary, such as the token of another process. */
  reuse(): Promise<Result | undefined>;
  request(mutex: HeldMutex, meanwhile: Meanwhile): Promise<Result>;
}

/** What other processes did while this one waited for the mutex. */
export interface Meanwhile {
  /** The service refused the request of one of them. */
  readonly refusal: Refusal | undefined;
  /** False if one of them took the mutex from this process: it may have logged out. */
  readonly mayStore: boolean;
}

/** The mutex of token requests, while this process holds it. */
export interface HeldMutex {
  /** @throws MutexLostError: another process has taken it */
  assertHeld(): Promise<void>;
  /** Returns false, and stores nothing, if another process has taken the mutex. */
  writeToken(token: CachedToken): Promise<boolean>;
  /** Tells the processes that wait for the mutex of a refused request. */
  writeRefusal(refusal: Refusal): Promise<void>;
  release(): Promise<void>;
}

/** What `runUnderMutex` needs of a store. */
export interface MutexSource<Result> {
  /** Waits for the mutex. @throws ImgctlError locked */
  acquire(): Promise<Acquired<Result>>;
  /** Returns the last refusal that is stored. */
  readRefusal(): Promise<Refusal | undefined> | Refusal | undefined;
}

/** How the wait for the mutex ended: it is held, or `reuse` has found a token meanwhile. */
export type Acquired<Result> = { readonly mutex: HeldMutex } | { readonly found: Result };

/**
 * Waits for the mutex, and does the work under it. What other processes did meanwhile:
 *
 *     during the wait       one stored a token    that token is used
 *                           one was refused       the request gets the refusal
 *     before the request    one took the mutex    the request starts again, but stores no token:
 *                                                 that process may have logged out
 *     during the request    one took the mutex    the new token is not stored
 *
 * @throws MutexLostError: the mutex was taken twice
 */
export async function runUnderMutex<Result>(
  work: TokenWork<Result>,
  source: MutexSource<Result>,
): Promise<Result> {
  const earlier = await source.readRefusal();
  try {
    return await runOnce(work, source, earlier, true);
  } catch (error) {
    if (!(error instanceof MutexLostError)) throw error;
    return runOnce(work, source, earlier, false);
  }
}

/** @param earlier the last refusal before the wait for the mutex */
async function runOnce<Result>(
  work: TokenWork<Result>,
  source: MutexSource<Result>,
  earlier: Refusal | undefined,
  mayStore: boolean,
): Promise<Result> {
  const acquired = await source.acquire();
  if ('found' in acquired) return acquired.found;
  const { mutex } = acquired;
  try {
    // The process that held the mutex before may have stored one.
    const found = await work.reuse();
    if (found !== undefined) return found;
    const last = await source.readRefusal();
    const isNew = last?.id !== earlier?.id;
    return await work.request(mutex, { refusal: isNew ? last : undefined, mayStore });
  } finally {
    await mutex.release();
  }
}

/**
 * A shared store could not be used. The message is the reason; it never holds a secret. It is
 * defined here, since commands that ask for it need not load Redis.
 */
export class SharedStoreError extends ImgctlError {
  constructor(reason: string, facts?: Facts) {
    super('unreachable', reason, { facts });
  }
}
