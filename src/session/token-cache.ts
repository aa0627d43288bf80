// Access tokens on disk, one file per base URL and user, and the last known token request limit.

import fs from 'node:fs';
import path from 'node:path';
import { isToken } from '../api/auth.ts';
import { ImgctlError } from '../errors.ts';
import { errorReason, isMissing, readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { LockLostError, withLockIfPossible } from '../files/lock.ts';
import { makeDirectory, shortDigest } from '../files/paths.ts';
import type { Clock, System } from '../io.ts';
import type { JsonObject } from '../json.ts';
import {
  type Account,
  type CachedToken,
  isInForce,
  type RememberedLimit,
  type TokenStore,
  type Turn,
} from './token-store.ts';

/** No profile can have these names. */
const LIMIT = '_limit';
const TOKEN = '_token';

interface TokenFiles {
  readonly token: string;
  /** Also the file to lock for a token request. */
  readonly limit: string;
  /** Empty; says that the profile used the token, so that its logout removes it. */
  readonly use: string;
}

export function tokenFolder(directory: string): string {
  return path.join(directory, 'tokens');
}

/** Returns the files of an account. All profiles of the same base URL and user share token and limit. */
function tokenFilesOf(directory: string, account: Account): TokenFiles {
  const fileOf = (owner: string, extension: string) =>
    path.join(tokenFolder(directory), `${owner}.${accountKey(account)}.${extension}`);
  return {
    token: fileOf(TOKEN, 'json'),
    limit: fileOf(LIMIT, 'json'),
    use: fileOf(account.profile, 'used'),
  };
}

function accountKey({ baseUrl, username }: Account): string {
  return shortDigest([baseUrl, username].join('\0'), 16);
}

/** A password command may take 30 s and the request 30 s, for each of a few processes ahead. */
const LOCK_PATIENCE = 120_000;

/** The cache of one account. Reading and writing never throw: a failure is a warning, once. */
export class TokenCache implements TokenStore {
  /** undefined without a directory. */
  readonly #files: TokenFiles | undefined;
  readonly #account: Account;
  readonly #system: System;
  readonly #warn: (message: string, hint?: string) => void;
  readonly #warned = new Set<string>();
  /** True after a warning that a token or limit could not be written. */
  writeFailed = false;

  constructor(
    directory: string | undefined,
    account: Account,
    system: System,
    warn: (message: string, hint?: string) => void,
  ) {
    this.#files = directory === undefined ? undefined : tokenFilesOf(directory, account);
    this.#account = account;
    this.#system = system;
    this.#warn = warn;
  }

  /** The file to lock for a token request. */
  get limitFile(): string | undefined {
    return this.#files?.limit;
  }

  get location(): string | undefined {
    return this.#files?.token;
  }

  read(refused?: string): CachedToken | undefined {
    if (this.#files === undefined) return undefined;
    const { token: file } = this.#files;
    const value = this.#readRecord(file);
    const token = tokenOf(value);
    if (token) this.#markUse();
    else if (value) this.#warnOnce(`${file} holds no token and is ignored`);
    return token?.token === refused ? undefined : token;
  }

  /** @param isCopy the token is stored elsewhere too, so that a failure does not matter */
  async write(token: CachedToken, isCopy = false): Promise<void> {
    const { baseUrl, username } = this.#account;
    this.#markUse();
    const record = {
      base_url: baseUrl,
      username,
      token: token.token,
      received_at: token.receivedAt,
      expires_at: token.expiresAt,
    };
    await this.#writeRecord(this.#files?.token, record, isCopy);
  }

  #markUse(): void {
    if (this.#files === undefined) return;
    const { use } = this.#files;
    if (fs.existsSync(use)) return;
    try {
      makeDirectory(path.dirname(use));
      fs.closeSync(fs.openSync(use, 'wx', 0o600));
    } catch {
      // Nothing can be stored here, which the write of the token reports.
    }
  }

  readLimit(now: number): RememberedLimit | undefined {
    const value = this.#readRecord(this.limitFile);
    if (value === undefined) return undefined;
    const { remaining, received_at: receivedAt, resets_at: resetsAt } = value;
    if (!isTime(remaining) || !isTime(receivedAt) || !isTime(resetsAt)) return undefined;
    const limit = { remaining, receivedAt, resetsAt };
    return isInForce(limit, now) ? limit : undefined;
  }

  async writeLimit(limit: RememberedLimit, isCopy = false): Promise<void> {
    const { remaining, receivedAt, resetsAt } = limit;
    const record = { remaining, received_at: receivedAt, resets_at: resetsAt };
    await this.#writeRecord(this.limitFile, record, isCopy);
  }

  async takeTurn<Result>({ findExisting, action }: Turn<Result>, io: Clock): Promise<Result> {
    for (;;) {
      try {
        return await withLockIfPossible(this.limitFile, LOCK_PATIENCE, io, async (confirm) => {
          // Another process may have held the lock before.
          return (await findExisting()) ?? action(async () => confirm());
        });
      } catch (error) {
        if (!(error instanceof LockLostError)) throw error;
      }
    }
  }

  #readRecord(file: string | undefined): JsonObject | undefined {
    if (file === undefined) return undefined;
    this.#secure(path.dirname(file));
    const result = readJsonFile(file, this.#system.uid);
    if (result.state === 'broken')
      this.#warnOnce(`cannot read ${file}: ${result.reason}; the file is ignored`);
    return result.state === 'read' ? result.value : undefined;
  }

  async #writeRecord(file: string | undefined, value: JsonObject, isCopy: boolean): Promise<void> {
    if (file === undefined) return isCopy ? undefined : this.#warnNotStored('no home directory');
    try {
      this.#secure(path.dirname(file));
      await writeJsonFile(file, value, this.#system);
    } catch (error) {
      if (!isCopy) this.#warnNotStored(errorReason(error));
    }
  }

  /** Tightens only the folder of tokens: the one above may be anybody's by IMGCTL_CONFIG_DIR. */
  #secure(folder: string): void {
    const { uid } = this.#system;
    try {
      const stat = fs.lstatSync(folder);
      if (uid === undefined) return;
      if (stat.isDirectory() && stat.uid === uid && isOpen(stat)) fs.chmodSync(folder, 0o700);
      if (!stat.isSymbolicLink() || !isOpen(fs.statSync(folder))) return;
      const target = fs.realpathSync(folder);
      // Not tightened: others may need it.
      this.#warnOnce(
        `${folder} links to a folder open to other users: ${target}`,
        `run: chmod 700 '${target.replaceAll("'", "'\\''")}'`,
      );
    } catch {
      // It does not exist yet, or is on a read-only file system: reading is still right.
    }
  }

  #warnNotStored(reason: string): void {
    this.writeFailed = true;
    this.#warnOnce(
      `cannot store the access token (${reason}); it is used for this run only`,
      'check disk space and permissions, or set IMGCTL_CONFIG_DIR to a writable directory',
    );
  }

  #warnOnce(message: string, hint?: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#warn(message, hint);
  }
}

