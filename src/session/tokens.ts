// The access token of a command: from the environment, a store, or a token request.

import { isToken, type TokenSource } from '../api/auth.ts';
import type { IssuedToken } from '../api/token-request.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import { type CachedToken, needsRenewal, tokenState } from './cached-token.ts';
import { isRefused, refusalError, refusalOf } from './refusal.ts';
import { type LimitOptions, RequestLimit } from './request-limit.ts';
import type { TokenMutex } from './token-store.ts';

/**
 * Returns a source of one token, neither cached nor renewed.
 * @throws ImgctlError config: no header can hold it
 */
export function fixedToken(token: string, origin: string): TokenSource {
  if (!isToken(token)) {
    const advice = `set ${origin} to a token: up to 8 KiB, without spaces or line breaks`;
    throw new ImgctlError('config', `${origin} is not an access token`, { facts: advice });
  }
  return {
    current: async () => token,
    renew: async () => undefined,
    isNew: () => false,
    factsIfRefused: { kind: 'token-refused', given: origin },
  };
}

interface TokensOptions extends LimitOptions {
  readonly username: string | undefined;
  readonly password: PasswordSource | undefined;
  readonly baseUrl: string;
}

/** What a token request sends. */
interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Of the error if the service refuses the password. */
  readonly factsIfRefused: Facts;
}

/** Milliseconds in which all nodes of a service should have learned a new token. */
const NEW_FOR = 10_000;

/** Tokens of one account; at most one token request is under way on this machine. */
export class Tokens implements TokenSource {
  readonly factsIfRefused = { kind: 'token-refused' } as const;
  readonly #options: TokensOptions;
  readonly #limit: RequestLimit;
  /** The token that this run uses. */
  #memory: CachedToken | undefined;
  readonly #issuedHere = new Set<string>();
  /** Tokens that the service refused: none of them replaces another. */
  readonly #refusedTokens = new Set<string>();
  #renewal: Promise<string> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#limit = new RequestLimit(options);
  }

  async current(): Promise<string> {
    const { store, io } = this.#options;
    if (this.#memory === undefined) {
      const stored = await store.read();
      // A renewal may have ended meanwhile.
      this.#memory ??= stored;
    }
    const token = this.#memory;
    if (token === undefined) return this.#renewOnce();
    if (!needsRenewal(token, io.now()) || !this.#canRenew) return token.token;
    try {
      return await this.#renewOnce();
    } catch (error) {
      const mayPass = hasCode(error, 'rate-limited', 'server-error', 'unreachable', 'timeout');
      if (!mayPass || tokenState(token, io.now()) === 'expired') throw error;
      // From now on this run uses it until the service refuses it.
      this.#memory = { ...token, expiresAt: Number.POSITIVE_INFINITY };
      return token.token;
    }
  }

  /**
   * What follows the refusal of a token:
   *
   *     another request has renewed it        that token
   *     no password is known                  that of another process, or none
   *     this run received it, the service     that of another process, or none: a new one would be
   *     never accepted it                     refused too
   *     any other token                       that of another process, or a new one
   */
  async renew(token: string, wasAccepted: boolean): Promise<string | undefined> {
    this.#refusedTokens.add(token);
    if (this.#memory && !this.#refusedTokens.has(this.#memory.token)) return this.#memory.token;
    const mayRequest = wasAccepted || !this.#issuedHere.has(token);
    if (this.#canRenew && mayRequest) return this.#renewOnce();
    this.#memory = await this.#readUsable();
    return this.#memory?.token;
  }

  isNew(token: string): boolean {
    if (this.#memory?.token !== token) return false;
    // Another machine whose clock is ahead may have received it.
    return Math.abs(this.#options.io.now() - this.#memory.receivedAt) < NEW_FOR;
  }

  /**
   * Requests a token, also if there is a valid one.
   * @param factsIfRefused of the error if the password is refused
   */
  async login(
    password: string,
    factsIfRefused: Facts = { kind: 'password-refused' },
    ignoreLimit = false,
  ): Promise<IssuedToken> {
    const { username } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const credentials = { username, password, factsIfRefused };
    const { issued, stored } = await this.#limit.requestWithin({
      reuse: async () => undefined,
      action: (mutex) => this.#request(mutex, credentials, ignoreLimit),
    });
    if (stored === undefined) throw loggedOut();
    this.#memory = stored;
    return issued;
  }

  async settled(): Promise<void> {
    await this.#renewal?.catch(() => {});
  }

  get #canRenew(): boolean {
    return this.#options.password !== undefined && this.#options.username !== undefined;
  }

  #renewOnce(): Promise<string> {
    this.#renewal ??= this.#renewUnderMutex().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renewUnderMutex(): Promise<string> {
    const { username, password: source } = this.#options;
    if (username === undefined || source === undefined) throw this.#notLoggedIn();
    const { factsIfRefused } = source;
    const action = async (mutex: TokenMutex): Promise<CachedToken> => {
      const password = await source.read();
      await mutex.assertHeld();
      if (mutex.refusal && isRefused(password, mutex.refusal)) {
        throw refusalError(mutex.refusal, factsIfRefused);
      }
      const credentials = { username, password, factsIfRefused };
      const { issued, stored } = await this.#request(mutex, credentials);
      // After a logout, only this run goes on using its token.
      return stored ?? issued;
    };
    this.#memory = await this.#limit.requestWithin({ reuse: () => this.#readUsable(), action });
    return this.#memory.token;
  }

  /** Returns the stored token if the service may accept it. */
  async #readUsable(): Promise<CachedToken | undefined> {
    const { store, io } = this.#options;
    const stored = await store.read(this.#refusedTokens);
    return stored && !needsRenewal(stored, io.now()) ? stored : undefined;
  }

  /**
   * Returns the token that the service issued, and the one that is stored then: the same, that of a
   * faster process, or none after a logout.
   * @throws ImgctlError rate-limited: no request is left, so none was sent
   */
  async #request(
    mutex: TokenMutex,
    { username, password, factsIfRefused }: Credentials,
    ignoreLimit = false,
  ): Promise<{ issued: IssuedToken; stored: CachedToken | undefined }> {
    const issued = await this.#limit
      .send(username, password, ignoreLimit)
      .catch(async (error: unknown) => {
        if (!(error instanceof ImgctlError)) throw error;
        const refusal = refusalOf(error, password);
        // The processes that wait for this one would send the same password.
        if (refusal) await mutex.refuse(refusal);
        throw refusal?.code === 'wrong-credentials' ? error.with({ facts: factsIfRefused }) : error;
      });
    this.#issuedHere.add(issued.token);
    if (await mutex.store(issued)) return { issued, stored: issued };
    // The service may know only the newest token of a user, which another process has stored.
    return { issued, stored: await this.#readUsable() };
  }

  #notLoggedIn(): ImgctlError {
    const { username, password, baseUrl } = this.#options;
    if (username === undefined && password !== undefined) {
      const message = 'no user name is set';
      return new ImgctlError('not-logged-in', message, { facts: { kind: 'username-needed' } });
    }
    const who = username === undefined ? '' : ` as ${username}`;
    const message = `not logged in to ${baseUrl}${who}`;
    return new ImgctlError('not-logged-in', message, { facts: { kind: 'login-needed' } });
  }
}

export function loggedOut(): ImgctlError {
  const message = 'another imgctl logged out during this login';
  return new ImgctlError('failed', message, { facts: 'run the command again' });
}
