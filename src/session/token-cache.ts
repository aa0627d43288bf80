// Access tokens on disk, one file per base URL and user, and the last known token request limit.

import fs from 'node:fs';
import path from 'node:path';
import { isToken, MAX_TOKEN_LENGTH } from '../api/auth.ts';
import type { IssuedToken } from '../api/token-request.ts';
import type { Account } from '../config/settings.ts';
import { errorReason, ImgctlError, isMissing, permissionAdvice, tryOr } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { type AssertHeld, readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { breakMutex, MutexLostError, withMutexIfPossible } from '../files/mutex.ts';
import { shortDigest } from '../files/paths.ts';
import type { Clock, Io } from '../io.ts';
import type { JsonObject } from '../json.ts';

/** Its times are by this machine's clock, milliseconds since the epoch. */
export type CachedToken = Readonly<Pick<IssuedToken, 'token' | 'receivedAt' | 'expiresAt'>>;

/** Token requests left until `resetsAt`, section 8 of service.md. Times as in CachedToken. */
export interface RememberedLimit {
  readonly remaining: number;
  readonly receivedAt: number;
  readonly resetsAt: number;
}

/** A token request that the service refused, for the processes that waited for it. */
export interface Refusal {
  readonly id: string;
  readonly code: 'wrong-credentials' | 'not-permitted';
  readonly message: string;
  /** A digest of id and password, too short to tell anything else of the password. */
  readonly check: string;
}

/** The mutex of token requests, while it is held. */
export interface TokenMutex {
  /** Throws if another process has taken the mutex meanwhile, or a logout removed it: the caller waits for it again. */
  assertHeld(): Promise<void>;
  /** Stores a token unless the mutex is lost. Returns false then: another process has its own token, or logged out. */
  store(token: CachedToken): Promise<boolean>;
  /** The request of another process that was refused while this one waited for it. */
  readonly refusal: Refusal | undefined;
  /** Stores a refusal for the processes that wait. */
  refuse(refusal: Refusal): Promise<void>;
}

/** What to do while no other process requests a token. */
export interface TokenRequest<Result> {
  /** Returns what makes the action unnecessary, such as the token of another process. */
  reuse(): Promise<Result | undefined>;
  action(mutex: TokenMutex): Promise<Result>;
}

/** Tokens that the service refused. */
export type RefusedTokens = ReadonlySet<string>;

/** Stores the token and the limit of one account. A failure to read or write is a warning. */
export interface TokenStore {
  /** Where the token is stored: a file or a URL; undefined if nowhere. */
  readonly location: string | undefined;
  /** Returns no refused token. */
  read(refused?: RefusedTokens): Promise<CachedToken | undefined> | CachedToken | undefined;
  readLimit(now: number): Promise<RememberedLimit | undefined> | RememberedLimit | undefined;
  writeLimit(limit: RememberedLimit): Promise<void>;
  /** Runs the request under the mutex, or without one if none can be made. @throws ImgctlError locked */
  withTokenMutex<Result>(request: TokenRequest<Result>, io: Clock): Promise<Result>;
}

/** A longer window is taken for an error. */
const MAX_LIMIT_WINDOW = 24 * 3_600_000;
/** The request has to arrive before the token expires. */
const EXPIRY_MARGIN = 60_000;

/** True if the token expires soon. The service's 401 decides; this only saves a round trip. */
export function needsRenewal(token: CachedToken, now: number): boolean {
  const margin = Math.min(EXPIRY_MARGIN, (token.expiresAt - token.receivedAt) / 10);
  return now >= token.expiresAt - margin;
}

/** True if the limit still counts. Not before its receipt: the clock was set back, so only the service knows. */
export function isInForce({ receivedAt, resetsAt }: RememberedLimit, now: number): boolean {
  return receivedAt <= now && now < resetsAt && resetsAt - receivedAt < MAX_LIMIT_WINDOW;
}

/** A shared store could not be used. The message is the reason; it never holds a secret. */
export class SharedStoreError extends ImgctlError {
  constructor(reason: string, facts?: Facts) {
    super('unreachable', reason, { facts });
  }
}

/** A password command may take 30 s and the request 30 s, for each of a few processes ahead. */
const MUTEX_PATIENCE = 120_000;

export function tokenFolder(directory: string): string {
  return path.join(directory, 'tokens');
}

export function accountKey({ baseUrl, username }: Account, digits = 16): string {
  return shortDigest([baseUrl, username].join('\0'), digits);
}

/**
 * The cache of one account. All profiles of the same base URL and user share token and limit.
 * Reading and writing never throw: a failure is a warning.
 */
export class TokenCache implements TokenStore {
  /** The file of the token; undefined without a directory, like the other files. */
  readonly location: string | undefined;
  /** Also the file whose mutex a token request holds. */
  readonly limitFile: string | undefined;
  readonly #refusalFile: string | undefined;
  readonly #account: Account;
  readonly #uid: number | undefined;
  readonly #trustsOthers: boolean;
  readonly #warn: (message: string, facts?: Facts) => void;
  /** True after a warning that a token or limit could not be written. */
  writeFailed = false;

  constructor(
    directory: string | undefined,
    account: Account,
    { env, system }: Pick<Io, 'env' | 'system'>,
    /** Shows the same warning once. */
    warn: (message: string, facts?: Facts) => void,
  ) {
    const fileOf = (content: string) =>
      directory && path.join(tokenFolder(directory), `${content}.${accountKey(account)}.json`);
    this.location = fileOf('_token');
    this.limitFile = fileOf('_limit');
    this.#refusalFile = fileOf('_refused');
    this.#account = account;
    this.#uid = system.uid;
    // Whoever sets it trusts that folder, such as a shared volume that maps all users to one.
    this.#trustsOthers = Boolean(env.IMGCTL_CONFIG_DIR);
    this.#warn = warn;
  }

  read(refused?: RefusedTokens): CachedToken | undefined {
    const record = this.#readRecord(this.location);
    if (record === undefined) return undefined;
    const { token, received_at: receivedAt, expires_at: expiresAt } = record;
    const isValid = typeof token === 'string' && isToken(token);
    if (!isValid || !isTime(receivedAt) || !isTime(expiresAt)) {
      this.#warn(`${this.location} holds no token and is ignored`);
      return undefined;
    }
    return refused?.has(token) ? undefined : { token, receivedAt, expiresAt };
  }

  /**
   * @param isCopy the token is stored elsewhere too, so that a failure does not matter
   * @throws MutexLostError of `assertHeld`; the old token stays
   */
  async write(
    { token, receivedAt, expiresAt }: CachedToken,
    isCopy = false,
    assertHeld?: AssertHeld,
  ): Promise<void> {
    const { baseUrl: base_url, username } = this.#account;
    const record = { base_url, username, token, received_at: receivedAt, expires_at: expiresAt };
    await this.#writeRecord(this.location, record, isCopy, assertHeld);
  }

  readRefusal(): Refusal | undefined {
    return parseRefusal(this.#readRecord(this.#refusalFile));
  }

  async writeRefusal(refusal: Refusal): Promise<void> {
    await this.#writeRecord(this.#refusalFile, { ...refusal }, true);
  }

  /** Stores something as long as a token for a moment. @throws ImgctlError failed: it cannot be stored */
  async testWrite(): Promise<void> {
    const file = this.location && `${this.location}.test`;
    await this.#store(file, { token: 'x'.repeat(MAX_TOKEN_LENGTH) });
    if (file) fs.rmSync(file, { force: true });
  }

  readLimit(now: number): RememberedLimit | undefined {
    const record = this.#readRecord(this.limitFile) ?? {};
    const { remaining, received_at: receivedAt, resets_at: resetsAt } = record;
    if (!isTime(remaining) || !isTime(receivedAt) || !isTime(resetsAt)) return undefined;
    const limit = { remaining, receivedAt, resetsAt };
    return isInForce(limit, now) ? limit : undefined;
  }

  async writeLimit(limit: RememberedLimit, isCopy = false): Promise<void> {
    const { remaining, receivedAt, resetsAt } = limit;
    const record = { remaining, received_at: receivedAt, resets_at: resetsAt };
    await this.#writeRecord(this.limitFile, record, isCopy);
  }

  async withTokenMutex<Result>({ reuse, action }: TokenRequest<Result>, io: Clock) {
    const before = this.readRefusal()?.id;
    for (;;) {
      try {
        return await withMutexIfPossible(this.limitFile, MUTEX_PATIENCE, io, async (assertHeld) => {
          const refusal = this.readRefusal();
          const mutex: TokenMutex = {
            assertHeld: async () => assertHeld(),
            store: (token) => isStillHeld(this.write(token, false, assertHeld)),
            refusal: refusal?.id === before ? undefined : refusal,
            refuse: (own) => this.writeRefusal(own),
          };
          // Another process may have held the mutex before.
          return (await reuse()) ?? action(mutex);
        });
      } catch (error) {
        if (!(error instanceof MutexLostError)) throw error;
      }
    }
  }

  #readRecord(file: string | undefined): JsonObject | undefined {
    if (file === undefined) return undefined;
    this.#tighten(path.dirname(file));
    try {
      const check = ({ uid }: fs.Stats) => {
        const isOwn = uid === (this.#uid ?? uid);
        if (!isOwn && !this.#trustsOthers) throw new Error('it belongs to another user');
      };
      return readJsonFile(file, check, this.#uid);
    } catch (error) {
      const message = `cannot read ${file}: ${errorReason(error)}; the file is ignored`;
      this.#warn(message, permissionAdvice(error, file));
      return undefined;
    }
  }

  async #writeRecord(
    file: string | undefined,
    value: JsonObject,
    isCopy: boolean,
    assertHeld?: AssertHeld,
  ): Promise<void> {
    await this.#store(file, value, assertHeld).catch((error: ImgctlError) => {
      if (error instanceof MutexLostError) throw error;
      if (isCopy) return;
      this.writeFailed = true;
      this.#warn(`${error.message}; it is used for this run only`, error.facts);
    });
  }

  /** @throws ImgctlError failed; MutexLostError */
  async #store(
    file: string | undefined,
    value: JsonObject,
    assertHeld?: AssertHeld,
  ): Promise<void> {
    try {
      if (file === undefined) throw new Error('no home directory');
      this.#tighten(path.dirname(file));
      await writeJsonFile(file, value, { keepsOwner: this.#trustsOthers, assertHeld });
    } catch (cause) {
      if (cause instanceof MutexLostError) throw cause;
      const message = `cannot store the access token (${errorReason(cause)})`;
      throw new ImgctlError('failed', message, { facts: { kind: 'not-writable' }, cause });
    }
  }

  /** Tightens the folder of tokens only: the one above, or the target of a link, may belong to others. */
  #tighten(folder: string): void {
    tryOr(() => {
      const stat = fs.lstatSync(folder);
      const isOwn = stat.isDirectory() && stat.uid === this.#uid;
      if (isOwn && (stat.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
    }, undefined);
  }
}

async function isStillHeld(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof MutexLostError) return false;
    throw error;
  }
}

export function parseRefusal(record: JsonObject | undefined): Refusal | undefined {
  const { id, code, message, check } = record ?? {};
  if (code !== 'wrong-credentials' && code !== 'not-permitted') return undefined;
  const areTexts =
    typeof id === 'string' && typeof message === 'string' && typeof check === 'string';
  return areTexts ? { id, code, message, check } : undefined;
}

/** By this machine's clock. */
export function tokenState(token: CachedToken | undefined, now: number) {
  if (token === undefined) return 'none';
  return now < token.expiresAt ? 'valid' : 'expired';
}

export function noValidToken(state: 'none' | 'expired'): ImgctlError {
  const message = state === 'none' ? 'not logged in' : 'the token has expired';
  return new ImgctlError('not-logged-in', message, { facts: { kind: 'login-needed' } });
}

/** True if a Date can show the time. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && !Number.isNaN(new Date(value).getTime());
}

/** The mutex of an account's token requests: who finds it gone stores no token. */
const TOKEN_MUTEX = /^(_limit\.([\da-f]{16})\.json)\.lock$/;
/** Files of imgctl: tokens, and what killed writers left of them. */
const TOKEN_FILE = /^\.?(?!_limit\.)[\w-]+\.([\da-f]{16})\./;

/**
 * Removes the token of an account, or without one all tokens, and returns their number. The limits stay: the service counts.
 * @throws ImgctlError config: one cannot be removed
 */
export function forgetTokens(directory: string | undefined, account?: Account): number {
  const folder = tokenFolder(directory ?? '');
  let file = folder;
  try {
    const entries = directory === undefined ? [] : fs.readdirSync(folder, { withFileTypes: true });
    const isOf = (key: string | undefined) =>
      key !== undefined && key === (account ? accountKey(account) : key);
    for (const { name } of entries) {
      const [, limitFile = '', key] = TOKEN_MUTEX.exec(name) ?? [];
      if (isOf(key)) breakMutex(path.join(folder, limitFile));
    }
    const names = entries.flatMap((entry) => {
      // A link may lead to the files of another program.
      const [, key] = TOKEN_FILE.exec(entry.name) ?? [];
      return isOf(key) && !entry.isDirectory() ? [entry.name] : [];
    });
    for (const name of names) {
      file = path.join(folder, name);
      fs.rmSync(file, { force: true });
    }
    return names.filter((name) => /^_token\.\w+\.json$/.test(name)).length;
  } catch (cause) {
    if (isMissing(cause)) return 0;
    throw new ImgctlError('config', `cannot remove ${file}: ${errorReason(cause)}`, {
      facts: 'remove it by hand: it holds an access token',
      cause,
    });
  }
}
