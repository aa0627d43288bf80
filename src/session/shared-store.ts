// The token store that machines share in Redis; if it fails, the files of this machine.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { MutexLostError } from '../files/mutex.ts';
import { builtin, type Io } from '../io.ts';
import type { AccountKeys } from './account-keys.ts';
import { type CachedToken, isInForce, needsRenewal, type RememberedLimit } from './cached-token.ts';
import type { FileStore } from './file-store.ts';
import type { Refusal } from './refusal.ts';
import {
  type HeldMutex,
  type MutexStore,
  runUnderMutex,
  SharedStoreError,
  type TokenRequest,
  type TokenStore,
} from './token-store.ts';

/** Milliseconds between two renewals of the lock: a password command may take longer. */
const RENEWAL = 10_000;
/** Milliseconds to wait for the lock, as for that of a file. */
const PATIENCE = 120_000;
/** Milliseconds between two looks at the lock, on average. */
const WAIT = 300;

/** After a failure of Redis it warns once, and uses the files for the rest of the run. */
export class SharedStore implements TokenStore, MutexStore {
  readonly keys: AccountKeys;
  /** The files of this machine. */
  readonly files: FileStore;
  readonly #io: Io;
  readonly #warn: (message: string, facts?: Facts) => void;
  #failure: SharedStoreError | undefined;

  constructor(
    keys: AccountKeys,
    files: FileStore,
    io: Io,
    warn: (message: string, facts?: Facts) => void,
  ) {
    this.keys = keys;
    this.files = files;
    this.#io = io;
    this.#warn = warn;
  }

  get location(): string {
    return this.keys.location;
  }

  async read(refused?: ReadonlySet<string>): Promise<CachedToken | undefined> {
    const local = this.files.read(refused);
    if (local && !needsRenewal(local, this.#io.now())) return local;
    const shared = (await this.#try(() => this.keys.readToken()))?.result;
    if (shared === undefined || refused?.has(shared.token)) return local;
    await this.files.write(shared, { isCopy: true });
    return shared;
  }

  /** @throws ImgctlError failed: neither the store nor a file can take a token */
  async testWrite(): Promise<void> {
    await this.#try(() => this.keys.rehearse());
    if (this.#failure) await this.files.testWrite();
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const shared = (await this.#try(() => this.keys.readLimit(now)))?.result;
    return shared && isInForce(shared, now) ? shared : this.files.readLimit(now);
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const stored = await this.#try(() => this.keys.writeLimit(limit));
    await this.files.writeLimit(limit, { isCopy: stored !== undefined });
  }

  /**
   * Runs a request under the lock. What follows if Redis fails meanwhile:
   *
   *     with the lock, or before the old refusal is read    the request starts again with the files
   *     with the token, the limit or a new refusal          it goes on, with the files for these
   */
  async withTokenMutex<Result>(request: TokenRequest<Result>): Promise<Result> {
    const shared = await this.#try(() => runUnderMutex(request, this));
    return shared ? shared.result : this.files.withTokenMutex(request);
  }

  readRefusal(): Promise<Refusal | undefined> {
    return this.keys.readRefusal();
  }

  async writeRefusal(refusal: Refusal): Promise<void> {
    await this.#try(() => this.keys.writeRefusal(refusal));
    await this.files.writeRefusal(refusal);
  }

  /** Calls `run` under the lock, unless `reuse` finds something during the wait for the lock. */
  async whileHeld<Result>(
    reuse: TokenRequest<Result>['reuse'],
    run: (held: HeldMutex) => Promise<Result>,
  ): Promise<Result> {
    const owner = builtin('node:crypto').randomUUID();
    const found = await this.#takeLock(owner, reuse);
    if (found !== undefined) return found;
    const renewal = setInterval(() => {
      this.keys.renewLock(owner).catch(() => {});
    }, RENEWAL).unref();
    try {
      return await run({
        assertHeld: () => this.#assertHeld(owner),
        writeToken: (token) => this.#writeToken(token, owner),
      });
    } finally {
      clearInterval(renewal);
      await this.keys.releaseLock(owner);
    }
  }

  /** Waits for the lock. Returns undefined with the lock, or what `reuse` found meanwhile. */
  async #takeLock<Result>(
    owner: string,
    reuse: TokenRequest<Result>['reuse'],
  ): Promise<Result | undefined> {
    const io = this.#io;
    const started = io.elapsed();
    while (!(await this.keys.takeLock(owner))) {
      if (io.elapsed() - started > PATIENCE) {
        const message = `another imgctl has been requesting a token for ${PATIENCE / 1000} s`;
        throw new ImgctlError('locked', message, { facts: 'try again later' });
      }
      await io.sleep(WAIT * (0.5 + io.random()), io.signal);
      const found = await reuse();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #assertHeld(owner: string): Promise<void> {
    if (await this.keys.renewLock(owner)) return;
    const message = 'another imgctl took the lock of the token store';
    throw new MutexLostError('failed', message, { facts: 'run the command again' });
  }

  /** Stores a token in both places unless the lock was lost: then returns false. */
  async #writeToken(token: CachedToken, owner: string): Promise<boolean> {
    const stored = await this.#try(() => this.keys.writeToken(token, owner));
    if (stored?.result === false) return false;
    await this.files.write(token, { isCopy: stored !== undefined });
    return true;
  }

  /** Returns undefined if the store fails, or has failed before. */
  async #try<Result>(
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result } | undefined> {
    if (this.#failure) return undefined;
    try {
      return { result: await work() };
    } catch (error) {
      if (!(error instanceof SharedStoreError)) throw error;
      if (this.#failure === undefined) {
        const message = `cannot use the token store ${this.location}: ${error.message}`;
        this.#warn(message, { kind: 'store-failed' });
        this.#failure = error;
      }
      return undefined;
    }
  }
}
