// What Redis holds of one account: its token, limit and refusal, and the mutex of its requests.

import { isToken } from '../api/token-request.ts';
import type { Settings } from '../config/settings.ts';
import type { RedisAddress } from '../config/storage-urls.ts';
import { asImgctlError, attempt } from '../errors.ts';
import type { Io } from '../io.ts';
import { isObject } from '../json.ts';
import { findSecret } from '../secrets/secrets.ts';
import { isDigits } from '../words.ts';
import { type CachedToken, isInForce, type RememberedLimit } from './cached-token.ts';
import { Redis } from './redis.ts';
import { parseRefusal, type Refusal } from './refusal.ts';
import { SEALED, seal, unseal } from './sealing.ts';
import { accountDigest } from './token-files.ts';
import { SharedStoreError } from './token-store.ts';

/** Milliseconds until the mutex of a machine that died is free. */
const MUTEX_TIME = 30_000;
/** Milliseconds in which every process that waits for the mutex, or holds it, surely notices. */
const NOTICE_TIME = 180_000;

/** Never aborts: the token of a request that was sent is stored after an interrupt too. */
export const NEVER_ABORTS = new AbortController().signal;

/**
 * The mutex is the key `lock`, KEYS[1], whose value is the owner, ARGV[1]. A logout deletes it, and
 * sets the key `logout`, KEYS[2], since another owner may take and release the mutex soon after:
 *
 *     lock                     others take it    the owner goes on    the owner stores its token
 *     the owner                no                yes                  yes
 *     another owner            no                no                   no
 *     none since a logout      yes               no                   no
 *     none: Redis was          yes               yes, and sets        unless there is a token,
 *     restarted, or the                          no lock: another     which another may have
 *     machine was asleep                         may be about to      stored
 *
 * TAKE also takes one without a time limit, which imgctl never sets. It deletes first: a user who
 * may not do that could not release the mutex.
 */
