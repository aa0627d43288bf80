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

/** What to do under the mutex: `request` a token, unless `reuse` finds one. */
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

/** A store with a mutex. */
export interface MutexStore {
  /**
   * Waits for the mutex. A store may call `reuse` during the wait, which ends with what that finds.
   * @throws ImgctlError locked
   */
  acquire<Result>(work: TokenWork<Result>): Promise<HeldMutex | { readonly found: Result }>;
  /** Returns the last refusal that is stored. */
  readRefusal(): Promise<Refusal | undefined> | Refusal | undefined;
}

/**
 * Does the work under the mutex of a store. What other processes did meanwhile:
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
  store: MutexStore,
): Promise<Result> {
  const earlier = await store.readRefusal();
  try {
    return await runOnce(work, store, earlier, true);
  } catch (error) {
    if (!(error instanceof MutexLostError)) throw error;
    return runOnce(work, store, earlier, false);
  }
}

/** @param earlier the last refusal before the wait for the mutex */
async function runOnce<Result>(
  work: TokenWork<Result>,
  store: MutexStore,
  earlier: Refusal | undefined,
  mayStore: boolean,
): Promise<Result> {
  const mutex = await store.acquire(work);
  if ('found' in mutex) return mutex.found;
  try {
    const found = await work.reuse();
    if (found !== undefined) return found;
    const last = await store.readRefusal();
    const isNew = last?.id !== earlier?.id;
    return await work.request(mutex, { refusal: isNew ? last : undefined, mayStore });
  } finally {
    await mutex.release();
  }
}

/** A shared store could not be used. The message is the reason; it never holds a secret. */
export class SharedStoreError extends ImgctlError {
  constructor(reason: string, facts?: Facts) {
    super('unreachable', reason, { facts });
  }
}
