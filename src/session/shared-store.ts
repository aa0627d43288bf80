// Tokens that all machines of an account share in Redis; the files of this machine stand in for it.

import { isToken } from '../api/auth.ts';
import type { Settings } from '../config/settings.ts';
import type { RedisAddress } from '../config/storage-urls.ts';
import { asImgctlError, attempt, ImgctlError } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import { builtin, type Clock, type Io } from '../io.ts';
import { isObject } from '../json.ts';
import { findSecret } from '../secrets/secrets.ts';
import { Redis } from './redis.ts';
import { parseRefusal, type Refusal } from './refusal.ts';
import { SEALED, seal, unseal } from './sealing.ts';
import type { TokenCache } from './token-cache.ts';
import { accountKey } from './token-files.ts';
import {
  type CachedToken,
  isInForce,
  needsRenewal,
  type RememberedLimit,
  runWhileHeld,
  SharedStoreError,
  type TokenRequest,
  type TokenStore,
} from './token-store.ts';

/** Milliseconds until the lock of a machine that died is free. */
const LOCK_TIME = 30_000;
/** Milliseconds between two renewals of the lock, since a password or a token may take longer than LOCK_TIME. */
const RENEWAL = 10_000;
/** Milliseconds in which all that wait for the lock have surely seen a refusal. */
const REFUSAL_TIME = 180_000;
/** Milliseconds to wait for the lock, as for that of a file. */
const PATIENCE = 120_000;
/** Milliseconds between two looks at the lock, on average. */
const WAIT = 300;

/**
 * KEYS[1] is the lock and ARGV[1] its owner. All commands are scripts of get and set: a user who lacks one of them, or
 * may not run scripts, cannot take a lock and leave it to the others.
 */
