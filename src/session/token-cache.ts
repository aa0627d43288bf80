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

/** A password command may take 30 s and the request 30 s, for each of a few processes ahead. */
const LOCK_PATIENCE = 120_000;

export function tokenFolder(directory: string): string {
  return path.join(directory, 'tokens');
}

function accountKey({ baseUrl, username }: Account): string {
  return shortDigest([baseUrl, username].join('\0'), 16);
}

/**
 * The cache of one account. All profiles of the same base URL and user share token and limit.
 * Reading and writing never throw: a failure is a warning, once.
 */
export class TokenCache implements TokenStore {
  /** The file of the token; undefined without a directory, like the other files. */
  readonly location: string | undefined;
  /** Also the file to lock for a token request. */
  readonly limitFile: string | undefined;
  /** Empty; says that the profile used the token, so that its logout removes it. */
  readonly #useFile: string | undefined;
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
    const fileOf = (owner: string, extension: string) =>
      directory &&
      path.join(tokenFolder(directory), `${owner}.${accountKey(account)}.${extension}`);
    this.location = fileOf(TOKEN, 'json');
    this.limitFile = fileOf(LIMIT, 'json');
    this.#useFile = fileOf(account.profile, 'used');
    this.#account = account;
    this.#system = system;
    this.#warn = warn;
  }

  read(refused?: string): CachedToken | undefined {
    const value = this.#readRecord(this.location);
    const token = tokenOf(value);
    if (token) this.#markUse();
    else if (value) this.#warnOnce(`${this.location} holds no token and is ignored`);
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
    await this.#writeRecord(this.location, record, isCopy);
  }

  #markUse(): void {
    const file = this.#useFile;
    if (file === undefined || fs.existsSync(file)) return;
    try {
      makeDirectory(path.dirname(file));
      fs.closeSync(fs.openSync(file, 'wx', 0o600));
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
    try {
      if (file === undefined) throw new Error('no home directory');
      this.#secure(path.dirname(file));
      await writeJsonFile(file, value, this.#system);
    } catch (error) {
      if (isCopy) return;
      this.writeFailed = true;
      this.#warnOnce(
        `cannot store the access token (${errorReason(error)}); it is used for this run only`,
        'check disk space and permissions, or set IMGCTL_CONFIG_DIR to a writable directory',
      );
    }
  }

  /** Tightens only the folder of tokens: the one above may be anybody's by IMGCTL_CONFIG_DIR. */
  #secure(folder: string): void {
    const { uid } = this.#system;
    if (uid === undefined) return;
    try {
      const stat = fs.lstatSync(folder);
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

/** A file in the folder of tokens. A staging file of a killed run holds a token too, but does not count as one. */
interface Entry {
  readonly file: string;
  readonly owner: string;
  readonly key: string;
  readonly isToken: boolean;
  readonly isUse: boolean;
}

/** Returns all files except the limits, which stay: the service still counts. */
function entriesIn(directory: string | undefined): Entry[] {
  if (directory === undefined) return [];
  const folder = tokenFolder(directory);
  let found: fs.Dirent[];
  try {
    found = fs.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw cannotRemove(folder, error);
  }
  return found.flatMap((entry): Entry[] => {
    const { name } = entry;
    const [owner = '', key = ''] = name.replace(/^\./, '').split('.');
    if (owner === LIMIT || entry.isDirectory()) return [];
    const isToken = !name.startsWith('.') && name.endsWith('.json');
    return [{ file: path.join(folder, name), owner, key, isToken, isUse: name.endsWith('.used') }];
  });
}

/** Removes the tokens of all profiles. @returns their number. @throws ImgctlError config: one cannot be removed */
export function forgetAllTokens(directory: string | undefined): number {
  return removeAll(entriesIn(directory));
}

/**
 * Removes every token that the profile used, also of another user or base URL, and that of its account.
 * @returns their number, and other profiles that used one of them
 * @throws ImgctlError config: one cannot be removed
 */
export function forgetTokens(
  directory: string | undefined,
  account: Account,
): { readonly count: number; readonly alsoUsedBy: readonly string[] } {
  const { profile } = account;
  const entries = entriesIn(directory);
  const { own, others } = usesOf(profile, entries);
  const keys = new Set([accountKey(account), ...own.map(({ key }) => key)]);
  const alsoUsedBy = others.filter(({ key }) => keys.has(key)).map(({ owner }) => owner);
  const forgotten = entries.filter(({ owner, key }) => owner === profile || keys.has(key));
  return { count: removeAll(forgotten), alsoUsedBy: [...new Set(alsoUsedBy)].sort() };
}

/** Removes the tokens that no other profile used. @throws ImgctlError config: one cannot be removed */
export function forgetUnsharedTokens(directory: string | undefined, profile: string): void {
  const entries = entriesIn(directory);
  const { own, others } = usesOf(profile, entries);
  const keys = new Set(own.map(({ key }) => key));
  for (const { key } of others) keys.delete(key);
  removeAll(entries.filter(({ owner, key }) => owner === profile || keys.has(key)));
}

function usesOf(profile: string, entries: readonly Entry[]) {
  const uses = entries.filter(({ isUse }) => isUse);
  return {
    own: uses.filter(({ owner }) => owner === profile),
    others: uses.filter(({ owner }) => owner !== profile),
  };
}

/** Removes the marks of use last: one that stays leads the next logout to a token that stays. */
function removeAll(entries: readonly Entry[]): number {
  for (const { file } of [...entries].sort((a, b) => Number(a.isUse) - Number(b.isUse))) {
    try {
      fs.rmSync(file, { force: true });
    } catch (error) {
      throw cannotRemove(file, error);
    }
  }
  return entries.filter(({ isToken }) => isToken).length;
}

function cannotRemove(file: string, cause: unknown): ImgctlError {
  return new ImgctlError('config', `cannot remove ${file}: ${errorReason(cause)}`, {
    hint: 'remove it by hand: it holds an access token',
    cause,
  });
}