const TAKE = `local left = redis.call('pttl', KEYS[1])
if left > 0 and left <= tonumber(ARGV[2]) then return 0 end
redis.call('del', KEYS[1])
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;
const RENEW = `local owner = redis.call('get', KEYS[1])
if not owner and not redis.call('get', KEYS[2]) then return 1 end
if owner ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;
const STORE = `local owner = redis.call('get', KEYS[1])
local isLost = owner or redis.call('get', KEYS[2]) or redis.call('get', KEYS[3])
if owner ~= ARGV[1] and isLost then return 0 end
redis.call('set', KEYS[3], ARGV[2], 'px', ARGV[3])
return 1`;
const RELEASE = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`;
/** Deletes lock, refusal and token. A full store takes no mark of the logout, nor any token. */
const FORGET = `redis.pcall('set', KEYS[2], '', 'px', ARGV[1])
redis.call('del', KEYS[1], KEYS[3])
return redis.call('del', KEYS[4])`;

/** A token and the milliseconds from its receipt to its end: `abc.def 86400000`. */
const TOKEN_VALUE = /^(\S+) (\d{1,15})$/;

type Entry = 'lock' | 'logout' | 'token' | 'limit' | 'refused' | 'test';

interface RedisAccountOptions {
  readonly address: RedisAddress;
  /** Seals tokens. */
  readonly sealingKey: Buffer | undefined;
  readonly settings: Settings;
  readonly io: Io;
  readonly ca: string | undefined;
  readonly onSecret: (secret: string) => void;
}

/**
 * Times in the store are relative to the clock of Redis, so those of the machines may differ.
 * All methods throw SharedStoreError if the store fails.
 */
export class RedisAccount {
  readonly #options: RedisAccountOptions;
  readonly #digest: string;
  readonly #redis: Redis;

  constructor(options: RedisAccountOptions) {
    const { address, ca, io, settings } = options;
    this.#options = options;
    this.#digest = accountDigest(settings.account, 32);
    this.#redis = new Redis({ address, ca, io, readPassword: () => this.#readPassword() });
  }

  /** The URL, without a password. */
  get location(): string {
    return this.#options.address.text;
  }

  get isSealed(): boolean {
    return this.#options.sealingKey !== undefined;
  }

  async readToken(interrupt?: AbortSignal): Promise<CachedToken | undefined> {
    const found = await this.#get('token', interrupt);
    if (found === undefined) return undefined;
    const [, token = '', lifetime] = TOKEN_VALUE.exec(this.#unseal(found.value)) ?? [];
    if (!isToken(token)) throw new SharedStoreError('it holds something other than a token');
    const expiresAt = this.#options.io.now() + found.milliseconds;
    return { token, receivedAt: Math.max(0, expiresAt - Number(lifetime)), expiresAt };
  }

  /** Returns false, and stores nothing, if this owner has lost the mutex. */
  async writeToken(written: CachedToken, owner: string): Promise<boolean> {
    const { token, receivedAt, expiresAt } = written;
    const { io, sealingKey } = this.#options;
    // Throws instead of replacing a token that another sealing key has sealed.
    await this.readToken(NEVER_ABORTS);
    const key = this.#key('token');
    const text = `${token} ${wholeMilliseconds(expiresAt - receivedAt)}`;
    const value = sealingKey ? seal(text, key, sealingKey) : text;
    const left = wholeMilliseconds(expiresAt - io.now());
    const keys = [this.#key('lock'), this.#key('logout'), key];
    return (await this.#redis.run(STORE, keys, [owner, value, left], NEVER_ABORTS)) === 1;
  }

  /** Deletes the token and the last refusal. @returns true if there was a token */
  async forgetToken(): Promise<boolean> {
    const keys = (['lock', 'logout', 'refused', 'token'] as const).map((each) => this.#key(each));
    return (await this.#redis.run(FORGET, keys, [`${NOTICE_TIME}`])) === 1;
  }

  async readLimit(): Promise<RememberedLimit | undefined> {
    const found = await this.#get('limit');
    if (found === undefined || !isDigits(found.value)) return undefined;
    const now = this.#options.io.now();
    return { remaining: Number(found.value), receivedAt: now, resetsAt: now + found.milliseconds };
  }

  /** One that is not in force expires at once. */
  async writeLimit(limit: RememberedLimit): Promise<void> {
    const now = this.#options.io.now();
    const left = isInForce(limit, now) ? limit.resetsAt - now : 0;
    await this.#set('limit', `${limit.remaining}`, left);
  }

  async readRefusal(): Promise<Refusal | undefined> {
    const found = await this.#get('refused');
    if (found === undefined) return undefined;
    const { value } = attempt<unknown>(() => JSON.parse(found.value));
    return isObject(value) ? parseRefusal(value) : undefined;
  }

  async writeRefusal(refusal: Refusal): Promise<void> {
    await this.#set('refused', JSON.stringify(refusal), NOTICE_TIME);
  }

  /** Returns false if another owner has the mutex. */
  takeMutex(owner: string): Promise<boolean> {
    return this.#setMutex(TAKE, owner);
  }

  /** Returns false if this owner has lost the mutex. */
  renewMutex(owner: string): Promise<boolean> {
    return this.#setMutex(RENEW, owner);
  }

  /**
   * Releases the mutex, also after an interrupt. If another command was in flight then, its end has
   * closed the connection: the mutex is not released, and expires.
   */
  async releaseMutex(owner: string): Promise<void> {
    await this.#redis.run(RELEASE, [this.#key('lock')], [owner], NEVER_ABORTS).catch(() => {});
  }

  /**
   * Runs each command of a token request and of a logout. Each comes before the script that needs
   * it, so that the error names what the user may not run.
   */
  async testWrite(): Promise<void> {
    await this.readToken();
    await this.#set('test', '', 1_000);
    await this.#redis.send(['DEL', this.#key('test')]);
    await this.#redis.run(RELEASE, [this.#key('test')], ['']);
  }

  close(): Promise<void> {
    return this.#redis.close();
  }

  /** Behind a proxy of a cluster, the braces keep all keys of an account on one node. */
  #key(entry: Entry): string {
    return `imgctl:{${this.#digest}}:${entry}`;
  }

  async #setMutex(script: typeof TAKE | typeof RENEW, owner: string): Promise<boolean> {
    const keys = [this.#key('lock'), this.#key('logout')];
    return (await this.#redis.run(script, keys, [owner, `${MUTEX_TIME}`])) === 1;
  }

  /** Returns what is stored, and the milliseconds until it expires. */
  async #get(entry: Entry, interrupt?: AbortSignal) {
    const key = this.#key(entry);
    // The time first: if the value is replaced in between, it gets the shorter time of the old one.
    const [milliseconds, value] = await Promise.all([
      this.#redis.send(['PTTL', key], interrupt),
      this.#redis.send(['GET', key], interrupt),
    ]);
    const isEntry = typeof value === 'string' && typeof milliseconds === 'number';
    return isEntry && milliseconds > 0 ? { value, milliseconds } : undefined;
  }

  async #set(entry: Entry, value: string, milliseconds: number): Promise<void> {
    const words = ['SET', this.#key(entry), value, 'PX', wholeMilliseconds(milliseconds)];
    await this.#redis.send(words, NEVER_ABORTS);
  }

  /** @throws SharedStoreError: sealed with another key, or not sealed although a key is set */
  #unseal(text: string): string {
    const { sealingKey } = this.#options;
    const isSealed = text.startsWith(SEALED);
    if (!isSealed && sealingKey === undefined) return text;
    if (isSealed && sealingKey) {
      const unsealed = unseal(text, this.#key('token'), sealingKey);
      if (unsealed !== undefined) return unsealed;
    }
    const how = isSealed
      ? `encrypted with ${sealingKey ? 'another' : 'a'} key`
      : 'not encrypted, but a key is set';
    throw new SharedStoreError(`its token is ${how}`, { kind: 'store-token', needsKey: isSealed });
  }

  /** @throws SharedStoreError if it cannot be read: the command goes on with the files */
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
