// The token store that machines share in Redis; if it fails, the files of this machine.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { MutexLostError } from '../files/mutex.ts';
import { builtin, type Io } from '../io.ts';
import { type CachedToken, isInForce, needsRenewal, type RememberedLimit } from './cached-token.ts';
import type { FileStore } from './file-store.ts';
import type { RedisAccount } from './redis-account.ts';
import {
  type Acquired,
  type HeldMutex,
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

/** After a failure of Redis it warns once, and uses the files for the rest of the run. */
export class SharedStore implements TokenStore {
  readonly redis: RedisAccount;
  /** The files of this machine. */
  readonly files: FileStore;
  readonly #io: Io;
  readonly #warn: (message: string, facts?: Facts) => void;
  #hasFailed = false;

  constructor(
    redis: RedisAccount,
    files: FileStore,
    io: Io,
    warn: (message: string, facts?: Facts) => void,
  ) {
    this.redis = redis;
    this.files = files;
    this.#io = io;
    this.#warn = warn;
  }

  get location(): string {
    return this.redis.location;
  }

  /** Returns the token of this machine, or the shared one if that has little time left. */
  async read(refused?: ReadonlySet<string>): Promise<CachedToken | undefined> {
    const local = this.files.read(refused);
    if (local && !needsRenewal(local, this.#io.now())) return local;
    const shared = await this.#tryRedis(() => this.redis.readToken(), nothing);
    if (shared === undefined || refused?.has(shared.token)) return local;
    // A token in its last minute is read every 300 ms by a process that waits for the mutex.
    const isCopied = shared.token === local?.token && needsRenewal(shared, this.#io.now());
    if (!isCopied) await this.#writeCopy(shared);
    return shared;
  }

  /** @throws ImgctlError failed: neither the store nor a file can take a token */
  async testWrite(): Promise<void> {
    await this.#tryRedis(
      () => this.redis.rehearse(),
      () => this.files.testWrite(),
    );
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const shared = await this.#tryRedis(() => this.redis.readLimit(now), nothing);
    return shared && isInForce(shared, now) ? shared : this.files.readLimit(now);
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const isShared = await this.#tryRedis(
      () => this.redis.writeLimit(limit).then(() => true),
      async () => false,
    );
    await this.files.writeLimit(limit, { isOptional: isShared });
  }

  /**
   * Runs a request under the mutex. What follows if Redis fails meanwhile:
   *
   *     while the mutex is taken or checked, or a refusal read    the request starts again with
   *                                                               the files
   *     while a token, a limit or a refusal is written, or        it goes on, with the files for
   *     a token or a limit is read                                these
   */
  withTokenMutex<Result>(work: TokenWork<Result>): Promise<Result> {
    return this.#tryRedis(
      () =>
        runUnderMutex(work, {
          acquire: () => this.#acquire(work),
          readRefusal: () => this.redis.readRefusal(),
        }),
      () => this.files.withTokenMutex(work),
    );
  }

  /**
   * Waits for the mutex, and calls `reuse` meanwhile, so that a fleet need not take it one by one.
   * @throws ImgctlError locked; SharedStoreError
   */
  async #acquire<Result>({ reuse }: TokenWork<Result>): Promise<Acquired<Result>> {
    const io = this.#io;
    const owner = builtin('node:crypto').randomUUID();
    const latest = io.elapsed() + PATIENCE;
    while (!(await this.redis.takeMutex(owner))) {
      if (io.elapsed() > latest) {
        const message = `another imgctl has been requesting a token for ${PATIENCE / 1000} s`;
        throw new ImgctlError('locked', message, { facts: 'try again later' });
      }
      await io.sleep(PAUSE * (0.5 + io.random()), io.signal);
      const found = await reuse();
      if (found !== undefined) return { found };
    }
    return { mutex: this.#hold(owner) };
  }

  #hold(owner: string): HeldMutex {
    const renewal = setInterval(() => {
      this.redis.renewMutex(owner).catch(() => {});
    }, RENEWAL).unref();
    return {
      assertHeld: () => this.#assertHeld(owner),
      writeToken: (token) => this.#writeToken(token, owner),
      writeRefusal: async (refusal) => {
        await this.#tryRedis(() => this.redis.writeRefusal(refusal), nothing);
        await this.files.writeRefusal(refusal);
      },
      release: async () => {
        clearInterval(renewal);
        await this.redis.releaseMutex(owner);
      },
    };
  }

  async #assertHeld(owner: string): Promise<void> {
    if (await this.redis.renewMutex(owner)) return;
    const message = 'another imgctl took the lock of the token store';
    throw new MutexLostError('failed', message, { facts: 'run the command again' });
  }

  async #writeToken(token: CachedToken, owner: string): Promise<boolean> {
    const inRedis = async () => {
      const isStored = await this.redis.writeToken(token, owner);
      if (isStored) await this.#writeCopy(token);
      return isStored;
    };
    const inFile = async () => {
      await this.files.write(token);
      return true;
    };
    return this.#tryRedis(inRedis, inFile);
  }

  /** Copies a shared token to this machine, unless a logout meanwhile deleted it in both places. */
  async #writeCopy(token: CachedToken): Promise<void> {
    await this.files.write(token, { isOptional: true });
    await this.#tryRedis(async () => {
      const shared = await this.redis.readToken();
      if (shared?.token !== token.token) this.files.remove();
    }, nothing);
  }

  /** Returns the result of `work`, or of `instead` if Redis fails now or has failed before. */
  async #tryRedis<Result>(
    work: () => Promise<Result>,
    instead: () => Promise<Result>,
  ): Promise<Result> {
    if (!this.#hasFailed) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof SharedStoreError)) throw error;
        this.#giveUp(error);
      }
    }
    return instead();
  }

  /** Warns once. What to do about the error, doctor shows. */
  #giveUp({ message }: SharedStoreError): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const warning = `cannot use the token store ${this.location}: ${message}`;
    this.#warn(warning, { kind: 'store-failed' });
  }
}

async function nothing(): Promise<undefined> {}
