// Token requests: one at a time among the processes of an account, within the service's limit.

import type { Client } from '../api/client.ts';
import { type IssuedToken, LimitReached, type TokenLimit } from '../api/token-request.ts';
import { ImgctlError } from '../errors.ts';
import { announced, MutexLostError } from '../files/mutex.ts';
import { TransportError } from '../http/errors.ts';
import type { Clock } from '../io.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import { isInForce, type RememberedLimit } from './cached-token.ts';
import { isRefused, type Login, refusalError, refusalOf } from './refusal.ts';
import type { HeldMutex, TokenStore, TokenStores } from './token-store.ts';

export interface RequestsOptions {
  readonly io: Clock;
  readonly stores: TokenStores;
  /** A function, since the client itself gets its tokens by these requests. */
  readonly client: () => Pick<Client, 'requestToken'>;
  readonly baseUrl: string;
  /** Masks secrets in what is stored of a refusal. */
  readonly redact: (text: string) => string;
  /** Milliseconds to wait for the end of the limit. */
  readonly patience?: number;
  readonly onWait?: ((milliseconds: number) => void) | undefined;
  /** Called every 30 s while another process requests a token. */
  readonly onOther?: (() => void) | undefined;
}

/** What a token is requested with. */
export interface Credentials {
  readonly username: string;
  readonly passwordSource: Pick<PasswordSource, 'read' | 'factsIfRefused'>;
  /** True to send the request even if the remembered limit is reached. */
  readonly ignoreLimit?: boolean | undefined;
}

interface Order<Found> extends Credentials {
  /** Returns what makes the request unnecessary, such as the token of another process. */
  readonly find: (store: TokenStore) => Promise<Found | undefined>;
  /** True if a token that is not stored is of no use. */
  readonly mustStore?: boolean;
}

export interface Requested {
  readonly issued: IssuedToken;
  /** False if another process took the mutex before the token could be stored. */
  readonly isStored: boolean;
}

/**
 * Milliseconds. A limit that ends less than this after another one is the same: its two copies, in
 * Redis and in a file, end at slightly different times.
 */
const SAME_LIMIT = 1_000;

/** Milliseconds between two looks at the store while the run waits. */
const LOOK_INTERVAL = 5_000;

export class TokenRequests {
  readonly #options: RequestsOptions;
  /** The last request that was sent, until its token is stored. */
  #sent: Promise<Requested> | undefined;
  /** Limits that end before this are over, whatever the clock says: the run has waited for them. */
  #overUntil = 0;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /**
   * Requests a token, unless `find` finds one. What starts the request again, before it is sent or
   * after it was refused:
   *
   *     no request is left          after the end of the limit, if the patience is enough for all
   *                                 such waits
   *     the shared store fails      with the files
   *     another process took        once, if the token need not be stored: that process may have
   *     the mutex                   logged out, so it is not
   *
   * @throws ImgctlError also that of another process whose request with this password was refused;
   * MutexLostError
   */
  async request<Found>(order: Order<Found>): Promise<Found | Requested> {
    const { stores, io, patience = 0 } = this.#options;
    const latestEnd = io.elapsed() + patience;
    let wasLost = false;
    for (;;) {
      try {
        return await this.#requestOnce(order, stores.current, wasLost);
      } catch (error) {
        if (error instanceof LimitReached && io.elapsed() + waitFor(error) <= latestEnd) {
          const found = await this.#waitForEnd(error, order.find);
          if (found !== undefined) return found;
        } else if (error instanceof MutexLostError && !order.mustStore && !wasLost) {
          wasLost = true;
        } else {
          // Throws any other error.
          stores.giveUp(error);
        }
      }
    }
  }

  /** Waits until the token of a request that was sent is stored. */
  async settle(): Promise<void> {
    await this.#sent?.catch(() => {});
  }