const TAKE = `if redis.call('get', KEYS[1]) then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;
const RENEW = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;
/** Stores a token for the owner of the lock. */
const STORE = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[2], ARGV[2], 'px', ARGV[3])
return 1`;
const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('set', KEYS[1], '', 'px', 1) end
return 1`;

interface SharedStoreOptions {
  readonly address: RedisAddress;
  /** Seals tokens. */
  readonly key: Buffer | undefined;
  readonly settings: Settings;
  readonly files: TokenCache;
  readonly io: Io;
  readonly ca: string | undefined;
  readonly warn: (message: string, facts?: Facts) => void;
  readonly onSecret: (secret: string) => void;
}

/**
 * Times in the store are relative to its own clock, so those of the machines may differ. After a failure it warns
 * once, and uses the files for the rest of the run.
 */
export class SharedStore implements TokenStore {
  /** The files of this machine. */
  readonly files: TokenCache;
  readonly #options: SharedStoreOptions;
  readonly #keys: Readonly<Record<'lock' | 'token' | 'limit' | 'refused' | 'check', string>>;
  readonly #redis: Redis;
  #failure: SharedStoreError | undefined;

  constructor(options: SharedStoreOptions) {
    // The braces put all keys of an account on one node of a cluster.
    const prefix = `imgctl:{${accountKey(options.settings.account, 32)}}`;
    const { address, ca, io, files } = options;
    this.files = files;
    this.#options = options;
    this.#redis = new Redis({ address, ca, io, readPassword: () => this.#readPassword() });
    this.#keys = {
      lock: `${prefix}:lock`,
      token: `${prefix}:token`,
      limit: `${prefix}:limit`,
      refused: `${prefix}:refused`,
      check: `${prefix}:check`,
    };
  }

  /** The URL, without a password. */
  get location(): string {
    return this.#options.address.text;
  }

  get isSealed(): boolean {
    return this.#options.key !== undefined;
  }

  async read(refused?: ReadonlySet<string>): Promise<CachedToken | undefined> {
    const { io } = this.#options;
    const local = this.files.read(refused);
    if (local && !needsRenewal(local, io.now())) return local;
    const shared = await this.#try(() => this.#readToken());
    if (shared === undefined || refused?.has(shared.token)) return local;
    await this.files.write(shared, { isCopy: true });
    return shared;
  }

  /** @throws ImgctlError failed: neither the store nor a file can take a token */
  async testWrite(): Promise<void> {
    await this.#try(() => this.#rehearse());
    if (this.#failure) await this.files.testWrite();
  }

  async readLimit(now: number): Promise<RememberedLimit | undefined> {
    const found = await this.#try(() => this.#get(this.#keys.limit));
    if (found && /^\d+$/.test(found.value)) {
      const resetsAt = now + found.milliseconds;
      const limit = { remaining: Number(found.value), receivedAt: now, resetsAt };
      if (isInForce(limit, now)) return limit;
    }
    return this.files.readLimit(now);
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const left = limit.resetsAt - this.#options.io.now();
    const stored = await this.#try(() => this.#set(this.#keys.limit, `${limit.remaining}`, left));
    await this.files.writeLimit(limit, { isCopy: stored === 'stored' });
  }

  /** Runs the request with the files of this machine if the store fails before its token is requested. */
  async withTokenMutex<Result>(request: TokenRequest<Result>, io: Clock): Promise<Result> {
    const shared = await this.#try(async () => ({
      result: await this.#withSharedMutex(request, io),
    }));
    return shared ? shared.result : this.files.withTokenMutex(request, io);
  }

  /** Deletes the shared token. @returns true if there was one. @throws SharedStoreError */
  async forget(): Promise<boolean> {
    // Who finds its lock gone stores no token.
    await this.#redis.send(['DEL', this.#keys.lock]);
    return (await this.#redis.send(['DEL', this.#keys.token])) === 1;
  }

  /** Runs each command of a renewal, and that of a logout. @throws SharedStoreError */
  async inspect(): Promise<void> {
    await this.#rehearse();
    await this.#redis.send(['DEL', this.#keys.check]);
  }

  /** Commands come before the scripts that need them: then the error names what the user may not run. */
  async #rehearse(): Promise<void> {
    const { check } = this.#keys;
    const owner = 'imgctl check';
    await this.#readToken();
    await this.#set(check, owner, 1_000);
    await this.#redis.run(RENEW, [check], [owner, '1000']);
    await this.#redis.run(RELEASE, [check], [owner]);
    await this.#checkLock();
  }

  close(): Promise<void> {
    return this.#redis.close();
  }

  /** @throws SharedStoreError before the action starts, or if another machine took the lock meanwhile */
  async #withSharedMutex<Result>(request: TokenRequest<Result>, io: Clock): Promise<Result> {
    const owner = builtin('node:crypto').randomUUID();
    const before = await this.#readRefusal();
    const started = io.elapsed();
    for (;;) {
      const found = await request.reuse();
      if (found !== undefined) return found;
      if (this.#failure) throw this.#failure;
      if (await this.#hold(TAKE, owner)) return await this.#runAndRelease(request, owner, before);
      await this.#checkLock();
      if (io.elapsed() - started > PATIENCE) {
        const message = `another imgctl has been requesting a token for ${PATIENCE / 1000} s`;
        throw new ImgctlError('locked', message, { facts: 'try again later' });
      }
      await io.sleep(WAIT * (0.5 + io.random()), io.signal);
    }
  }

  /** Returns false if another machine has the lock, or nobody has the one that is to be renewed. */
  async #hold(script: typeof TAKE | typeof RENEW, owner: string): Promise<boolean> {
    return (await this.#redis.run(script, [this.#keys.lock], [owner, `${LOCK_TIME}`])) === 1;
  }

  async #runAndRelease<Result>(
    request: TokenRequest<Result>,
    owner: string,
    before: Refusal | undefined,
  ): Promise<Result> {
    const renewal = setInterval(() => {
      this.#hold(RENEW, owner).catch(() => {});
    }, RENEWAL).unref();
    try {
      return await runWhileHeld(request, before, {
        readRefusal: () => this.#readRefusal(),
        refuse: (refusal) => this.#writeRefusal(refusal),
        store: (token) => this.#store(token, owner),
        confirm: () => this.#renewOrRetake(owner),
      });
    } finally {
      clearInterval(renewal);
      // Also after an interrupt. After a failure the lock expires.
      await this.#redis.run(RELEASE, [this.#keys.lock], [owner], []).catch(() => {});
    }
  }

  /** Returns false if the lock had to be taken again. @throws SharedStoreError: another machine has it */
  async #renewOrRetake(owner: string): Promise<boolean> {
    if (await this.#hold(RENEW, owner)) return true;
    // A logout deleted it, or this machine was suspended until it expired.
    if (await this.#hold(TAKE, owner)) return false;
    throw new SharedStoreError('another machine took its lock');
  }

  /** Stores a token in both places unless another machine has taken the lock: then returns false. */
  async #store(token: CachedToken, owner: string): Promise<boolean> {
    const outcome = await this.#try(() => this.#storeShared(token, owner));
    if (outcome === 'lost') return false;
    await this.files.write(token, { isCopy: outcome === 'stored' });
    return true;
  }

  async #storeShared(token: CachedToken, owner: string): Promise<'stored' | 'lost'> {
    const { io, key } = this.#options;
    // Throws instead of replacing what another key has sealed.
    await this.#readToken();
    const { lock, token: name } = this.#keys;
    const value = key ? seal(token.token, name, key) : token.token;
    const lifetime = wholeMilliseconds(token.expiresAt - io.now());
    const reply = await this.#redis.run(STORE, [lock, name], [owner, value, lifetime]);
    return reply === 1 ? 'stored' : 'lost';
  }

  async #readRefusal(): Promise<Refusal | undefined> {
    const found = await this.#get(this.#keys.refused);
    const { value } = attempt<unknown>(() => JSON.parse(found?.value ?? ''));
    return parseRefusal(isObject(value) ? value : undefined);
  }

  async #writeRefusal(refusal: Refusal): Promise<void> {
    await this.#try(() => this.#set(this.#keys.refused, JSON.stringify(refusal), REFUSAL_TIME));
    await this.files.writeRefusal(refusal);
  }

  /** A lock that imgctl did not set may stay forever. */
  async #checkLock(): Promise<void> {
    const { lock } = this.#keys;
    // -2: there is none; -1: it never expires.
    const left = Number(await this.#redis.send(['PTTL', lock]));
    if (left === -2 || (left >= 0 && left <= LOCK_TIME)) return;
    const flaw = left < 0 ? 'has no time limit' : `is set for more than ${LOCK_TIME / 1000} s`;
    throw new SharedStoreError(`its lock ${flaw}`, advice(`delete the key ${lock} in the store`));
  }

  /** Returns undefined if the store fails, or has failed before. */
  async #try<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#failure) return undefined;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SharedStoreError)) throw error;
      if (this.#failure === undefined) {
        const message = `cannot use the token store ${this.location}: ${error.message}`;
        this.#options.warn(message, { kind: 'store-failed' });
        this.#failure = error;
      }
      return undefined;
    }
  }

  /** Returns the value of a key, and the milliseconds until it expires. */
  async #get(key: string) {
    const [value, milliseconds] = await Promise.all([
      this.#redis.send(['GET', key]),
      this.#redis.send(['PTTL', key]),
    ]);
    const isEntry = typeof value === 'string' && typeof milliseconds === 'number';
    return isEntry && milliseconds > 0 ? { value, milliseconds } : undefined;
  }

  async #set(key: string, value: string, milliseconds: number): Promise<'stored'> {
    await this.#redis.send(['SET', key, value, 'PX', wholeMilliseconds(milliseconds)]);
    return 'stored';
  }

  async #readToken(): Promise<CachedToken | undefined> {
    const found = await this.#get(this.#keys.token);
    if (found === undefined) return undefined;
    const token = this.#unseal(found.value);
    if (!isToken(token)) throw new SharedStoreError('it holds something other than a token');
    const now = this.#options.io.now();
    return { token, receivedAt: now, expiresAt: now + found.milliseconds };
  }

  #unseal(text: string): string {
    const { key } = this.#options;
    if (!text.startsWith(SEALED)) {
      if (key === undefined) return text;
      const facts = { kind: 'store-token', needsKey: false } as const;
      throw new SharedStoreError('its token is not encrypted, but a key is set', facts);
    }
    const unsealed = key && unseal(text, this.#keys.token, key);
    if (unsealed !== undefined) return unsealed;
    const message = `its token is encrypted with ${key ? 'another key' : 'a key'}`;
    throw new SharedStoreError(message, { kind: 'store-token', needsKey: true });
  }

  /** @throws SharedStoreError: a store without its password does not stop a command either */
  async #readPassword(): Promise<string | undefined> {
    const { settings, io, onSecret } = this.#options;
    try {
      const password = await findSecret(settings, io, 'storePassword')?.read();
      if (password !== undefined) onSecret(password);
      return password;
    } catch (error) {
      io.signal.throwIfAborted();
      const { message, facts } = asImgctlError(error);
      throw new SharedStoreError(message, facts);
    }
  }
}

function wholeMilliseconds(milliseconds: number): string {
  return `${Math.max(1, Math.round(milliseconds))}`;
}
