// The access token of a command: from the environment, the cache, or a token request.

import { isToken, type TokenSource } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import type { IssuedToken, TokenLimit } from '../api/token-request.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { shortDigest } from '../files/paths.ts';
import { TransportError } from '../http/errors.ts';
import { builtin, type Clock } from '../io.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import {
  type CachedToken,
  needsRenewal,
  type RememberedLimit,
  type TokenMutex,
  type TokenRequest,
  type TokenStore,
} from './token-cache.ts';

/** Returns a source of one token, neither cached nor renewed. @throws ImgctlError config: no header can hold it */
export function fixedToken(token: string, origin: string): TokenSource {
  if (!isToken(token)) {
    const facts = `set ${origin} to a token: up to 8 KiB, without spaces or line breaks`;
    throw new ImgctlError('config', `${origin} is not an access token`, { facts });
  }
  return {
    current: async () => token,
    renew: async () => undefined,
    isNew: () => false,
    refused: { kind: 'token-refused', given: origin },
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

/** Milliseconds in which all nodes of a service should have learned a new token. */
const NEW_FOR = 10_000;

/** Another machine may store a token during a wait. */
const LOOK_INTERVAL = 5_000;
/** A shared store and the files of this machine know the same end of a limit to within this time. */
const SHARED_DELAY = 1_000;

/** Tokens of one account; at most one token request is under way on this machine. */
export class Tokens implements TokenSource {
  readonly refused = { kind: 'token-refused' } as const;
  readonly #options: TokensOptions;
  #memory: CachedToken | undefined;
  #issuedHere = new Set<string>();
  /** A token that the service refused once is never taken from a store again. */
  #refused = new Set<string>();
  #renewal: Promise<string> | undefined;
  /** The end of a limit that this run has waited for; the clock may have been set back meanwhile. */
  #limitOver = 0;

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
    if (token && (!this.#canRenew || !needsRenewal(token, io.now()))) return token.token;
    return this.#renewOnce();
  }

  async renew(refused: string, accepted: boolean): Promise<string | undefined> {
    this.#refused.add(refused);
    if (this.#memory && !this.#refused.has(this.#memory.token)) return this.#memory.token;
    if (!this.#canRenew) return undefined;
    if (!this.#issuedHere.has(refused) || accepted) return this.#renewOnce();
    // Refused right after its issue: another one would be refused too, unless a later login has replaced it.
    this.#memory = await this.#readUsable();
    return this.#memory?.token;
  }

  isNew(token: string): boolean {
    const { io } = this.#options;
    const { token: known, receivedAt = 0 } = this.#memory ?? {};
    // The clocks of machines differ.
    return token === known && Math.abs(io.now() - receivedAt) < NEW_FOR;
  }

  /** Requests a token. @param refused are the facts if the service refuses the password */
  login(
    password: string,
    refused: Facts = { kind: 'password-refused' },
    { ignoreLimit = false }: { readonly ignoreLimit?: boolean | undefined } = {},
  ): Promise<IssuedToken> {
    return this.#withTokenMutex({
      reuse: async () => undefined,
      action: async (mutex) => {
        const [issued, isStored] = await this.#request(mutex, password, refused, ignoreLimit);
        if (isStored || (await this.#readUsable())) return issued;
        throw loggedOut();
      },
    });
  }

  async settled(): Promise<void> {
    await this.#renewal?.catch(() => {});
  }

  get #canRenew(): boolean {
    return this.#options.password !== undefined && this.#options.username !== undefined;
  }

  #renewOnce(): Promise<string> {
    this.#renewal ??= this.#renewWithLock().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renewWithLock(): Promise<string> {
    const { username, password } = this.#options;
    if (username === undefined || password === undefined) throw this.#notLoggedIn();
    const reuse = () => this.#readUsable();
    const action = async (mutex: TokenMutex) => {
      const secret = await password.read();
      await mutex.assertHeld();
      const { refusal } = mutex;
      if (refusal?.check === checkOf(refusal?.id, secret))
        throw new ImgctlError(refusal.code, refusal.message, {
          facts: password.refused,
          status: 401,
        });
      const [issued] = await this.#request(mutex, secret, password.refused);
      return this.#memory ?? issued;
    };
    this.#memory = await this.#withTokenMutex<CachedToken>({ reuse, action });
    return this.#memory.token;
  }

  async #readUsable(): Promise<CachedToken | undefined> {
    const { store, io } = this.#options;
    const stored = await store.read(this.#refused);
    return stored && !needsRenewal(stored, io.now()) ? stored : undefined;
  }

  /** Runs the request under the mutex; if the limit is reached, waits for its end as long as the user allows. */
  async #withTokenMutex<Result>(request: TokenRequest<Result>): Promise<Result> {
    const { store, io } = this.#options;
    const started = io.elapsed();
    for (;;) {
      try {
        return await store.withTokenMutex(request, io);
      } catch (error) {
        if (!hasCode(error, 'rate-limited')) throw error;
        const found = await this.#waitForLimit(request, error, started);
        if (found !== undefined) return found;
      }
    }
  }

  /**
   * Waits for the end of the limit. @returns what another process has stored meanwhile
   * @throws ImgctlError that it was given, if the end is unknown or too late for the user
   */
  async #waitForLimit<Result>(
    request: TokenRequest<Result>,
    error: ImgctlError,
    started: number,
  ): Promise<Result | undefined> {
    const { store, io, patience = 0, onWait } = this.#options;
    const limit = await store.readLimit(io.now());
    const wait = limit?.remaining === 0 ? limit.resetsAt - io.now() : Number.POSITIVE_INFINITY;
    const begun = io.elapsed();
    if (wait > patience - (begun - started)) throw error;
    onWait?.(wait);
    for (let left = wait; left > 0; left = wait - (io.elapsed() - begun)) {
      await io.sleep(Math.min(left, LOOK_INTERVAL), io.signal);
      const found = await request.reuse();
      if (found !== undefined) return found;
    }
    this.#limitOver = limit?.resetsAt ?? 0;
    return undefined;
  }

  /** Remembers the token, or another one if that was stored meanwhile. */
  async #request(
    mutex: TokenMutex,
    password: string,
    refused: Facts,
    ignoreLimit = false,
  ): Promise<readonly [IssuedToken, isStored: boolean]> {
    const { store, io, username, client } = this.#options;
    if (username === undefined) throw this.#notLoggedIn();
    const known = await store.readLimit(io.now());
    const isOver = known && known.resetsAt < this.#limitOver + SHARED_DELAY;
    if (known?.remaining === 0 && !isOver && !ignoreLimit) throw this.#limitReached(known.resetsAt);
    // Counted before it is sent: a process killed now has used one as well.
    if (known) await store.writeLimit({ ...known, remaining: Math.max(0, known.remaining - 1) });
    let limit: RememberedLimit | undefined;
    const onLimit = ({ remaining, resetsAt }: TokenLimit) => {
      if (remaining === undefined || resetsAt === undefined) return;
      limit = { remaining, receivedAt: io.now(), resetsAt };
    };
    let issued: IssuedToken;
    try {
      issued = await client().requestToken(username, password, onLimit);
    } catch (error) {
      // Never sent, so it did not count.
      if (error instanceof TransportError && !error.sent) limit = known;
      if (hasCode(error, 'wrong-credentials', 'not-permitted')) {
        await shareRefusal(mutex, error, password);
      }
      throw hasCode(error, 'wrong-credentials') ? error.with({ facts: refused }) : error;
    } finally {
      if (limit) await store.writeLimit(limit);
    }
    this.#issuedHere.add(issued.token);
    const isStored = await mutex.store(issued);
    // The service may know only the newest token of a user, which another process has stored.
    this.#memory = (isStored ? undefined : await this.#readUsable()) ?? issued;
    return [issued, isStored];
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

/** Stores why the password was refused, for the processes that wait with the same one. */
async function shareRefusal(mutex: TokenMutex, error: ImgctlError, password: string) {
  const { message } = error;
  const code = error.code === 'not-permitted' ? error.code : 'wrong-credentials';
  const id = builtin('node:crypto').randomUUID();
  await mutex.refuse({ id, code, message, check: checkOf(id, password) });
}

export function loggedOut(): ImgctlError {
  const message = 'another imgctl logged out during this login';
  return new ImgctlError('failed', message, { facts: 'run the command again' });
}

/** A refused password may be near the right one, so no more than 16 bits of its digest are stored. */
function checkOf(id: string | undefined, password: string): string {
  return shortDigest([id, password].join('\0'), 4);
}