  /** Returns early with what `find` finds. The clock may be set meanwhile, `elapsed` may not. */
  async #waitForEnd<Found>(limit: LimitReached, find: Order<Found>['find']) {
    const { stores, io, onWait } = this.#options;
    const wait = waitFor(limit);
    onWait?.(wait);
    const end = io.elapsed() + wait;
    while (io.elapsed() < end) {
      await io.sleep(Math.min(end - io.elapsed(), LOOK_INTERVAL), io.signal);
      const found = await stores.use(find);
      if (found !== undefined) return found;
    }
    this.#overUntil = limit.resetsAt + SAME_LIMIT;
    return undefined;
  }

  /** Requests a token under the mutex of a store. */
  async #requestOnce<Found>(
    order: Order<Found>,
    store: TokenStore,
    wasLost: boolean,
  ): Promise<Found | Requested> {
    const { onOther = () => {} } = this.#options;
    const earlier = await store.readRefusal();
    const acquired = await announced(
      store.acquire(() => order.find(store)),
      onOther,
    );
    if ('found' in acquired) return acquired.found;
    const { mutex } = acquired;
    try {
      // The process that held the mutex before may have stored one, or have been refused.
      const found = await order.find(store);
      if (found !== undefined) return found;
      const last = await store.readRefusal();
      const refusal = last?.id === earlier?.id ? undefined : last;
      const { username, passwordSource } = order;
      const password = await passwordSource.read();
      // A command may have taken long to print the password.
      await mutex.assertHeld();
      const login = { baseUrl: this.#options.baseUrl, username, password };
      if (refusal && isRefused(login, refusal)) {
        throw refusalError(refusal, passwordSource.factsIfRefused);
      }
      this.#options.io.signal.throwIfAborted();
      const writeToken = wasLost ? async () => false : mutex.writeToken;
      this.#sent = this.#sendAndStore(order, login, store, writeToken);
      return await this.#sent;
    } finally {
      await mutex.release();
    }
  }

  async #sendAndStore(
    { passwordSource, ignoreLimit }: Credentials,
    login: Login,
    store: TokenStore,
    writeToken: HeldMutex['writeToken'],
  ): Promise<Requested> {
    let issued: IssuedToken;
    try {
      issued = await this.#sendCounted(login, store, ignoreLimit);
    } catch (error) {
      const refusal = refusalOf(error, login);
      if (refusal === undefined) throw error;
      // The processes that wait for this one would send the same password. The service may repeat
      // it in its message, which anyone may read in the store.
      const message = this.#options.redact(refusal.message);
      await store.writeRefusal({ ...refusal, message });
      throw refusalError(refusal, passwordSource.factsIfRefused);
    }
    return { issued, isStored: await writeToken(issued) };
  }

  /**
   * Sends a token request, and remembers how many are left:
   *
   *     no limit is known, or the run has      it is sent
   *     waited for the end of the limit
   *     requests are left                      it is sent, and counted before
   *     none is left                           it is not sent, unless `ignoreLimit` says so
   *
   * @throws LimitReached
   */
  async #sendCounted(
    { username, password }: Login,
    store: TokenStore,
    ignoreLimit = false,
  ): Promise<IssuedToken> {
    const { io, client } = this.#options;
    const now = io.now();
    const known = await store.readLimit();
    const limit = known && known.resetsAt >= this.#overUntil ? known : undefined;
    if (limit?.remaining === 0 && !ignoreLimit) throw limitReached(limit, now);
    // Counted before it is sent: a process killed now has used one as well.
    if (limit) await store.writeLimit({ ...limit, remaining: Math.max(0, limit.remaining - 1) });
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    const onLimit = async ({ remaining, resetsAt }: TokenLimit) => {
      if (remaining === undefined || resetsAt === undefined) return;
      await store.writeLimit({ remaining, receivedAt: io.now(), resetsAt });
    };
    try {
      return await client().requestToken(username, password, { onSent, onLimit });
    } catch (error) {
      // A proxy may say that it did not pass the request on.
      const mayHaveArrived = error instanceof TransportError ? error.sent : isSent;
      if (limit && !mayHaveArrived) await store.writeLimit(limit);
      throw error;
    }
  }
}

function limitReached({ resetsAt }: RememberedLimit, now: number): LimitReached {
  const facts = { kind: 'token-limit', resetsAt, wait: resetsAt - now } as const;
  const error = new ImgctlError('rate-limited', 'token request limit reached', { facts });
  return new LimitReached(error, now, resetsAt);
}

/** Returns milliseconds: of a limit that is an error of the service, more than any patience. */
function waitFor({ receivedAt, resetsAt }: LimitReached): number {
  const isReal = isInForce({ remaining: 0, receivedAt, resetsAt }, receivedAt);
  return isReal ? resetsAt - receivedAt : Number.POSITIVE_INFINITY;
}