function isOpen({ mode }: fs.Stats): boolean {
  return (mode & 0o077) !== 0;
}

function tokenOf(value: JsonObject | undefined): CachedToken | undefined {
  const { token, received_at: receivedAt, expires_at: expiresAt } = value ?? {};
  if (typeof token !== 'string' || !isToken(token)) return undefined;
  return isTime(receivedAt) && isTime(expiresAt) ? { token, receivedAt, expiresAt } : undefined;
}

/** True for a time that a Date can show. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && !Number.isNaN(new Date(value).getTime());
}

/** A file in the folder of tokens. */
interface Entry {
  readonly file: string;
  readonly owner: string;
  readonly key: string;
  /** A staging file of a killed run holds a token too, but does not count as one. */
  readonly kind: 'token' | 'use' | 'leftover';
}

/** Returns all files except the limits, which stay: the service still counts. */
function entriesIn(directory: string | undefined): Entry[] {
  if (directory === undefined) return [];
  const folder = tokenFolder(directory);
  let names: string[];
  try {
    names = fs.readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw cannotRemove(folder, error);
  }
  return names.flatMap((name): Entry[] => {
    const [owner = '', key = ''] = name.replace(/^\./, '').split('.');
    if (owner === LIMIT) return [];
    const isToken = !name.startsWith('.') && name.endsWith('.json');
    const kind = name.endsWith('.used') ? 'use' : isToken ? 'token' : 'leftover';
    return [{ file: path.join(folder, name), owner, key, kind }];
  });
}

/** Removes the tokens of all profiles. @returns their number. @throws ImgctlError config: one cannot be removed */
export function forgetAllTokens(directory: string | undefined): number {
  return removeAll(entriesIn(directory));
}

interface ForgottenTokens {
  readonly count: number;
  /** Other profiles that used one of them. */
  readonly alsoUsedBy: readonly string[];
}

/**
 * Removes every token that the profile used, also of another user or base URL, and that of its account.
 * @throws ImgctlError config: one cannot be removed
 */
export function forgetTokens(directory: string | undefined, account: Account): ForgottenTokens {
  const { profile } = account;
  const entries = entriesIn(directory);
  const keys = keysUsedBy(profile, entries).add(accountKey(account));
  const isForgotten = ({ owner, key }: Entry) => owner === profile || keys.has(key);
  const forgotten = entries.filter(isForgotten);
  const others = forgotten.filter(({ kind, owner }) => kind === 'use' && owner !== profile);
  const alsoUsedBy = [...new Set(others.map(({ owner }) => owner))].sort();
  return { count: removeAll(forgotten), alsoUsedBy };
}

/** Removes the tokens that no other profile used. @throws ImgctlError config: one cannot be removed */
export function forgetUnsharedTokens(directory: string | undefined, profile: string): void {
  const entries = entriesIn(directory);
  const keys = keysUsedBy(profile, entries);
  for (const { kind, owner, key } of entries)
    if (kind === 'use' && owner !== profile) keys.delete(key);
  removeAll(entries.filter(({ owner, key }) => owner === profile || keys.has(key)));
}

function keysUsedBy(profile: string, entries: readonly Entry[]): Set<string> {
  const uses = entries.filter(({ kind, owner }) => kind === 'use' && owner === profile);
  return new Set(uses.map(({ key }) => key));
}

/** Removes the marks of use last: one that stays leads the next logout to a token that stays. */
function removeAll(entries: readonly Entry[]): number {
  const uses = entries.filter(({ kind }) => kind === 'use');
  const others = entries.filter(({ kind }) => kind !== 'use');
  const removed = [...others, ...uses].filter(({ file }) => remove(file));
  return removed.filter(({ kind }) => kind === 'token').length;
}

/** Directories stay: they hold no token. */
function remove(file: string): boolean {
  try {
    if (fs.lstatSync(file).isDirectory()) return false;
    fs.rmSync(file, { force: true });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw cannotRemove(file, error);
  }
}

function cannotRemove(file: string, cause: unknown): ImgctlError {
  return new ImgctlError('config', `cannot remove ${file}: ${errorReason(cause)}`, {
    hint: 'remove it by hand: it holds an access token',
    cause,
  });
}
