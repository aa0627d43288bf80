// Tokens that all machines of an account share in Redis; the files of this machine stand in for it.

import { isToken } from '../../api/auth.ts';
import { asImgctlError, ImgctlError } from '../../errors.ts';
import { shortDigest } from '../../files/paths.ts';
import { builtin, type Clock, type Io } from '../../io.ts';
import { isObject, type JsonObject } from '../../json.ts';
import { findSecret } from '../secrets.ts';
import type { StoreAddress } from '../setting-values.ts';
import type { Settings } from '../settings.ts';
import type { TokenCache } from '../token-cache.ts';
import {
  type CachedToken,
  isInForce,
  needsRenewal,
  type RememberedLimit,
  StoreError,
  type TokenStore,
  type Turn,
} from '../token-store.ts';
import { connectStore, type StoreConnection } from './redis.ts';
import { isSealed, type Seal, sealWith } from './seal.ts';

/** Milliseconds in which the holder of the lock reads the password, and again to request the token. */
export const LOCK_TIME = 30_000;
/** As long as others wait for the lock of a file. */
const PATIENCE = 120_000;
const MIN_WAIT = 50;
const MAX_WAIT = 500;
/** The hint for a token that cannot be read. */
const DELETE = 'delete it: imgctl logout --all';

interface StoreOptions {
  readonly address: StoreAddress;
  readonly settings: Settings;
  /** The tokens of this machine. */
  readonly files: TokenCache;
  readonly io: Io;
  /** Additional trusted certificates, PEM. */
  readonly ca: string | undefined;
  readonly warn: (message: string, hint?: string) => void;
  readonly onSecret: (secret: string) => void;
}

/** @throws ImgctlError config: the key is invalid, or its file is unreadable */
export async function openSharedStore(options: StoreOptions): Promise<SharedStore> {
  const { settings, io, onSecret } = options;
  const secret = findSecret(settings, io, 'storeKey');
  if (secret === undefined) return new SharedStore(options, undefined);
  const key = await secret.read();
  onSecret(key);
  return new SharedStore(options, sealWith(key, secret.origin));
}

/**
 * Times in the store are relative to its own clock, so those of the machines may differ. After a failure it warns
 * once, and uses the files for the rest of the run.
 */
export class SharedStore implements TokenStore {
  readonly #options: StoreOptions;
  readonly #seal: Seal | undefined;
  readonly #digest: string;
  #connection: Promise<StoreConnection> | undefined;
  #failure: StoreError | undefined;

  constructor(options: StoreOptions, seal: Seal | undefined) {
    const { baseUrl, username } = options.settings.account;
    this.#options = options;
    this.#seal = seal;
    this.#digest = shortDigest([baseUrl, username].join('\0'), 64);
  }

