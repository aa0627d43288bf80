// The token store that machines share in Redis, with a copy of the token in the files of this one.

import { ImgctlError } from '../errors.ts';
import { MutexLostError } from '../files/mutex.ts';
import { builtin, type Io } from '../io.ts';
import { type CachedToken, needsRenewal, type RememberedLimit } from './cached-token.ts';
import type { FileStore } from './file-store.ts';
import { NEVER_ABORTS, type RedisAccount } from './redis-account.ts';
import type { Refusal } from './refusal.ts';
import {
  type Acquired,
  type HeldMutex,
  MUTEX_PATIENCE,
  SharedStoreError,
  type TokenStore,
} from './token-store.ts';

/** Milliseconds between two renewals of the mutex: a password command may take longer. */
const RENEWAL = 10_000;
/** Milliseconds between two tries to take the mutex, on average. */
const PAUSE = 300;

/**
 * What follows if Redis fails:
 *
 *     while something is read, or at the mutex    a SharedStoreError: nothing has been sent, so the
 *                                                 caller starts again with the files
 *     while something is written                  `onFailure` is called, and the request goes on:
 *                                                 tokens and limits are in the files too
 */
export class SharedStore implements TokenStore {
  readonly account: RedisAccount;
  /** The files of this machine. */
  readonly files: FileStore;
  readonly #io: Io;
  readonly #onFailure: ((error: SharedStoreError) => void) | undefined;

  constructor(
    account: RedisAccount,
    files: FileStore,
    io: Io,
    onFailure?: (error: SharedStoreError) => void,
  ) {
    this.account = account;
    this.files = files;
    this.#io = io;
    this.#onFailure = onFailure;
  }

  get location(): string {
    return this.account.location;
  }

  /** Returns the token of this machine, or the shared one if that has little time left. */
  async read(rejected?: ReadonlySet<string>): Promise<CachedToken | undefined> {
    const local = this.files.read(rejected);
    if (local && !needsRenewal(local, this.#io.now())) return local;
    const shared = await this.account.readToken();
    if (shared === undefined || rejected?.has(shared.token)) return local;
    if (shared.token !== local?.token) await this.#writeCopy(shared);
    return shared;
  }

  async readLimit(): Promise<RememberedLimit | undefined> {
    return (await this.account.readLimit()) ?? this.files.readLimit();
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const write = () => this.account.writeLimit(limit).then(() => true);
    const isOptional = (await this.#tryToWrite(write)) ?? false;
    await this.files.writeLimit(limit, { isOptional });
  }

  readRefusal(): Promise<Refusal | undefined> {
    return this.account.readRefusal();
  }

  async writeRefusal(refusal: Refusal): Promise<void> {
    await this.#tryToWrite(() => this.account.writeRefusal(refusal));
  }

  /** Calls `find` between two tries, so that a fleet need not take the mutex one by one. */
  async acquire<Found>(find: () => Promise<Found | undefined>): Promise<Acquired<Found>> {
    const io = this.#io;
    const owner = builtin('node:crypto').randomUUID();
    const latest = io.elapsed() + MUTEX_PATIENCE;
    while (!(await this.account.takeMutex(owner))) {
      if (io.elapsed() > latest) {
        const message = `another imgctl has been requesting a token for ${MUTEX_PATIENCE / 1000} s`;
        throw new ImgctlError('locked', message, { facts: 'try again later' });
      }
      await io.sleep(PAUSE * (0.5 + io.random()), io.signal);
      const found = await find();
      if (found !== undefined) return { found };
    }
    return { mutex: this.#hold(owner) };
  }

  testWrite(): Promise<void> {
    return this.account.testWrite();
  }

  #hold(owner: string): HeldMutex {
    const renewal = setInterval(() => {
      this.account.renewMutex(owner).catch(() => {});
    }, RENEWAL).unref();
    return {
      assertHeld: async () => {
        if (await this.account.renewMutex(owner)) return;
        const message = 'the lock of the token store was removed, or another imgctl took it over';
        throw new MutexLostError('failed', message, { facts: 'run the command again' });
      },
      writeToken: (token) => this.#writeToken(token, owner),
      release: async () => {
        clearInterval(renewal);
        await this.account.releaseMutex(owner);
      },
    };
  }

  async #writeToken(token: CachedToken, owner: string): Promise<boolean> {
    const isStored = await this.#tryToWrite(async () => {
      const isWritten = await this.account.writeToken(token, owner);
      if (isWritten) await this.#writeCopy(token);
      return isWritten;
    });
    // Nobody holds the mutex of the file: a logout of this machine meanwhile stays unnoticed.
    if (isStored === undefined) await this.files.write(token);
    return isStored ?? true;
  }

  /** Copies a shared token to this machine, unless a logout meanwhile deleted it in both places. */
  async #writeCopy(token: CachedToken): Promise<void> {
    await this.files.write(token, { isOptional: true });
    const shared = await this.account.readToken(NEVER_ABORTS);
    if (shared?.token !== token.token) this.files.remove();
  }

  /** Returns undefined if Redis failed. */
  async #tryToWrite<Result>(write: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof SharedStoreError)) throw error;
      this.#onFailure?.(error);
      return undefined;
    }
  }
}
