// The access token of a command: from the environment, a store, or a token request.
//
// A token request goes through these functions, from the outside in. Each adds one thing:
//
//     #renewOnce         tokens.ts            one request for all that need a token at once
//     #findOrRequest     tokens.ts            what the run uses: the token that was found or issued
//     or login           tokens.ts            requests one in any case
//     request            token-requests.ts    starts again: with the files, or after the limit
//     #requestOnce       token-requests.ts    holds the mutex; looks for another process's token
//     #requestHolding    token-requests.ts    reads the password; shares another process's refusal
//     #sendAndStore      token-requests.ts    stores the token or the refusal
//     #sendCounted       token-requests.ts    counts the request; sends none above the limit
//     requestToken       src/api              sends the request

import type { TokenSource } from '../api/auth.ts';
import { type IssuedToken, isToken } from '../api/token-request.ts';
import { hasCode, ImgctlError, isDefect } from '../errors.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import { type CachedToken, isNewToken, needsRenewal, tokenState } from './cached-token.ts';
import { type RequestsOptions, type TokenOrder, TokenRequests } from './token-requests.ts';
import type { TokenStore } from './token-store.ts';

/**
 * Returns a source of one token, which is neither cached nor renewed.
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
    factsIfRejected: { kind: 'token-refused', given: origin },
  };
}

interface TokensOptions extends RequestsOptions {
  readonly username: string | undefined;
  readonly passwordSource: PasswordSource | undefined;
}

/** The tokens of one account, for all requests of a run. */
export class Tokens implements TokenSource {
  readonly factsIfRejected = { kind: 'token-refused' } as const;
  readonly #options: TokensOptions;
  readonly #requests: TokenRequests;
  /** The token that this run uses. */
  #inUse: CachedToken | undefined;
  /** The tokens of this run's own requests. */
  readonly #issuedHere = new Set<string>();
  /** Tokens that the service rejected: none of them replaces another. */
  readonly #rejected = new Set<string>();
  /** A token that could not be renewed in time: there is no second try. */
  #unrenewed: string | undefined;
  /** The renewal that is under way. */
  #renewal: Promise<string> | undefined;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#requests = new TokenRequests(options);
  }

  /**
   * What a request to the service is sent with:
   *
   *     no token is known                           a new one
   *     the token has some time left                that token
   *     it has expired or soon will, and            that token
   *     there is no password
   *     the same with a password                    a new one
   *     a new one is prevented by wrong             the error
   *     credentials, an interrupt or a defect,
   *     or the token has expired meanwhile
   *     a new one is prevented otherwise            that token from now on, also once it expires
   */
  async current(): Promise<string> {
    const { io } = this.#options;
    const token = await this.#known();
    if (token === undefined) return this.#renewOnce();
    const hasTimeLeft = !needsRenewal(token, io.now());
    const mayRenew = this.#order !== undefined && token.token !== this.#unrenewed;
    if (hasTimeLeft || !mayRenew) return token.token;
    try {
      return await this.#renewOnce();
    } catch (error) {
      const isFinal = io.signal.aborted || hasCode(error, 'wrong-credentials');
      if (isFinal || isDefect(error) || tokenState(token, io.now()) === 'expired') throw error;
      this.#unrenewed = token.token;
      return token.token;
    }
  }

  /** Returns the token of this run, or the stored one. */
  async #known(): Promise<CachedToken | undefined> {
    if (this.#inUse === undefined) {
      // A rejected one is sent again, so that the user sees the error of the service.
      const stored = await this.#options.stores.use((store) => store.read());
      // A renewal may have ended meanwhile.
      this.#inUse ??= stored;
    }
    return this.#inUse;
  }

  /**
   * What follows if the service rejects a token:
   *
   *     another request has renewed it        that token
   *     no password is known                  that of another process, or none
   *     this run received it, the service     that of another process, or none: a new one would be
   *     never accepted it                     rejected too
   *     any other token                       that of another process, or a new one
   */
  async renew(token: string, wasAccepted: boolean): Promise<string | undefined> {
    this.#rejected.add(token);
    if (this.#inUse && !this.#rejected.has(this.#inUse.token)) return this.#inUse.token;
    // A service that rejects what it has just issued would reject the next one too.
    const wasNeverAccepted = this.#issuedHere.has(token) && !wasAccepted;
    if (this.#order && !wasNeverAccepted) return this.#renewOnce();
    this.#inUse = await this.#options.stores.use(this.#findUsable);
    return this.#inUse?.token;
  }

  isNew(token: string): boolean {
    return this.#inUse?.token === token && isNewToken(this.#inUse, this.#options.io.now());
  }

  /** Requests a token, even if there is a valid one. */
  async login(given: Omit<TokenOrder, 'username'>): Promise<IssuedToken> {
    const { username, io } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const startedAt = io.now();
    const { issued, isStored } = await this.#requests.request({ ...given, username });
    this.#issuedHere.add(issued.token);
    // The process that took the mutex may have stored a newer one.
    this.#inUse = isStored ? issued : await this.#storedSince(startedAt);
    if (this.#inUse !== undefined) return issued;
    const message = 'another imgctl logged out or took over the lock during this login';
    throw new ImgctlError('failed', message, { facts: 'run the command again' });
  }

  /** Skips an older token of this machine, since a shared store may hold a newer one. */
  async #storedSince(time: number): Promise<CachedToken | undefined> {
    const older = new Set<string>();
    for (;;) {
      const stored = await this.#options.stores.use((store) => store.read(older));
      if (stored === undefined || stored.receivedAt >= time) return stored;
      older.add(stored.token);
    }
  }

  /**
   * Ends a renewal, but stores the token of a request that was sent.
   * @param stopWaiting aborts the signal of the options, the stores and the password source
   */
  async close(stopWaiting: () => void): Promise<void> {
    await this.#requests.settle();
    stopWaiting();
    await this.#renewal?.catch(() => {});
  }

  /** Undefined if no token can be requested. */
  get #order(): TokenOrder | undefined {
    const { username, passwordSource } = this.#options;
    if (username === undefined || passwordSource === undefined) return undefined;
    return { username, passwordSource };
  }

  /** Joins a renewal that is under way. */
  #renewOnce(): Promise<string> {
    this.#renewal ??= this.#findOrRequest().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #findOrRequest(): Promise<string> {
    const order = this.#order;
    if (order === undefined) throw this.#notLoggedIn();
    const outcome = await this.#requests.request(order, this.#findUsable);
    if ('issued' in outcome) this.#issuedHere.add(outcome.issued.token);
    this.#inUse = 'found' in outcome ? outcome.found : outcome.issued;
    return this.#inUse.token;
  }

  /** Returns the stored token if the service may accept it. */
  readonly #findUsable = async (store: TokenStore): Promise<CachedToken | undefined> => {
    const stored = await store.read(this.#rejected);
    return stored && !needsRenewal(stored, this.#options.io.now()) ? stored : undefined;
  };

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
