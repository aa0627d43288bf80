// The token store on the disk of this machine.

import fs from 'node:fs';
import path from 'node:path';
import { isToken, MAX_TOKEN_LENGTH } from '../api/token-request.ts';
import type { Account } from '../config/settings.ts';
import { errorReason, ImgctlError, permissionAdvice, tryOr } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { type AssertHeld, readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { holdMutexIfPossible, MutexLostError } from '../files/mutex.ts';
import type { Io } from '../io.ts';
import type { JsonObject } from '../json.ts';
import { type CachedToken, isInForce, type RememberedLimit } from './cached-token.ts';
import { parseRefusal, type Refusal } from './refusal.ts';
import { tokenFile } from './token-files.ts';
import { type HeldMutex, MUTEX_PATIENCE, type TokenStore } from './token-store.ts';

interface WriteOptions {
  /** True if a failure is not worth a warning: it is stored elsewhere too, or not needed. */
  readonly isOptional?: boolean;
  /** Called just before the file is replaced; throws MutexLostError if the old one has to stay. */
  readonly assertHeld?: AssertHeld | undefined;
}

/**
 * The files of one account. All profiles of the same base URL and user share token and limit.
 * A failure to read or write is a warning.
 */
export class FileStore implements TokenStore {
  /** The file of the token; without a directory there are no files. */
  readonly location: string | undefined;
  /** Also the file whose mutex a token request holds. */
  readonly limitFile: string | undefined;
  readonly #refusalFile: string | undefined;
  readonly #account: Account;
  readonly #io: Io;
  readonly #trustsOthers: boolean;
  readonly #warn: (message: string, facts?: Facts) => void;
  #writeFailed = false;

  constructor(
    directory: string | undefined,
    account: Account,
    io: Io,
    /** Shows the same warning once. */
    warn: (message: string, facts?: Facts) => void,
  ) {
    if (directory !== undefined) {
      this.location = tokenFile(directory, 'token', account);
      this.limitFile = tokenFile(directory, 'limit', account);
      this.#refusalFile = tokenFile(directory, 'refused', account);
    }
    this.#account = account;
    this.#io = io;
    // Whoever sets it trusts that folder, such as a shared volume that maps all users to one.
    this.#trustsOthers = Boolean(io.env.IMGCTL_CONFIG_DIR);
    this.#warn = warn;
  }

  /** True after a warning that a token or limit could not be written. */
  get writeFailed(): boolean {
    return this.#writeFailed;
  }

  read(rejected?: ReadonlySet<string>): CachedToken | undefined {
    const record = this.#readRecord(this.location);
    if (record === undefined) return undefined;
    const { token, received_at: receivedAt, expires_at: expiresAt } = record;
    const isValid = typeof token === 'string' && isToken(token);
    if (!isValid || !isTime(receivedAt) || !isTime(expiresAt)) {
      this.#warn(`${this.location} holds no token and is ignored`);
      return undefined;
    }
    return rejected?.has(token) ? undefined : { token, receivedAt, expiresAt };
  }

  /** @throws MutexLostError: the old token stays */
  write({ token, receivedAt, expiresAt }: CachedToken, options?: WriteOptions): Promise<void> {
    // For people who look into the file.
    const { baseUrl: base_url, username } = this.#account;
    const record = { base_url, username, token, received_at: receivedAt, expires_at: expiresAt };
    return this.#writeRecord(this.location, record, options);
  }

  remove(): void {
    tryOr(() => this.location && fs.rmSync(this.location, { force: true }), undefined);
  }

  /**
   * Stores a text as long as a token, and removes it.
   * @throws ImgctlError failed: it cannot be stored
   */
  async testWrite(): Promise<void> {
    const file = this.location && `${this.location}.test`;
    try {
      await this.#replace(file, { token: 'x'.repeat(MAX_TOKEN_LENGTH) });
    } catch (cause) {
      const message = `cannot store the access token (${errorReason(cause)})`;
      throw new ImgctlError('failed', message, { facts: { kind: 'not-writable' }, cause });
    }
    tryOr(() => file && fs.rmSync(file, { force: true }), undefined);
  }

  readLimit(): RememberedLimit | undefined {
    const record = this.#readRecord(this.limitFile) ?? {};
    const { remaining, received_at: receivedAt, resets_at: resetsAt } = record;
    if (typeof remaining !== 'number' || !isTime(receivedAt) || !isTime(resetsAt)) return undefined;
    const limit = { remaining, receivedAt, resetsAt };
    return isInForce(limit, this.#io.now()) ? limit : undefined;
  }

  writeLimit(limit: RememberedLimit, options?: WriteOptions): Promise<void> {
    const { remaining, receivedAt, resetsAt } = limit;
    const record = { remaining, received_at: receivedAt, resets_at: resetsAt };
    return this.#writeRecord(this.limitFile, record, options);
  }

  readRefusal(): Refusal | undefined {
    return parseRefusal(this.#readRecord(this.#refusalFile));
  }

  writeRefusal(refusal: Refusal): Promise<void> {
    return this.#writeRecord(this.#refusalFile, { ...refusal }, { isOptional: true });
  }

  /** Calls no `find`: a process that has stored a token releases the mutex at once. */
  async acquire(): Promise<{ readonly mutex: HeldMutex }> {
    const { assertHeld, release } = await holdMutexIfPossible(
      this.limitFile,
      MUTEX_PATIENCE,
      this.#io,
    );
    const mutex = {
      assertHeld: async () => assertHeld(),
      writeToken: (token: CachedToken) =>
        this.write(token, { assertHeld }).then(() => true, falseIfLost),
      release: async () => release(),
    };
    return { mutex };
  }

  /** Also tightens the modes of the file and its folder: everything that writes reads first. */
  #readRecord(file: string | undefined): JsonObject | undefined {
    if (file === undefined) return undefined;
    this.#tighten(path.dirname(file));
    const { uid } = this.#io.system;
    try {
      const checkOwner = (stat: fs.Stats) => {
        const isOwn = uid === undefined || stat.uid === uid;
        if (!isOwn && !this.#trustsOthers) throw new Error('it belongs to another user');
      };
      return readJsonFile(file, checkOwner, uid);
    } catch (error) {
      const message = `cannot read ${file}: ${errorReason(error)}; the file is ignored`;
      this.#warn(message, permissionAdvice(error, file));
      return undefined;
    }
  }

  /** @throws MutexLostError */
  async #writeRecord(
    file: string | undefined,
    value: JsonObject,
    { isOptional = false, assertHeld }: WriteOptions = {},
  ): Promise<void> {
    try {
      await this.#replace(file, value, assertHeld);
    } catch (error) {
      if (error instanceof MutexLostError) throw error;
      if (isOptional) return;
      this.#writeFailed = true;
      // The same for both, so that a full disk is one warning.
      const what = `cannot store the access token or its request limit (${errorReason(error)})`;
      this.#warn(`${what}; it is used for this run only`, { kind: 'not-writable' });
    }
  }

  /** @throws the error of the file system; MutexLostError */
  async #replace(file: string | undefined, value: JsonObject, assertHeld?: AssertHeld) {
    if (file === undefined) throw new Error('no home directory');
    await writeJsonFile(file, value, { keepsOwner: this.#trustsOthers, assertHeld });
  }

  /** Tightens this folder only: the folder above, or the target of a link, may be for others. */
  #tighten(folder: string): void {
    tryOr(() => {
      const stat = fs.lstatSync(folder);
      const isOwn = stat.isDirectory() && stat.uid === this.#io.system.uid;
      if (isOwn && (stat.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700);
    }, undefined);
  }
}

function falseIfLost(error: unknown): false {
  if (error instanceof MutexLostError) return false;
  throw error;
}

/** True if a Date can show the time. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && !Number.isNaN(new Date(value).getTime());
}
