// Access tokens on disk: one file for each profile, base URL and user, and what is known of the limit.

import fs from 'node:fs';
import path from 'node:path';
import { isToken } from '../api/auth.ts';
import { ImgctlError } from '../errors.ts';
import { isAbsence, readJsonFile, writeJsonFile } from '../files/json-file.ts';
import { keyedFile } from '../files/keyed-file.ts';
import { sweep } from '../files/staging.ts';
import type { JsonObject } from '../json.ts';

/** Whose token it is. */
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

/** A limit further ahead than this is not believed. */
const LONGEST_WINDOW = 24 * 3_600_000;
/** A token this close to its end is not begun with: the request has to arrive, too. */
const MARGIN = 60_000;

/** Whether the token is worth a request. The service's 401 decides; this only saves a round trip. */
export function looksValid(token: CachedToken, now: number): boolean {
  const margin = Math.min(MARGIN, (token.expiresAt - token.receivedAt) / 10);
  return now < token.expiresAt - margin;
}

/** Whether what is known of the limit still holds. */
export function isInForce({ resetsAt }: RememberedLimit, now: number): boolean {
  return now < resetsAt && resetsAt - now < LONGEST_WINDOW;
}

/** Its name before the digest; no profile can be named so. */
const LIMIT_FILE = '_limit';

/** The cache of one account. Reading and writing never throw: a cache that fails is as good as none, but says so once. */
export class TokenCache {
  readonly #directory: string | undefined;
  readonly #account: Account;
  readonly #warn: (message: string, hint?: string) => void;
  readonly #warned = new Set<string>();
  #isUnkept = false;

  constructor(
    directory: string | undefined,
    account: Account,
    warn: (message: string, hint?: string) => void,
  ) {
    this.#directory = directory === undefined ? undefined : path.join(directory, 'tokens');
    this.#account = account;
    this.#warn = warn;
  }

  /** Whether something could not be written, which a warning has said. */
  get isUnkept(): boolean {
    return this.#isUnkept;
  }

  /** What processes of this user lock while they request a token; undefined without a directory. */
  get lockFile(): string | undefined {
    return this.#limitFile;
  }

  get #tokenFile(): string | undefined {
    const { profile, baseUrl, username } = this.#account;
    return this.#file(profile, [profile, baseUrl, username]);
  }

  get #limitFile(): string | undefined {
    const { baseUrl, username } = this.#account;
    return this.#file(LIMIT_FILE, [baseUrl, username]);
  }

  #file(name: string, key: readonly string[]): string | undefined {
    if (this.#directory === undefined) return undefined;
    return keyedFile(this.#directory, name, key);
  }

  read(): CachedToken | undefined {
    const file = this.#tokenFile;
    // What a killed process left holds a token too, and runs that have a valid one may write nothing for a day.
    if (file !== undefined) sweep(file);
    const value = this.#readRecord(file);
    if (value === undefined) return undefined;
    const { token, received_at: receivedAt, expires_at: expiresAt } = value;
    if (typeof token === 'string' && isToken(token) && isTime(receivedAt) && isTime(expiresAt)) {
      return { token, receivedAt, expiresAt };
    }
    this.#warnOnce(`the token cache ${file} does not hold a token; it is not used`);
    return undefined;
  }

  async write(token: CachedToken): Promise<void> {
    const { profile, baseUrl, username } = this.#account;
    const { receivedAt, expiresAt } = token;
    await this.#writeRecord(this.#tokenFile, {
      profile,
      base_url: baseUrl,
      username,
      token: token.token,
      received_at: receivedAt,
      expires_at: expiresAt,
    });
  }

  /** Takes the token away. @returns whether there was one. @throws ImgctlError config: it cannot be */
  forget(): boolean {
    const file = this.#tokenFile;
    if (file === undefined) return false;
    sweep(file);
    return remove(file);
  }

  readLimit(now: number): RememberedLimit | undefined {
    const value = this.#readRecord(this.#limitFile);
    if (value === undefined) return undefined;
    const { remaining, resets_at: resetsAt } = value;
    if (!isTime(remaining) || !isTime(resetsAt)) return undefined;
    const limit = { remaining, resetsAt };
    return isInForce(limit, now) ? limit : undefined;
  }

  async writeLimit(limit: RememberedLimit): Promise<void> {
    await this.#writeRecord(this.#limitFile, {
      remaining: limit.remaining,
      resets_at: limit.resetsAt,
    });
  }

  #readRecord(file: string | undefined): JsonObject | undefined {
    if (file === undefined) return undefined;
    tighten(path.dirname(file));
    const result = readJsonFile(file);
    if (result.state === 'broken')
      this.#warnOnce(`cannot read ${file}: ${result.reason}; it is not used`);
    return result.state === 'read' ? result.value : undefined;
  }

  async #writeRecord(file: string | undefined, value: JsonObject): Promise<void> {
    try {
      if (file === undefined) throw Object.assign(new Error(), { code: 'no home directory' });
      tighten(path.dirname(file));
      await writeJsonFile(file, value);
    } catch (error) {
      this.#isUnkept = true;
      const { code } = error as NodeJS.ErrnoException;
      this.#warnOnce(
        `cannot keep the access token (${code}); it is used for this run alone`,
        'check the disk and the modes, or set IMGCTL_CONFIG_DIR to a directory that can be written',
      );
    }
  }

  #warnOnce(message: string, hint?: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#warn(message, hint);
  }
}

/**
 * The directory of tokens is imgctl's own: one that others could look into is tightened, as its files are.
 * Not so the one above, which may be anybody's by IMGCTL_CONFIG_DIR.
 */
function tighten(directory: string): void {
  try {
    const stat = fs.lstatSync(directory);
    const isOurs = stat.isDirectory() && stat.uid === process.getuid?.();
    if (isOurs && (stat.mode & 0o077) !== 0) fs.chmodSync(directory, 0o700);
  } catch {
    // It is not there yet, or on a read-only file system; reading what is there is still right.
  }
}

/** Forgets the tokens of a profile, or of all. @returns how many there were. @throws ImgctlError config: one cannot be */
export function forgetTokens(directory: string | undefined, profile?: string): number {
  if (directory === undefined) return 0;
  const tokens = path.join(directory, 'tokens');
  let count = 0;
  for (const name of namesIn(tokens)) {
    // What is remembered of the limit stays: the service goes on counting.
    if (name.startsWith(`${LIMIT_FILE}.`) || name.endsWith('.lock')) continue;
    // A leftover of a write begins with a dot. No profile's name holds one.
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
    if (isAbsence(error)) return [];
    throw cannotRemove(directory, error);
  }
}

/** Removes a file or link; a directory holds no token and stays. */
function remove(file: string): boolean {
  try {
    if (fs.lstatSync(file).isDirectory()) return false;
    fs.rmSync(file, { force: true });
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw cannotRemove(file, error);
  }
}

function cannotRemove(file: string, cause: unknown): ImgctlError {
  const { code } = cause as NodeJS.ErrnoException;
  return new ImgctlError('config', `cannot remove ${file}: ${code}`, {
    hint: 'remove it by hand: it holds an access token',
    cause,
  });
}

/** One that a Date can hold, so that it can be shown. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && !Number.isNaN(new Date(value).getTime());
}
