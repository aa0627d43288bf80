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
  type TokenStore,
  type TokenWork,
} from './token-store.ts';

/** Milliseconds between two renewals of the mutex: a password command may take longer. */
const RENEWAL = 10_000;
/** Milliseconds to wait for the mutex, as for that of a file. */
const PATIENCE = 120_000;
/** Milliseconds between two tries to take the mutex, on average. */
const PAUSE = 300;

/** That Redis did its work, which may have no result. */
interface Done<Result> {
  readonly result: Result;
}

/** After a failure of Redis it warns once, and uses the files for the rest of the run. */
export class SharedStore implements TokenStore, MutexStore {
  readonly keys: AccountKeys;
  /** The files of this machine. */
  readonly files: FileStore;
  readonly #io: Io;
  readonly #warn: (message: string, facts?: Facts) => void;
  #hasFailed = false;

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

  /** Returns the token of this machine, or the shared one if that has little time left. */
  async read(refused?: ReadonlySet<string>): Promise<CachedToken | undefined> {
    const local = this.files.read(refused);
    if (local && !needsRenewal(local, this.#io.now())) return local;
    const shared = (await this.#try(() => this.keys.readToken()))?.result;
    if (shared === undefined || refused?.has(shared.token)) return local;
    await this.#writeCopy(shared);
    return shared;
  }

  /** @throws ImgctlError failed: neither the store nor a file can take a token */
  async testWrite(): Promise<void> {
    await this.#try(() => this.keys.rehearse());
    if (this.#hasFailed) await this.files.testWrite();
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const shared = (await this.#try(() => this.keys.readLimit(now)))?.result;
    return shared && isInForce(shared, now) ? shared : this.files.readLimit(now);
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const stored = await this.#try(() => this.keys.writeLimit(limit));
    await this.files.writeLimit(limit, { isOptional: stored !== undefined });
  }

  /**
   * Runs a request under the mutex. What follows if Redis fails meanwhile:
   *
   *     while the mutex is taken or checked, or a refusal read    the request starts again with
   *                                                               the files
   *     while a token, a limit or a refusal is written, or        it goes on, with the files for
   *     a token or a limit is read                                these
   */
  async withTokenMutex<Result>(work: TokenWork<Result>): Promise<Result> {
    const shared = await this.#try(() => runUnderMutex(work, this));
    return shared ? shared.result : this.files.withTokenMutex(work);
  }

  readRefusal(): Promise<Refusal | undefined> {
    return this.keys.readRefusal();
  }

  /** Calls `reuse` during the wait, so that a fleet need not take the mutex one by one. */
  async acquire<Result>(reuse: () => Promise<Result | undefined>) {
    const owner = builtin('node:crypto').randomUUID();
    const found = await this.#takeMutex(owner, reuse);
    return found === undefined ? this.#hold(owner) : { found };
  }

  #hold(owner: string): HeldMutex {
    const renewal = setInterval(() => {
      this.keys.renewMutex(owner).catch(() => {});
    }, RENEWAL).unref();
    return {
      assertHeld: () => this.#assertHeld(owner),
      writeToken: (token) => this.#writeToken(token, owner),
      writeRefusal: (refusal) => this.#writeRefusal(refusal),
      release: async () => {
        clearInterval(renewal);
        await this.keys.releaseMutex(owner);
      },
    };
  }

  /** Returns undefined with the mutex, or what `reuse` found during the wait. */
  async #takeMutex<Result>(owner: string, reuse: () => Promise<Result | undefined>) {
    const io = this.#io;
    const latest = io.elapsed() + PATIENCE;
    while (!(await this.keys.takeMutex(owner))) {
      if (io.elapsed() > latest) {
        const message = `another imgctl has been requesting a token for ${PATIENCE / 1000} s`;
        throw new ImgctlError('locked', message, { facts: 'try again later' });
      }
      await io.sleep(PAUSE * (0.5 + io.random()), io.signal);
      const found = await reuse();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #assertHeld(owner: string): Promise<void> {
    if (await this.keys.renewMutex(owner)) return;
    const message = 'another imgctl took the lock of the token store';
    throw new MutexLostError('failed', message, { facts: 'run the command again' });
  }

  async #writeToken(token: CachedToken, owner: string): Promise<boolean> {
    const stored = await this.#try(() => this.keys.writeToken(token, owner));
    if (stored === undefined) await this.files.write(token);
    else if (stored.result) await this.#writeCopy(token);
    return stored?.result ?? true;
  }

  async #writeRefusal(refusal: Refusal): Promise<void> {
    await this.#try(() => this.keys.writeRefusal(refusal));
    await this.files.writeRefusal(refusal);
  }

  /** Copies a shared token to this machine, unless a logout meanwhile deleted it in both places. */
  async #writeCopy(token: CachedToken): Promise<void> {
    await this.files.write(token, { isOptional: true });
    const shared = await this.#try(() => this.keys.readToken());
    if (shared && shared.result?.token !== token.token) this.files.remove();
  }

  /** Returns undefined if the store fails, or has failed before. */
  async #try<Result>(work: () => Promise<Result>): Promise<Done<Result> | undefined> {
    if (this.#hasFailed) return undefined;
    try {
      return { result: await work() };
    } catch (error) {
      if (!(error instanceof SharedStoreError)) throw error;
      // Work may contain work, of which the inner one has warned.
      if (!this.#hasFailed) {
        const message = `cannot use the token store ${this.location}: ${error.message}`;
        this.#warn(message, { kind: 'store-failed' });
      }
      this.#hasFailed = true;
      return undefined;
    }
  }
}
