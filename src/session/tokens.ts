// Where a command's access token comes from: the environment, the cache, or a token request.

import type { TokenSource } from '../api/auth.ts';
import { isToken } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import { utcTime } from '../api/responses.ts';
import type { IssuedToken, TokenLimit } from '../api/token.ts';
import { ImgctlError } from '../errors.ts';
import { withLockIfPossible } from '../files/lock.ts';
import { TransportError } from '../http/errors.ts';
import type { Clock } from '../io.ts';
import type { PasswordSource } from './password.ts';
import {
  type CachedToken,
  looksValid,
  type RememberedLimit,
  type TokenCache,
} from './token-cache.ts';

/** A command may take its 30 s, the request another 30 s, for each of a few that stand before. */
const LOCK_PATIENCE = 120_000;

/**
 * A token that is used as it is, never cached nor renewed; `origin` says where it comes from.
 * @throws ImgctlError config: no header can hold it
 */
export function fixedToken(token: string, origin: string, remedy: string): TokenSource {
  if (!isToken(token)) {
    throw new ImgctlError('config', `${origin} does not hold an access token`, {
      hint: 'a token has neither spaces nor line breaks',
    });
  }
  return {
    current: async () => token,
    renew: async () => undefined,
    remedy,
  };
}

/** Where a token and what is known of the limit are kept. */
export type TokenStore = Pick<
  TokenCache,
  'lockFile' | 'read' | 'write' | 'readLimit' | 'writeLimit'
>;

export interface TokensOptions {
  readonly io: Clock;
  readonly cache: TokenStore;
  readonly username: string | undefined;
  readonly password: PasswordSource | undefined;
  /** Sends the token request; the client itself asks this source for tokens, hence late. */
  readonly client: () => Client;
  /** The command that logs in, for hints. */
  readonly loginCommand: string;
  readonly baseUrl: string;
}

export interface LoginResult extends CachedToken {
  readonly limit: TokenLimit;
}

/** Tokens of one account; at most one request for one is under way on this machine. */
export class Tokens implements TokenSource {
  readonly remedy: string;
  readonly #options: TokensOptions;
  #memory: CachedToken | undefined;
  #issuedHere = new Set<string>();
  #renewal: Promise<string> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.remedy = `log in again: ${options.loginCommand}`;
  }

  async current(): Promise<string> {
    const { cache, io } = this.#options;
    this.#memory ??= cache.read();
    if (this.#memory && looksValid(this.#memory, io.now())) return this.#memory.token;
    if (this.#memory && !this.#canRenew) return this.#memory.token;
    return this.#renewOnce(undefined);
  }

  async renew(refused: string, accepted: boolean): Promise<string | undefined> {
    if (this.#memory && this.#memory.token !== refused) return this.#memory.token;
    if (!this.#canRenew) return undefined;
    // Refused straight after its issue: another one would fare no better.
    if (this.#issuedHere.has(refused) && !accepted) return undefined;
    return this.#renewOnce(refused);
  }

  /** Requests a token. `remedy` is what helps where the service refuses the password, if more than another try. */
  login(
    password: string,
    remedy = `check the user name and password, then: ${this.#options.loginCommand}`,
  ): Promise<LoginResult> {
    return this.#alone(() => this.#request(password, remedy));
  }

  /** Resolves once no renewal is under way, whatever came of it. */
  async settled(): Promise<void> {
    await this.#renewal?.catch(() => {});
  }

  get #canRenew(): boolean {
    return this.#options.password !== undefined && this.#options.username !== undefined;
  }

  #renewOnce(refused: string | undefined): Promise<string> {
    this.#renewal ??= this.#renewWithLock(refused).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renewWithLock(refused: string | undefined): Promise<string> {
    const { cache, io, username, password } = this.#options;
    if (username === undefined || password === undefined) throw this.#notLoggedIn();
    return this.#alone(async () => {
      // Another process may have had the lock, and left its token.
      const cached = cache.read();
      if (cached && cached.token !== refused && looksValid(cached, io.now())) {
        this.#memory = cached;
        return cached.token;
      }
      return (await this.#request(await password.read(), password.remedy)).token;
    });
  }

  #alone<Result>(action: () => Promise<Result>): Promise<Result> {
    const { cache, io } = this.#options;
    return withLockIfPossible(cache.lockFile, LOCK_PATIENCE, io, action);
  }

  async #request(password: string, remedy: string): Promise<LoginResult> {
    const { cache, io, username } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const known = cache.readLimit(io.now());
    if (known?.remaining === 0) throw this.#limitReached(known.resetsAt);
    // Counted before it is sent: a process that is killed now has used one all the same.
    if (known) await cache.writeLimit({ ...known, remaining: known.remaining - 1 });
    const issued = await this.#send(username, password, known).catch((error: unknown) => {
      throw withRemedy(error, remedy);
    });
    const { token: issuedToken, receivedAt, expiresAt } = issued;
    const token = { token: issuedToken, receivedAt, expiresAt };
    this.#memory = token;
    this.#issuedHere.add(token.token);
    await cache.write(token);
    return { ...token, limit: issued.limit };
  }

  async #send(
    username: string,
    password: string,
    known: RememberedLimit | undefined,
  ): Promise<IssuedToken> {
    let limit: RememberedLimit | undefined;
    const onLimit = ({ remaining, resetsAt }: TokenLimit) => {
      if (remaining !== undefined && resetsAt !== undefined) limit = { remaining, resetsAt };
    };
    try {
      return await this.#options.client().requestToken(username, password, onLimit);
    } catch (error) {
      // Never sent, so that it did not count.
      if (error instanceof TransportError && !error.sent) limit = known;
      throw error;
    } finally {
      if (limit) await this.#options.cache.writeLimit(limit);
    }
  }

  #limitReached(resetsAt: number): ImgctlError {
    return new ImgctlError(
      'rate-limited',
      'no token request is left: the service allows only a few',
      { hint: `try again after ${utcTime(resetsAt)}` },
    );
  }

  #notLoggedIn(): ImgctlError {
    const { username, baseUrl, loginCommand } = this.#options;
    const who = username === undefined ? '' : ` as ${username}`;
    return new ImgctlError('not-logged-in', `not logged in to ${baseUrl}${who}`, {
      hint: `run: ${loginCommand}`,
    });
  }
}

function withRemedy(error: unknown, hint: string): unknown {
  if (!(error instanceof ImgctlError) || error.code !== 'wrong-credentials') return error;
  const { code, message, status, cause } = error;
  return new ImgctlError(code, message, { hint, status, cause });
}
