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
   * Runs the request under the mutex, or without one if none can be made.
   * @throws ImgctlError locked
   */
  withTokenMutex<Result>(request: TokenRequest<Result>): Promise<Result>;
}

/** What to do while no other process requests a token. */
export interface TokenRequest<Result> {
  /** Returns what makes the request unnecessary, such as the token of another process. */
  reuse(): Promise<Result | undefined>;
  run(mutex: TokenMutex): Promise<Result>;
}

/** What a process may do while it holds the mutex of token requests. */
export interface HeldMutex {
  /** @throws MutexLostError: the request has to start again */
  assertHeld(): Promise<void>;
  /** Returns false, and stores nothing, if the mutex was lost. */
  writeToken(token: CachedToken): Promise<boolean>;
}

/** What a request gets: the held mutex, and what processes that wait for it tell each other. */
export interface TokenMutex extends HeldMutex {
  /** The request of another process that was refused while this one waited for the mutex. */
  readonly refusal: Refusal | undefined;
  /** Stores a refusal for the processes that wait. */
  writeRefusal(refusal: Refusal): Promise<void>;
}

/** What `runUnderMutex` needs of a store. */
export interface MutexStore {
  /** Returns the last refusal that is stored. */
  readRefusal(): Promise<Refusal | undefined> | Refusal | undefined;
  writeRefusal(refusal: Refusal): Promise<void>;
  /**
   * Waits for the mutex, and holds it during `run`. A store may call `reuse` during the wait, and
   * return what that finds.
   */
  whileHeld<Result>(
    reuse: TokenRequest<Result>['reuse'],
    run: (held: HeldMutex) => Promise<Result>,
  ): Promise<Result>;
}

/**
 * Runs a request under the mutex of a store. What other processes did meanwhile:
 *
 *     during the wait     one stored a token       that token is used
 *                         one was refused          the request gets the refusal
 *     before the request  one took the mutex       the request starts again
 *     during the request  one took the mutex       the new token is not stored
 *
 * A process that took the mutex may have logged out: a request that started again stores no token.
 * @throws MutexLostError: the mutex was taken twice
 */
export async function runUnderMutex<Result>(
  { reuse, run }: TokenRequest<Result>,
  store: MutexStore,
): Promise<Result> {
  const before = await store.readRefusal();
  const runOnce = (mayStore: boolean) =>
    store.whileHeld(reuse, async (held) => {
      const found = await reuse();
      if (found !== undefined) return found;
      const last = await store.readRefusal();
      return run({
        assertHeld: held.assertHeld,
        writeToken: async (token) => mayStore && held.writeToken(token),
        refusal: last?.id === before?.id ? undefined : last,
        writeRefusal: (refusal) => store.writeRefusal(refusal),
      });
    });
  try {
    return await runOnce(true);
  } catch (error) {
    if (!(error instanceof MutexLostError)) throw error;
    return runOnce(false);
  }
}

/** A shared store could not be used. The message is the reason; it never holds a secret. */
export class SharedStoreError extends ImgctlError {
  constructor(reason: string, facts?: Facts) {
    super('unreachable', reason, { facts });
  }
}
