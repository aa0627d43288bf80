// What a store of tokens does, and which store a run uses.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { CachedToken, RememberedLimit } from './cached-token.ts';
import type { Refusal } from './refusal.ts';

/**
 * What is stored of one account, and the mutex of its token requests. A file that fails is a
 * warning, and so is every failed write. If a shared store cannot be read, or its mutex fails, that
 * is a SharedStoreError.
 */
export interface TokenStore {
  /** Where the token is, for users; undefined if nowhere. */
  readonly location: string | undefined;
  /** Returns the stored token unless it is one of `rejected`. */
  read(rejected?: ReadonlySet<string>): Stored<CachedToken>;
  /** Returns the limit if it is in force. */
  readLimit(): Stored<RememberedLimit>;
  writeLimit(limit: RememberedLimit): Promise<void>;
  /** Returns the last refusal. */
  readRefusal(): Stored<Refusal>;
  writeRefusal(refusal: Refusal): Promise<void>;
  /**
   * Waits for the mutex; does without one if none can be made.
   * @param find may end the wait: a shared store calls it meanwhile
   * @throws ImgctlError locked
   */
  acquire<Found>(find: () => Promise<Found | undefined>): Promise<Acquired<Found>>;
  /** @throws ImgctlError failed: a token cannot be stored */
  testWrite(): Promise<void>;
}

type Stored<Value> = Promise<Value | undefined> | Value | undefined;

/** How the wait for the mutex ended. */
export type Acquired<Found> = { readonly mutex: HeldMutex } | { readonly found: Found };

/** The mutex of token requests, while this process holds it. */
export interface HeldMutex {
  /** @throws MutexLostError: another process has taken it */
  assertHeld(): Promise<void>;
  /** Returns false, and stores nothing, if another process has taken the mutex. */
  writeToken(token: CachedToken): Promise<boolean>;
  release(): Promise<void>;
}

/** Milliseconds: a password command may take 30 s and the request 30 s, for each of a few ahead. */
export const MUTEX_PATIENCE = 120_000;

/** The shared store, if there is one, until it fails; then the files of this machine. */
export class TokenStores {
  #current: TokenStore;
  readonly #files: TokenStore;
  readonly #warn: (message: string, facts: Facts) => void;

  /** @param first the shared store, or the files */
  constructor(first: TokenStore, files: TokenStore, warn: (message: string, facts: Facts) => void) {
    this.#current = first;
    this.#files = files;
    this.#warn = warn;
  }

  get current(): TokenStore {
    return this.#current;
  }

  /** Runs an operation on the current store. If the store fails, runs it again on the files. */
  async use<Result>(operation: (store: TokenStore) => Promise<Result> | Result): Promise<Result> {
    try {
      return await operation(this.#current);
    } catch (error) {
      if (!(error instanceof SharedStoreError)) throw error;
      this.giveUp(error);
      return operation(this.#files);
    }
  }

  /** Warns once, and uses the files for the rest of the run. doctor shows what to do about it. */
  giveUp(error: SharedStoreError): void {
    if (this.#current === this.#files) return;
    const warning = `cannot use the token store ${this.#current.location}: ${error.message}`;
    this.#current = this.#files;
    this.#warn(warning, { kind: 'store-failed' });
  }
}

/**
 * Thrown if a shared store cannot be used. The message is the reason alone, and is masked when it
 * is shown. It is defined here, as commands that test for it must not load Redis.
 */
export class SharedStoreError extends ImgctlError {
  constructor(reason: string, facts?: Facts) {
    super('unreachable', reason, { facts });
  }
}
