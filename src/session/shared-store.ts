// Tokens that all machines of an account share in Redis; the files of this machine stand in for it.

import { isToken } from '../api/auth.ts';
import { asImgctlError, ImgctlError, valueOr } from '../errors.ts';
import { shortDigest } from '../files/paths.ts';
import { builtin, type Clock, type Io } from '../io.ts';
import { connectStore, type StoreConnection } from './redis.ts';
import { findSecret } from './secrets.ts';
import type { StoreAddress } from './setting-table.ts';
import type { Settings } from './settings.ts';
import {
  type CachedToken,
  isInForce,
  needsRenewal,
  type RememberedLimit,
  StoreError,
  type TokenCache,
  type TokenStore,
  type Turn,
} from './token-cache.ts';

/** Milliseconds in which the holder of the lock reads the password, and again to request the token. */
const LOCK_TIME = 30_000;
/** As long as others wait for the lock of a file. */
const PATIENCE = 120_000;
const MIN_WAIT = 50;
const MAX_WAIT = 500;
/** The hint for a token that cannot be read. */
const DELETE = 'delete it: imgctl logout --all';

interface StoreOptions {
  readonly address: StoreAddress;
  /** Seals tokens. */
  readonly key: Buffer | undefined;
  readonly settings: Settings;
  /** The tokens of this machine. */
  readonly files: TokenCache;
  readonly io: Io;
  /** Additional trusted certificates, PEM. */
  readonly ca: string | undefined;
  readonly warn: (message: string, hint?: string) => void;
  readonly onSecret: (secret: string) => void;
}

/**
 * Times in the store are relative to its own clock, so those of the machines may differ. After a failure it warns
 * once, and uses the files for the rest of the run.
 */
export class SharedStore implements TokenStore {
  readonly #options: StoreOptions;
  readonly #digest: string;
  #connection: Promise<StoreConnection> | undefined;
  #failure: StoreError | undefined;

  constructor(options: StoreOptions) {
    const { baseUrl, username } = options.settings.account;
    this.#options = options;
    this.#digest = shortDigest([baseUrl, username].join('\0'), 32);
  }

  /** The braces put all keys of an account on one node of a cluster. */
  #nameOf(what: 'lock' | 'token' | 'limit' | 'check'): string {
    return `imgctl:{${this.#digest}}:${what}`;
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
    const { files, io, key } = this.#options;
    const isStored = await this.#try(async (connection) => {
      // Never replaces what another key has sealed.
      await this.#readToken(connection);
      const name = this.#nameOf('token');
      const value = key ? seal(token.token, name, key) : token.token;
      await connection.set(name, value, token.expiresAt - io.now());
      return true;
    });
    await files.write(token, isStored);
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const found = await this.#try((connection) => connection.get(this.#nameOf('limit')));
    const resetsAt = now + (found?.milliseconds ?? 0);
    const limit = { remaining: Number(found?.value), receivedAt: now, resetsAt };
    const isShared = /^\d+$/.test(found?.value ?? '') && isInForce(limit, now);
    return isShared ? limit : this.#options.files.readLimit(now);
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const { files, io } = this.#options;
    const isStored = await this.#try(async (connection) => {
      const left = limit.resetsAt - io.now();
      await connection.set(this.#nameOf('limit'), `${limit.remaining}`, left);
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
    return connection.delete(this.#nameOf('token'));
  }

  /** Connects, writes and reads. @returns the milliseconds of one command. @throws StoreError */
  async inspect(): Promise<number> {
    const { io } = this.#options;
    const connection = await this.#connect();
    const started = io.now();
    await connection.set(this.#nameOf('check'), 'imgctl doctor', 1_000);
    const milliseconds = io.now() - started;
    await this.#readToken(connection);
    await this.#checkLock(connection);
    return milliseconds;
  }

  get isSealed(): boolean {
    return this.#options.key !== undefined;
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
    const lock = this.#nameOf('lock');
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
    const lock = this.#nameOf('lock');
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
    return connectStore(address, password, ca, io);
  }

  async #readToken(connection: StoreConnection): Promise<CachedToken | undefined> {
    const found = await connection.get(this.#nameOf('token'));
    if (found === undefined) return undefined;
    const token = this.#unseal(found.value);
    if (!isToken(token)) throw new StoreError('it holds something other than a token');
    const now = this.#options.io.now();
    return { token, receivedAt: now, expiresAt: now + found.milliseconds };
  }

  #unseal(text: string): string {
    const { key } = this.#options;
    if (!text.startsWith(SEALED)) {
      if (key === undefined) return text;
      throw new StoreError('its token is not sealed, but a key is set', DELETE);
    }
    const unsealed = key && unseal(text, this.#nameOf('token'), key);
    if (unsealed !== undefined) return unsealed;
    const message = `its token is sealed with ${key ? 'another key' : 'a key'}`;
    throw new StoreError(message, `set the key that sealed it, or ${DELETE}`);
  }
}

const SEALED = 'sealed:';
const CIPHER = 'aes-256-gcm';
const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * @param text 32 bytes in hexadecimal or base64
 * @param origin the variable it comes from, for messages
 * @throws ImgctlError config
 */
export function parseKey(text: string, origin: string): Buffer {
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (key.length === KEY_LENGTH) return key;
  throw new ImgctlError('config', `${origin} is not a key of 32 bytes in base64`, {
    hint: 'create one with: openssl rand -base64 32',
  });
}

/**
 * Seals a token, so that the store itself cannot read or change it.
 * @param name the key of the text in the store; under another one it is not unsealed
 */
export function seal(text: string, name: string, key: Buffer): string {
  const { createCipheriv, randomBytes } = builtin('node:crypto');
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return SEALED + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
}

/** Returns undefined if it was sealed with another key or name, or changed. */
export function unseal(sealed: string, name: string, key: Buffer): string | undefined {
  const data = Buffer.from(sealed.slice(SEALED.length), 'base64');
  const body = NONCE_LENGTH + TAG_LENGTH;
  return valueOr(() => {
    const nonce = data.subarray(0, NONCE_LENGTH);
    const decipher = builtin('node:crypto')
      .createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_LENGTH })
      .setAAD(Buffer.from(name))
      .setAuthTag(data.subarray(NONCE_LENGTH, body));
    return Buffer.concat([decipher.update(data.subarray(body)), decipher.final()]).toString();
  }, undefined);
}
