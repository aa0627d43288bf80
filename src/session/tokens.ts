// The access token of a command: from the environment, a store, or a token request.
//
// A token request goes through these functions, from the outside in. Each adds one thing:
//
//     #renewOnce               tokens.ts         one request for all that need a token at once
//     #reuseOrRequest          tokens.ts         prefers a token that another process has stored
//     or login                 tokens.ts         requests one in any case
//     withPatience             request-limit.ts  waits for the end of the limit, and starts again
//     withTokenMutex           shared-store.ts   starts again with the files if the store fails
//     runUnderMutex            token-store.ts    holds the mutex of the store; looks for the token
//                                                or the refusal of another process; starts again if
//                                                that took the mutex
//     #requestUnlessRefused    tokens.ts         reads the password; ends if it was just refused
//     #sendAndStore            tokens.ts         stores the token or the refusal
//     sendCounted              request-limit.ts  counts the request; sends none above the limit
//     requestToken             src/api           sends the request

import type { TokenSource } from '../api/auth.ts';
import { type IssuedToken, isToken } from '../api/token-request.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import { type CachedToken, needsRenewal, tokenState } from './cached-token.ts';
import { isRefused, refusalError, refusalOf } from './refusal.ts';
import { type LimitOptions, RequestLimit } from './request-limit.ts';
import type { HeldMutex, Meanwhile } from './token-store.ts';

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
  readonly passwordSource: PasswordSource | undefined;
  readonly baseUrl: string;
  /** Masks secrets in what is stored of a refusal. */
  readonly redact: (text: string) => string;
}

/** What a token is requested with. */
interface Credentials {
  readonly username: string;
  readonly passwordSource: Pick<PasswordSource, 'read' | 'factsIfRefused'>;
  /** True to send the request even if the remembered limit is reached. */
  readonly ignoreLimit?: boolean | undefined;
}

interface RequestResult {
  readonly issued: IssuedToken;
  /**
   * What the store holds after the request:
   *
   *     this process had the mutex to the end    the issued token
   *     another process took it                  its token; undefined if it stored none, as after
   *                                              a logout
   */
  readonly inStore: CachedToken | undefined;
}

/** Errors of a token request that may soon be over. */
const MAY_PASS = ['rate-limited', 'server-error', 'unreachable', 'timeout', 'proxy'] as const;

/** Milliseconds in which all nodes of a service should have learned a new token. */
const NEW_FOR = 10_000;

