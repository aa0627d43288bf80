// The access token of a command: from the environment, the cache, or a token request.

import { isToken, type TokenSource } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import type { IssuedToken, TokenLimit } from '../api/token-request.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { TransportError } from '../http/errors.ts';
import type { Clock } from '../io.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import { isRefused, refusalError, refusalOf } from './refusal.ts';
import {
  type CachedToken,
  needsRenewal,
  type RememberedLimit,
  type TokenMutex,
  type TokenRequest,
  type TokenStore,
  tokenState,
} from './token-store.ts';

/** Returns a source of one token, neither cached nor renewed. @throws ImgctlError config: no header can hold it */
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

interface TokensOptions {
  readonly io: Clock;
  readonly store: TokenStore;
  readonly username: string | undefined;
  readonly password: PasswordSource | undefined;
  /** A function, since the client itself gets its tokens from this source. */
  readonly client: () => Pick<Client, 'requestToken'>;
  readonly baseUrl: string;
  /** Milliseconds to wait for the end of the token request limit. */
  readonly patience?: number;
  readonly onWait?: ((milliseconds: number) => void) | undefined;
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

/** Another machine may store a token during a wait. */
const LOOK_INTERVAL = 5_000;
/** A shared store and the files of this machine know the same end of a limit to within this time. */
const SHARED_DELAY = 1_000;

/** Tokens of one account; at most one token request is under way on this machine. */
export class Tokens implements TokenSource {
  readonly factsIfRefused = { kind: 'token-refused' } as const;
  readonly #options: TokensOptions;
  /** The token that this run uses. */
  #memory: CachedToken | undefined;
  readonly #issuedHere = new Set<string>();
  /** Tokens that the service refused: none of them replaces another. */
  readonly #refusedTokens = new Set<string>();
  #renewal: Promise<string> | undefined;
  /** A token that expires soon and could not be renewed. It is used until the service refuses it. */
  #notRenewed: string | undefined;
  /** `resetsAt` of the limit whose end this run has waited for. It is over, even if the clock was set back meanwhile. */
  #waitedUntil = 0;