  /** The braces put all keys of an account on one node of a cluster. */
  #key(name: 'lock' | 'token' | 'limit' | 'check'): string {
    return `imgctl:{${this.#digest.slice(0, 32)}}:${name}`;
  }

  get location(): string {
    return this.#options.address.text;
  }

  async read(refused?: string): Promise<CachedToken | undefined> {
    const { files, io } = this.#options;
    const local = files.read(refused);
    if (local && !needsRenewal(local, io.now())) return local;
    const shared = await this.#try(async (connection) => this.#readToken(connection));
    if (shared === undefined || shared.token === refused) return local;
    await files.write(shared, true);
    return shared;
  }

  async write(token: CachedToken): Promise<void> {
    const { files, io } = this.#options;
    const isStored = await this.#try(async (connection) => {
      // Never replaces what another key has sealed.
      await this.#readToken(connection);
      const text = JSON.stringify({
        account: this.#digest,
        token: token.token,
        lifetime: token.expiresAt - token.receivedAt,
      });
      const key = this.#key('token');
      const value = this.#seal ? this.#seal.seal(text, key) : text;
      await connection.set(key, value, token.expiresAt - io.now());
      return true;
    });
    await files.write(token, isStored);
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const shared = await this.#try(async (connection) => {
      const found = await connection.get(this.#key('limit'));
      const { remaining, window } = parseObject(found?.value);
      if (!found || typeof remaining !== 'number' || typeof window !== 'number') return undefined;
      const resetsAt = now + found.milliseconds;
      const limit = { remaining, receivedAt: Math.min(now, resetsAt - window), resetsAt };
      return isInForce(limit, now) ? limit : undefined;
    });
    return shared ?? this.#options.files.readLimit(now);
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const { files, io } = this.#options;
    const { remaining, receivedAt, resetsAt } = limit;
    const value = JSON.stringify({ remaining, window: resetsAt - receivedAt });
    const isStored = await this.#try(async (connection) => {
      await connection.set(this.#key('limit'), value, resetsAt - io.now());
      return true;
    });
    await files.writeLimit(limit, isStored);
  }

  async takeTurn<Result>(turn: Turn<Result>, io: Clock): Promise<Result> {
    const shared = await this.#try(async (connection) => ({
      result: await this.#takeSharedTurn(connection, turn, io),
    }));
    return shared ? shared.result : this.#options.files.takeTurn(turn, io);
  }

  /** Deletes the shared token. @returns true if there was one. @throws StoreError */
  async forget(): Promise<boolean> {
    const connection = await this.#connect();
    return connection.delete(this.#key('token'));
  }

  /**
   * Connects, reads and writes.
   * @returns the time of one command, and how far the clock of this machine is ahead of the store's, both in
   *   milliseconds; and whether this machine seals tokens
   * @throws StoreError
   */
  async inspect() {
    const { io } = this.#options;
    const connection = await this.#connect();
    const started = io.now();
    const seconds = await connection.clock();
    const milliseconds = io.now() - started;
    const ahead = started + milliseconds / 2 - seconds * 1_000;
    await connection.set(this.#key('check'), 'imgctl doctor', 1_000);
    await this.#readToken(connection);
    await this.#checkLock(connection);
    return { milliseconds, ahead, isSealed: this.#seal !== undefined };
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
  }

  /** @throws StoreError before the action starts, or if another machine took the lock meanwhile */
  async #takeSharedTurn<Result>(
    connection: StoreConnection,
    { findExisting, action }: Turn<Result>,
    io: Clock,
  ): Promise<Result> {
    const lock = this.#key('lock');
    const owner = builtin('node:crypto').randomUUID();
    const confirm = async () => {
      if (await connection.renewLock(lock, owner, LOCK_TIME)) return;
      throw new StoreError('another machine took its lock');
    };
    const deadline = io.now() + PATIENCE;
    for (let wait = MIN_WAIT; ; wait = Math.min(2 * wait, MAX_WAIT)) {
      const found = await findExisting();
      if (found !== undefined) return found;
      if (this.#failure) throw this.#failure;
      if (await connection.takeLock(lock, owner, LOCK_TIME)) {
        try {
          // Another machine may have stored its token and released the lock just before.
          return (await findExisting()) ?? (await action(confirm));
        } finally {
          // After a failure it expires.
          await connection.releaseLock(lock, owner).catch(() => {});
        }
      }
      await this.#checkLock(connection);
      if (io.now() > deadline) {
        const message = `another imgctl has requested a token for ${PATIENCE / 1000} s`;
        throw new ImgctlError('timeout', message, { hint: 'try again later' });
      }
      await io.sleep(wait * (0.5 + io.random()), io.signal);
    }
  }

  /** A lock that imgctl did not set may stay forever. */
  async #checkLock(connection: StoreConnection): Promise<void> {
    const lock = this.#key('lock');
    const left = await connection.timeLeft(lock);
    if (left === -2 || (left >= 0 && left <= LOCK_TIME)) return;
    const flaw = left < 0 ? 'has no time limit' : `is set for more than ${LOCK_TIME / 1000} s`;
    throw new StoreError(`its lock ${flaw}`, `delete the key ${lock} in the store`);
  }

  /** Returns undefined if the store cannot be used. */
  async #try<Result>(
    work: (connection: StoreConnection) => Promise<Result>,
  ): Promise<Result | undefined> {
    if (this.#failure) return undefined;
    try {
      return await work(await this.#connect());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (this.#failure === undefined) {
        const message = `cannot use the token store ${this.location}: ${error.message}`;
        this.#options.warn(message, 'tokens of this machine are used; check: imgctl doctor');
      }
      this.#failure ??= error;
      return undefined;
    }
  }

  #connect(): Promise<StoreConnection> {
    this.#connection ??= this.#open();
    return this.#connection;
  }

  /** @throws StoreError, also if there is no password: a store never stops a command */
  async #open(): Promise<StoreConnection> {
    const { address, settings, io, ca, onSecret } = this.#options;
    let password: string | undefined;
    try {
      password = await findSecret(settings, io, 'storePassword')?.read();
    } catch (error) {
      io.signal.throwIfAborted();
      const { message, hint } = asImgctlError(error);
      throw new StoreError(message, hint);
    }
    if (password !== undefined) onSecret(password);
    return connectStore({ address, password, ca, io });
  }

  async #readToken(connection: StoreConnection): Promise<CachedToken | undefined> {
    const found = await connection.get(this.#key('token'));
    if (found === undefined) return undefined;
    const { account, token, lifetime } = parseObject(this.#unseal(found.value));
    if (account !== this.#digest || typeof token !== 'string' || !isToken(token)) {
      throw new StoreError('it holds something other than a token');
    }
    const expiresAt = this.#options.io.now() + found.milliseconds;
    const age =
      typeof lifetime === 'number' && lifetime > found.milliseconds ? lifetime : found.milliseconds;
    return { token, receivedAt: expiresAt - age, expiresAt };
  }

  #unseal(text: string): string {
    const seal = this.#seal;
    if (!isSealed(text)) {
      if (seal === undefined) return text;
      throw new StoreError('its token is not sealed, but a key is set', DELETE);
    }
    const unsealed = seal?.unseal(text, this.#key('token'));
    if (unsealed !== undefined) return unsealed;
    const message = `its token is sealed with ${seal ? 'another key' : 'a key'}`;
    throw new StoreError(message, `set the key that sealed it, or ${DELETE}`);
  }
}

function parseObject(text: string | undefined): JsonObject {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
