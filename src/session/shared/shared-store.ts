// Tokens that all machines of an account share in Redis; the files of this machine stand in for it.

import { isToken } from '../../api/auth.ts';
import { shortDigest } from '../../files/paths.ts';
import { builtin, type Clock } from '../../io.ts';
import { isObject, type JsonObject } from '../../json.ts';
import type { TokenCache } from '../token-cache.ts';
import type { Account } from '../token-store.ts';
import {
  type CachedToken,
  isInForce,
  needsRenewal,
  type RememberedLimit,
  StoreError,
  type TokenStore,
  type Turn,
} from '../token-store.ts';
import { leasesAt, readKey, writeKey } from './commands.ts';
import { takeLeasedTurn } from './lease.ts';
import { type StoreConnection, UNEXPECTED } from './redis.ts';
import { isSealed, type Seal } from './seal.ts';

/** A long run tries the store again after this time. */
const DOWN_TIME = 60_000;
/** The hint for a token that cannot be read. */
const DELETE = 'delete it: imgctl logout --all';

interface SharedStoreOptions {
  readonly account: Account;
  /** The store's address, for messages. */
  readonly address: string;
  /** The tokens of this machine. */
  readonly files: TokenCache;
  readonly io: Clock;
  /** @throws StoreError */
  readonly connect: () => Promise<StoreConnection>;
  readonly seal: Seal | undefined;
  readonly warn: (message: string, hint?: string) => void;
}

export interface StoreFacts {
  /** The time of one command. */
  readonly milliseconds: number;
  /** How far the clock of this machine is ahead of the store's, in milliseconds. */
  readonly ahead: number;
  /** True if this machine seals tokens. */
  readonly isSealed: boolean;
}

/**
 * Times in the store are relative to its own clock, so those of the machines may differ. A store that fails
 * costs one warning; the local files are used then.
 */
export class SharedStore implements TokenStore {
  readonly #options: SharedStoreOptions;
  readonly #names: Readonly<Record<'lease' | 'token' | 'limit' | 'check', string>>;
  readonly #digest: string;
  #connection: Promise<StoreConnection> | undefined;
  /** The fencing value of the turn under way. */
  #owner = '';
  #downUntil = 0;
  #warned = false;

  constructor(options: SharedStoreOptions) {
    this.#options = options;
    const { baseUrl, username } = options.account;
    this.#digest = shortDigest([baseUrl, username].join('\0'), 64);
    // The braces put all keys of an account on one node of a cluster.
    const prefix = `imgctl:{${this.#digest.slice(0, 32)}}`;
    this.#names = {
      lease: `${prefix}:lease`,
      token: `${prefix}:token`,
      limit: `${prefix}:limit`,
      check: `${prefix}:check`,
    };
  }

  get place(): string {
    return this.#options.address;
  }

  async read(refused?: string): Promise<CachedToken | undefined> {
    const { files, io } = this.#options;
    const local = files.read(refused);
    if (local && !needsRenewal(local, io.now())) return local;
    const shared = await this.#try(() => this.#readToken());
    if (shared === undefined || shared.token === refused) return local;
    await files.write(shared, true);
    return shared;
  }

  async write(token: CachedToken): Promise<void> {
    const { files, io } = this.#options;
    const isStored = await this.#try(async () => {
      // Never replaces what another key has sealed.
      await this.#readToken();
      const text = JSON.stringify({
        account: this.#digest,
        token: token.token,
        lifetime: token.expiresAt - token.receivedAt,
      });
      const { seal } = this.#options;
      const value = seal ? seal.seal(text, this.#names.token) : text;
      await this.#write(this.#names.token, value, token.expiresAt - io.now());
      return true;
    });
    await files.write(token, isStored);
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const shared = await this.#try(async () => {
      const found = await readKey(await this.#connect(), this.#names.limit);
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
    const isStored = await this.#try(async () => {
      await this.#write(this.#names.limit, value, resetsAt - io.now());
      return true;
    });
    await files.writeLimit(limit, isStored);
  }

  async takeTurn<Result>(turn: Turn<Result>, io: Clock): Promise<Result> {
    const shared = await this.#takeSharedTurn(turn, io);
    if (shared) return shared.result;
    return this.#options.files.takeTurn(turn, io);
  }

  /** Deletes the shared token. @returns true if there was one. @throws StoreError */
  async forget(): Promise<boolean> {
    const connection = await this.#connect();
    return (await connection.call('DEL', this.#names.token)) === 1;
  }

  /** Connects, reads and writes. @throws StoreError */
  async inspect(): Promise<StoreFacts> {
    const { io, seal } = this.#options;
    const connection = await this.#connect();
    const started = io.now();
    const time = await connection.call('TIME');
    const milliseconds = io.now() - started;
    const [seconds = Number.NaN] = Array.isArray(time) ? time.map(Number) : [];
    const ahead = started + milliseconds / 2 - seconds * 1_000;
    if (Number.isNaN(ahead)) throw new StoreError(UNEXPECTED);
    await this.#write(this.#names.check, 'imgctl doctor', 1_000);
    await this.#readToken();
    return { milliseconds, ahead, isSealed: seal !== undefined };
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    this.#connection = undefined;
    connection?.close();
  }

  /** Returns undefined if the store cannot be used. Only then may the turn not have begun. */
  async #takeSharedTurn<Result>(
    turn: Turn<Result>,
    io: Clock,
  ): Promise<{ readonly result: Result } | undefined> {
    const leases = leasesAt(this.#names.lease, () => this.#connect());
    const newOwner = () => {
      this.#owner = builtin('node:crypto').randomUUID();
      return this.#owner;
    };
    return this.#try(async () => ({ result: await takeLeasedTurn(leases, turn, newOwner, io) }));
  }

  /** Returns undefined if the store is down. */
  async #try<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    const { io, address, warn } = this.#options;
    if (io.now() < this.#downUntil) return undefined;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#downUntil = io.now() + DOWN_TIME;
      await this.close();
      const message = `cannot use the token store ${address}: ${error.message}`;
      if (!this.#warned) warn(message, 'tokens of this machine are used; check: imgctl doctor');
      this.#warned = true;
      return undefined;
    }
  }

  async #write(name: string, value: string, milliseconds: number): Promise<void> {
    const lease = { name: this.#names.lease, owner: this.#owner };
    await writeKey(await this.#connect(), name, { value, milliseconds }, lease);
  }

  #connect(): Promise<StoreConnection> {
    this.#connection ??= this.#options.connect();
    return this.#connection;
  }

  async #readToken(): Promise<CachedToken | undefined> {
    const found = await readKey(await this.#connect(), this.#names.token);
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
    const { seal } = this.#options;
    if (!isSealed(text)) {
      if (seal === undefined) return text;
      throw new StoreError('its token is not sealed, but a key is set', DELETE);
    }
    const unsealed = seal?.unseal(text, this.#names.token);
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