/** The tokens of one account, for all requests of a run. */
export class Tokens implements TokenSource {
  readonly factsIfRefused = { kind: 'token-refused' } as const;
  readonly #options: TokensOptions;
  readonly #limit: RequestLimit;
  /** The token that this run uses. */
  #inUse: CachedToken | undefined;
  /** The tokens of this run's own requests. */
  readonly #issuedHere = new Set<string>();
  /** Tokens that the service refused: none of them replaces another. */
  readonly #refusedTokens = new Set<string>();
  /** A token that could not be renewed in time: there is no second try. */
  #unrenewed: string | undefined;
  /** The renewal that is under way. */
  #renewal: Promise<string> | undefined;
  /** The last request that was sent, and the storing of its token: `close` waits for both. */
  #sending: Promise<RequestResult> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#limit = new RequestLimit(options);
  }

  /**
   * What a request to the service is sent with:
   *
   *     no token is known                           a new one
   *     the token has some time left                that token
   *     it has expired or soon will, and            that token
   *     there is no password
   *     the same with a password                    a new one
   *     a new one is prevented by limit, network,   that token from now on, also once it expires;
   *     proxy or a server error                     if it has expired already, the error
   */
  async current(): Promise<string> {
    const { io } = this.#options;
    const token = await this.#known();
    if (token === undefined) return this.#renewOnce();
    const hasTimeLeft = !needsRenewal(token, io.now());
    const mayRenew = this.#credentials !== undefined && token.token !== this.#unrenewed;
    if (hasTimeLeft || !mayRenew) return token.token;
    try {
      return await this.#renewOnce();
    } catch (error) {
      if (!hasCode(error, ...MAY_PASS) || tokenState(token, io.now()) === 'expired') throw error;
      this.#unrenewed = token.token;
      return token.token;
    }
  }

  /** Returns the token of this run, or the stored one. */
  async #known(): Promise<CachedToken | undefined> {
    if (this.#inUse === undefined) {
      // Also one that was refused: it is sent again, and the error is the service's own.
      const stored = await this.#options.store.read();
      // A renewal may have ended meanwhile.
      this.#inUse ??= stored;
    }
    return this.#inUse;
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
    if (this.#inUse && !this.#refusedTokens.has(this.#inUse.token)) return this.#inUse.token;
    const wasNeverAccepted = this.#issuedHere.has(token) && !wasAccepted;
    if (this.#credentials && !wasNeverAccepted) return this.#renewOnce();
    this.#inUse = await this.#readUsable();
    return this.#inUse?.token;
  }

  isNew(token: string): boolean {
    if (this.#inUse?.token !== token) return false;
    // Another machine whose clock is ahead may have received it.
    return Math.abs(this.#options.io.now() - this.#inUse.receivedAt) < NEW_FOR;
  }

  /** Requests a token, also if there is a valid one. */
  async login(given: Omit<Credentials, 'username'>): Promise<IssuedToken> {
    const { username } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const { issued, inStore } = await this.#limit.withPatience({
      // No token of another process replaces the one that the login asks for.
      reuse: async () => undefined,
      request: (mutex, meanwhile) =>
        this.#requestUnlessRefused({ ...given, username }, mutex, meanwhile),
    });
    if (inStore === undefined) {
      const message = 'another imgctl logged out or took over the lock during this login';
      throw new ImgctlError('failed', message, { facts: 'run the command again' });
    }
    this.#inUse = inStore;
    // Even if another process has replaced it: the login shows the limit of its own request.
    return issued;
  }

  /**
   * Ends a renewal, but stores the token of a request that was sent.
   * @param stopWaiting aborts the signal of the options, the store and the password source
   */
  async close(stopWaiting: () => void): Promise<void> {
    await this.#sending?.catch(() => {});
    stopWaiting();
    await this.#renewal?.catch(() => {});
  }

  /** Undefined if no token can be requested. */
  get #credentials(): Credentials | undefined {
    const { username, passwordSource } = this.#options;
    if (username === undefined || passwordSource === undefined) return undefined;
    return { username, passwordSource };
  }

  /** Joins a renewal that is under way. */
  #renewOnce(): Promise<string> {
    this.#renewal ??= this.#reuseOrRequest().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #reuseOrRequest(): Promise<string> {
    const credentials = this.#credentials;
    if (credentials === undefined) throw this.#notLoggedIn();
    this.#inUse = await this.#limit.withPatience({
      reuse: () => this.#readUsable(),
      request: async (mutex, meanwhile) => {
        const result = await this.#requestUnlessRefused(credentials, mutex, meanwhile);
        // After a logout, only this run goes on using its token.
        return result.inStore ?? result.issued;
      },
    });
    return this.#inUse.token;
  }

  /** Returns the stored token if the service may accept it. */
  async #readUsable(): Promise<CachedToken | undefined> {
    const { store, io } = this.#options;
    const stored = await store.read(this.#refusedTokens);
    return stored && !needsRenewal(stored, io.now()) ? stored : undefined;
  }

  /**
   * Requests a token under the mutex.
   * @throws ImgctlError also that of another process whose request with this password was refused
   */
  async #requestUnlessRefused(
    credentials: Credentials,
    mutex: HeldMutex,
    meanwhile: Meanwhile,
  ): Promise<RequestResult> {
    const { passwordSource } = credentials;
    const password = await passwordSource.read();
    // A command may have taken long to print the password.
    await mutex.assertHeld();
    const { refusal, mayStore } = meanwhile;
    if (refusal && isRefused(password, refusal)) {
      throw refusalError(refusal, passwordSource.factsIfRefused);
    }
    this.#options.io.signal.throwIfAborted();
    this.#sending = this.#sendAndStore(credentials, password, mutex, mayStore);
    return this.#sending;
  }

  /** Sends a token request, and stores its token or its refusal. */
  async #sendAndStore(
    { username, passwordSource, ignoreLimit }: Credentials,
    password: string,
    mutex: HeldMutex,
    mayStore: boolean,
  ): Promise<RequestResult> {
    let issued: IssuedToken;
    try {
      issued = await this.#limit.sendCounted(username, password, ignoreLimit);
    } catch (error) {
      const refusal = refusalOf(error, password);
      if (refusal === undefined) throw error;
      // The processes that wait for this one would send the same password. The service may repeat
      // it in its message, which anyone may read in the store.
      const message = this.#options.redact(refusal.message);
      await mutex.writeRefusal({ ...refusal, message });
      throw refusalError(refusal, passwordSource.factsIfRefused);
    }
    this.#issuedHere.add(issued.token);
    const isStored = mayStore && (await mutex.writeToken(issued));
    if (isStored) return { issued, inStore: issued };
    // The service may know only the newest token of a user, which another process has stored.
    return { issued, inStore: await this.#readUsable() };
  }

  #notLoggedIn(): ImgctlError {
    const { username, passwordSource, baseUrl } = this.#options;
    if (username === undefined && passwordSource !== undefined) {
      const message = 'no user name is set';
      return new ImgctlError('not-logged-in', message, { facts: { kind: 'username-needed' } });
    }
    const who = username === undefined ? '' : ` as ${username}`;
    const message = `not logged in to ${baseUrl}${who}`;
    return new ImgctlError('not-logged-in', message, { facts: { kind: 'login-needed' } });
  }
}