  constructor(options: TokensOptions) {
    this.#options = options;
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
    const isUsed = token.token === this.#notRenewed || !needsRenewal(token, io.now());
    if (isUsed || !this.#canRenew) return token.token;
    try {
      return await this.#renewOnce();
    } catch (error) {
      const mayPass = hasCode(error, 'rate-limited', 'server-error', 'unreachable', 'timeout');
      if (!mayPass || tokenState(token, io.now()) === 'expired') throw error;
      this.#notRenewed = token.token;
      return token.token;
    }
  }

  /**
   * What follows the refusal of a token:
   *
   *     another request has renewed it meanwhile     that token
   *     no password is known                         none
   *     this run received it, never accepted         the stored one, if a later login has replaced it: a new one would be
   *                                                  refused too
   *     any other token                              the stored one, if another process has renewed it, else a new one
   */
  async renew(token: string, wasAccepted: boolean): Promise<string | undefined> {
    this.#refusedTokens.add(token);
    if (this.#memory && !this.#refusedTokens.has(this.#memory.token)) return this.#memory.token;
    if (!this.#canRenew) return undefined;
    if (wasAccepted || !this.#issuedHere.has(token)) return this.#renewOnce();
    this.#memory = await this.#readUsable();
    return this.#memory?.token;
  }

  isNew(token: string): boolean {
    if (this.#memory?.token !== token) return false;
    // Another machine whose clock is ahead may have received it.
    return Math.abs(this.#options.io.now() - this.#memory.receivedAt) < NEW_FOR;
  }

  /** Requests a token, also if there is a valid one. @param factsIfRefused of the error if the password is refused */
  async login(
    password: string,
    factsIfRefused: Facts = { kind: 'password-refused' },
    ignoreLimit = false,
  ): Promise<IssuedToken> {
    const { username } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const credentials = { username, password, factsIfRefused };
    const { issued, stored } = await this.#requestWithinLimit({
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
    this.#memory = await this.#requestWithinLimit({ reuse: () => this.#readUsable(), action });
    return this.#memory.token;
  }

  /** Returns the stored token if the service may accept it. */
  async #readUsable(): Promise<CachedToken | undefined> {
    const { store, io } = this.#options;
    const stored = await store.read(this.#refusedTokens);
    return stored && !needsRenewal(stored, io.now()) ? stored : undefined;
  }

  /**
   * Runs the request under the mutex of the store. What the limit of token requests means for it:
   *
   *     no limit is known                       it is sent
   *     requests are left                       it is sent, and counted before
   *     no request is left                      it is not sent: the error is rate-limited
   *     no request is left, with ignoreLimit    it is sent
   *     the run has waited for the limit's end  it is sent, also if another copy of the limit ends up to 1 s later
   *
   * If it was rate-limited, by this table or by the service, and no request is left, the run waits for the end of the
   * limit, provided that `patience` is enough for all waits together. Then the request starts again, unless another
   * process has stored a token meanwhile.
   */
  async #requestWithinLimit<Result>(request: TokenRequest<Result>): Promise<Result> {
    const { store, io, patience = 0 } = this.#options;
    const started = io.elapsed();
    for (;;) {
      try {
        return await store.withTokenMutex(request, io);
      } catch (error) {
        if (!hasCode(error, 'rate-limited')) throw error;
        const limit = await store.readLimit(io.now());
        if (limit?.remaining !== 0) throw error;
        const wait = limit.resetsAt - io.now();
        if (wait > patience - (io.elapsed() - started)) throw error;
        const found = await this.#waitUnlessFound(wait, request.reuse);
        if (found !== undefined) return found;
        this.#waitedUntil = limit.resetsAt;
      }
    }
  }

  /** Waits, and looks meanwhile for what another process may store. Returns undefined if it found nothing. */
  async #waitUnlessFound<Result>(
    wait: number,
    find: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const { io, onWait } = this.#options;
    onWait?.(wait);
    const begun = io.elapsed();
    for (let left = wait; left > 0; left = wait - (io.elapsed() - begun)) {
      await io.sleep(Math.min(left, LOOK_INTERVAL), io.signal);
      const found = await find();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Returns the token that the service issued, and the one that is stored now: this or that of another process that was
   * faster, or none after a logout. @throws ImgctlError rate-limited: no request is left, so none was sent
   */
  async #request(mutex: TokenMutex, credentials: Credentials, ignoreLimit = false) {
    const limit = await this.#limitInForce();
    if (limit?.remaining === 0 && !ignoreLimit) throw this.#limitReached(limit.resetsAt);
    const request = this.#send(credentials, limit);
    const issued = await request.catch((error: unknown) => tellRefusal(error, mutex, credentials));
    this.#issuedHere.add(issued.token);
    if (await mutex.store(issued)) return { issued, stored: issued };
    // The service may know only the newest token of a user, which another process has stored.
    return { issued, stored: await this.#readUsable() };
  }

  /** Returns the known limit, unless this run has waited for its end. */
  async #limitInForce(): Promise<RememberedLimit | undefined> {
    const { store, io } = this.#options;
    const limit = await store.readLimit(io.now());
    const isOver = limit !== undefined && limit.resetsAt < this.#waitedUntil + SHARED_DELAY;
    return isOver ? undefined : limit;
  }

  /** Sends the request, and remembers how many are left. */
  async #send(
    { username, password }: Credentials,
    limit: RememberedLimit | undefined,
  ): Promise<IssuedToken> {
    const { store, io, client } = this.#options;
    // Counted before it is sent: a process killed now has used one as well.
    if (limit) await store.writeLimit({ ...limit, remaining: Math.max(0, limit.remaining - 1) });
    const remember = async ({ remaining, resetsAt }: TokenLimit) => {
      if (remaining === undefined || resetsAt === undefined) return;
      await store.writeLimit({ remaining, receivedAt: io.now(), resetsAt });
    };
    try {
      return await client().requestToken(username, password, remember);
    } catch (error) {
      const isUnsent = error instanceof TransportError && !error.sent;
      if (isUnsent && limit) await store.writeLimit(limit);
      throw error;
    }
  }

  #limitReached(resetsAt: number): ImgctlError {
    return new ImgctlError('rate-limited', 'token request limit reached', {
      facts: { kind: 'token-limit', resetsAt, wait: resetsAt - this.#options.io.now() },
    });
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

/** Tells the processes that wait if the service refused the password. @throws the error, with what to do about it */
async function tellRefusal(
  error: unknown,
  mutex: TokenMutex,
  { password, factsIfRefused }: Credentials,
): Promise<never> {
  if (!(error instanceof ImgctlError)) throw error;
  const refusal = refusalOf(error, password);
  if (refusal) await mutex.refuse(refusal);
  throw refusal?.code === 'wrong-credentials' ? error.with({ facts: factsIfRefused }) : error;
}

export function loggedOut(): ImgctlError {
  const message = 'another imgctl logged out during this login';
  return new ImgctlError('failed', message, { facts: 'run the command again' });
}
