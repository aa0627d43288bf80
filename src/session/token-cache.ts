// Access tokens on disk, one file per profile, base URL and user, and the last known token request limit.

import fs from 'node:fs';
import path from 'node:path';
import { isToken } from '../api/auth.ts';
import { ImgctlError } from '../errors.ts';
import {
  errorReason,
  isMissing,
  readJsonFile,
  removeLeftovers,
  writeJsonFile,
} from '../files/atomic-file.ts';
import { keyedFile } from '../files/paths.ts';
import type { System } from '../io.ts';
import type { JsonObject } from '../json.ts';

export interface Account {
  readonly profile: string;
  readonly baseUrl: string;
  readonly username: string;
}

export interface CachedToken {
  readonly token: string;
  /** By this machine's clock, milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly expiresAt: number;
}

/** Token requests left until `resetsAt` (milliseconds since the epoch), section 8 of service-api.md. */
export interface RememberedLimit {
  readonly remaining: number;
  readonly resetsAt: number;
}

/** A limit that resets later is taken for an error. */
const MAX_LIMIT_WINDOW = 24 * 3_600_000;
/** The request has to arrive before the token expires. */
const EXPIRY_MARGIN = 60_000;

/** True close to the expiry. The service's 401 decides; this only saves a round trip. */
export function needsRenewal(token: CachedToken, now: number): boolean {
  const margin = Math.min(EXPIRY_MARGIN, (token.expiresAt - token.receivedAt) / 10);
  return now >= token.expiresAt - margin;
}

export function isInForce({ resetsAt }: RememberedLimit, now: number): boolean {
  return now < resetsAt && resetsAt - now < MAX_LIMIT_WINDOW;
}

/** No profile can have this name. */
const LIMIT_FILE = '_limit';

/** The cache of one account. Reading and writing never throw: a failure is a warning, once. */
export class TokenCache {
  readonly #directory: string | undefined;
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
    this.#directory = directory === undefined ? undefined : path.join(directory, 'tokens');
    this.#account = account;
    this.#system = system;
    this.#warn = warn;
  }

  get #tokenFile(): string | undefined {
    const { profile, baseUrl, username } = this.#account;
    return this.#file(profile, [profile, baseUrl, username]);
  }

  /** Also the file to lock for a token request; undefined without a directory. */
  get limitFile(): string | undefined {
    const { baseUrl, username } = this.#account;
    return this.#file(LIMIT_FILE, [baseUrl, username]);
  }

  #file(name: string, key: readonly string[]): string | undefined {
    if (this.#directory === undefined) return undefined;
    return keyedFile(this.#directory, name, key);
  }

  read(): CachedToken | undefined {
    const file = this.#tokenFile;
    // Leftovers of killed processes hold tokens too, and runs with a valid token may not write for a day.
    if (file !== undefined) removeLeftovers(file, this.#system);
    const value = this.#readRecord(file);
    if (value === undefined) return undefined;
    const { token, received_at: receivedAt, expires_at: expiresAt } = value;
    if (typeof token === 'string' && isToken(token) && isTime(receivedAt) && isTime(expiresAt)) {
      return { token, receivedAt, expiresAt };
    }
    this.#warnOnce(`${file} holds no token and is ignored`);
    return undefined;
  }

  async write(token: CachedToken): Promise<void> {
    const { profile, baseUrl, username } = this.#account;
    await this.#writeRecord(this.#tokenFile, {
      profile,
      base_url: baseUrl,
      username,
      token: token.token,
      received_at: token.receivedAt,
      expires_at: token.expiresAt,
    });
  }

  /** Removes the token. @returns false if there was none. @throws ImgctlError config: it cannot be removed */
  forget(): boolean {
    const file = this.#tokenFile;
    if (file === undefined) return false;
    removeLeftovers(file, this.#system);
    return remove(file);
  }

  readLimit(now: number): RememberedLimit | undefined {
    const value = this.#readRecord(this.limitFile);
    if (value === undefined) return undefined;
    const { remaining, resets_at: resetsAt } = value;
    if (!isTime(remaining) || !isTime(resetsAt)) return undefined;
    const limit = { remaining, resetsAt };
    return isInForce(limit, now) ? limit : undefined;
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    const { remaining, resetsAt } = limit;
    await this.#writeRecord(this.limitFile, { remaining, resets_at: resetsAt });
  }

  #readRecord(file: string | undefined): JsonObject | undefined {
    if (file === undefined) return undefined;
    tighten(path.dirname(file), this.#system);
    const result = readJsonFile(file);
    if (result.state === 'broken')
      this.#warnOnce(`cannot read ${file}: ${result.reason}; the file is ignored`);
    return result.state === 'read' ? result.value : undefined;
  }

  async #writeRecord(file: string | undefined, value: JsonObject): Promise<void> {
    if (file === undefined) return this.#warnNotStored('no home directory');
    try {
      tighten(path.dirname(file), this.#system);
      await writeJsonFile(file, value, this.#system);
    } catch (error) {
      this.#warnNotStored(errorReason(error));
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

/** Only for the directory of tokens: the one above may be anybody's by IMGCTL_CONFIG_DIR. */
function tighten(directory: string, { uid }: System): void {
  try {
    const stat = fs.lstatSync(directory);
    const isOurs = stat.isDirectory() && stat.uid === uid;
    if (isOurs && (stat.mode & 0o077) !== 0) fs.chmodSync(directory, 0o700);
  } catch {
    // It does not exist yet, or is on a read-only file system: reading is still right.
  }
}

/** Removes the tokens of a profile, or of all. @returns their number. @throws ImgctlError config: one cannot be removed */
export function forgetTokens(directory: string | undefined, profile?: string): number {
  if (directory === undefined) return 0;
  const tokens = path.join(directory, 'tokens');
  let count = 0;
  for (const name of namesIn(tokens)) {
    // The limit stays: the service goes on counting.
    if (name.startsWith(`${LIMIT_FILE}.`) || name.endsWith('.lock')) continue;
    // Staging files start with a dot, which no profile's name contains.
    const isLeftover = name.startsWith('.');
    const [owner] = name.slice(isLeftover ? 1 : 0).split('.');
    if (profile !== undefined && owner !== profile) continue;
    if (remove(path.join(tokens, name)) && !isLeftover) count += 1;
  }
  return count;
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw cannotRemove(directory, error);
  }
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

/** True for a time that a Date can show. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && !Number.isNaN(new Date(value).getTime());
}
