// The access token of a command: from the environment, a store, or a token request.
//
// A token request goes through these functions, from the outside in. Each adds one thing:
//
//     renewOnce         tokens.ts           one request for all that need a token at once
//     reuseOrRequest    tokens.ts           prefers a token that another process has stored
//     or login          tokens.ts           requests one in any case
//     runWithin         request-limit.ts    waits for the end of the limit, and starts again
//     withTokenMutex    shared-store.ts     starts again with the files if the store fails
//     runUnderMutex     token-store.ts      looks for the token or refusal of another process;
//                                           starts again if the mutex is lost
//     whileHeld         file-store.ts,      holds the mutex: a file, or the lock of the store
//                       shared-store.ts
//     request           tokens.ts           reads the password; stores the token or the refusal
//     send              request-limit.ts    counts the request; sends none above the limit
//     requestToken      src/api             sends the request

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

interface LoginOptions {
  readonly password: string;
  /** Of the error if the service refuses the password. */
  readonly factsIfRefused?: Facts | undefined;
  /** True to send the request even if the remembered limit is reached. */
  readonly ignoreLimit?: boolean | undefined;
}

interface Credentials {
  readonly username: string;
  /** Read under the mutex: it is not needed if another process has requested a token. */
  readonly password: Pick<PasswordSource, 'read' | 'factsIfRefused'>;
}

interface RequestResult {
  readonly issued: IssuedToken;
  /**
   * The token that all processes use from now on: the issued one, that of a faster process, or none
   * after a logout.
   */
  readonly use: CachedToken | undefined;
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
  /** A token that could not be renewed in time: it is used until the service refuses it. */
  #unrenewed: string | undefined;
  #renewal: Promise<string> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#limit = new RequestLimit(options);
  }

  /**
   * What a request to the service is sent with:
   *
   *     no token is known                 a new one
   *     the token has some time left      that token
   *     it has expired or soon will       a new one, or without a password that token
   *     the same, and the new one is      that token, until the service refuses it, unless it
   *     prevented by limit or network     has expired
   */
  async current(): Promise<string> {
    const { store, io } = this.#options;
    if (this.#memory === undefined) {
      const stored = await store.read();
      // A renewal may have ended meanwhile.
      this.#memory ??= stored;
    }
    const token = this.#memory;
    if (token === undefined) return this.#renewOnce();
    const mayRenew = this.#credentials && token.token !== this.#unrenewed;
    if (!mayRenew || !needsRenewal(token, io.now())) return token.token;
    try {
      return await this.#renewOnce();
    } catch (error) {
      const mayPass = hasCode(error, 'rate-limited', 'server-error', 'unreachable', 'timeout');
      if (!mayPass || tokenState(token, io.now()) === 'expired') throw error;
      this.#unrenewed = token.token;
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
    if (this.#credentials && mayRequest) return this.#renewOnce();
    this.#memory = await this.#readUsable();
    return this.#memory?.token;
  }

  isNew(token: string): boolean {
    if (this.#memory?.token !== token) return false;
    // Another machine whose clock is ahead may have received it.
    return Math.abs(this.#options.io.now() - this.#memory.receivedAt) < NEW_FOR;
  }

  /** Requests a token, also if there is a valid one. */
  async login({
    password,
    factsIfRefused = { kind: 'password-refused' },
    ignoreLimit = false,
  }: LoginOptions): Promise<IssuedToken> {
    const { username } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const given = { read: async () => password, factsIfRefused };
    const { issued, use } = await this.#limit.runWithin({
      reuse: async () => undefined,
      run: (mutex) => this.#request(mutex, { username, password: given }, ignoreLimit),
    });
    if (use === undefined) throw loggedOut();
    this.#memory = use;
    return issued;
  }

  async settled(): Promise<void> {
    await this.#renewal?.catch(() => {});
  }

  /** What a token can be renewed with. */
  get #credentials(): Credentials | undefined {
    const { username, password } = this.#options;
    return username === undefined || password === undefined ? undefined : { username, password };
  }

  #renewOnce(): Promise<string> {
    this.#renewal ??= this.#reuseOrRequest().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #reuseOrRequest(): Promise<string> {
    const credentials = this.#credentials;
    if (credentials === undefined) throw this.#notLoggedIn();
    this.#memory = await this.#limit.runWithin({
      reuse: () => this.#readUsable(),
      run: async (mutex) => {
        const { issued, use } = await this.#request(mutex, credentials);
        // After a logout, only this run goes on using its token.
        return use ?? issued;
      },
    });
    return this.#memory.token;
  }

  /** Returns the stored token if the service may accept it. */
  async #readUsable(): Promise<CachedToken | undefined> {
    const { store, io } = this.#options;
    const stored = await store.read(this.#refusedTokens);
    return stored && !needsRenewal(stored, io.now()) ? stored : undefined;
  }

  /**
   * Sends a token request under the mutex, and stores its token or its refusal.
   * @throws ImgctlError rate-limited: no request is left, so none was sent
   */
  async #request(
    mutex: TokenMutex,
    { username, password: source }: Credentials,
    ignoreLimit = false,
  ): Promise<RequestResult> {
    const { factsIfRefused } = source;
    const password = await source.read();
    // A command may have taken long to print the password.
    await mutex.assertHeld();
    if (mutex.refusal && isRefused(password, mutex.refusal)) {
      throw refusalError(mutex.refusal, factsIfRefused);
    }
    const request = { username, password, ignoreLimit };
    const issued = await this.#limit.send(request).catch(async (error: unknown) => {
      if (!(error instanceof ImgctlError)) throw error;
      const refusal = refusalOf(error, password);
      // The processes that wait for this one would send the same password.
      if (refusal) await mutex.writeRefusal(refusal);
      throw refusal?.code === 'wrong-credentials' ? error.with({ facts: factsIfRefused }) : error;
    });
    this.#issuedHere.add(issued.token);
    if (await mutex.writeToken(issued)) return { issued, use: issued };
    // The service may know only the newest token of a user, which another process has stored.
    return { issued, use: await this.#readUsable() };
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
