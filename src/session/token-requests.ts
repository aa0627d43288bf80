// Token requests: one at a time among the processes of an account, within the service's limit.

import type { Client } from '../api/client.ts';
import { type IssuedToken, LimitReachedError, type TokenLimit } from '../api/token-request.ts';
import { ImgctlError } from '../errors.ts';
import { announceWait, MutexLostError } from '../files/mutex.ts';
import { TransportError } from '../http/errors.ts';
import type { Clock } from '../io.ts';
import type { PasswordSource } from '../secrets/passwords.ts';
import { isPlausibleWindow, type RememberedLimit } from './cached-token.ts';
import { isRefused, type Login, type Refusal, refusalError, refusalOf } from './refusal.ts';
import {
  type HeldMutex,
  SharedStoreError,
  type TokenStore,
  type TokenStores,
} from './token-store.ts';

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

/** What a run asks for. The password is read once the mutex is held: then it is a Login. */
export interface TokenOrder {
  readonly username: string;
  readonly passwordSource: Pick<PasswordSource, 'read' | 'factsIfRefused'>;
  /** True to send the request even if the remembered limit is reached. */
  readonly ignoreLimit?: boolean | undefined;
}

/** Returns what makes a request unnecessary, such as the token of another process. */
type Find<Found> = (store: TokenStore) => Promise<Found | undefined>;

/** How a token request ended. */
type Outcome<Found> = { readonly found: Found } | Issued;

interface Issued {
  readonly issued: IssuedToken;
  /** False if another process took the mutex before the token could be stored. */
  readonly isStored: boolean;
}

/** Milliseconds by which a copy of a limit may end later than the limit that the run waited for. */
const SAME_LIMIT = 1_000;

/** Milliseconds between two looks at the store while the run waits. */
const LOOK_INTERVAL = 5_000;

export class TokenRequests {
  readonly #options: RequestsOptions;
  /** The last request that was sent, until its token is stored. */
  #inFlight: Promise<Issued> | undefined;
  /** Limits that end before this are over, whatever the clock says: the run has waited for them. */
  #overUntil = 0;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /**
   * Requests a token, unless `find` finds one. What starts the request again:
   *
   *     the shared store fails before       with the files
   *     the request is sent
   *     no request is left                  after the end of the limit, if the patience is enough
   *                                         for all such waits
   *
   * @throws ImgctlError also that of another process whose request with this password was refused;
   * MutexLostError before the request is sent
   */
  async request(order: TokenOrder): Promise<Issued>;
  async request<Found>(order: TokenOrder, find: Find<Found>): Promise<Outcome<Found>>;
  async request<Found>(
    order: TokenOrder,
    find: Find<Found> = async () => undefined,
  ): Promise<Outcome<Found>> {
    const { stores, io, patience = 0 } = this.#options;
    const latestEnd = io.elapsed() + patience;
    for (;;) {
      try {
        return await this.#requestOnce(order, find, stores.current);
      } catch (error) {
        if (error instanceof SharedStoreError) stores.giveUp(error);
        else if (isWorthWaiting(error, latestEnd - io.elapsed())) {
          const end = io.now() + error.wait;
          const found = await this.#waitForEnd(error.wait, find);
          if (found !== undefined) return { found };
          this.#overUntil = end + SAME_LIMIT;
        } else throw error;
      }
    }
  }

  /** Waits until the token of a request that was sent is stored. */
  async settle(): Promise<void> {
    await this.#inFlight?.catch(() => {});
  }

  /** Returns early with what `find` finds. Uses `elapsed`, as the clock may be set meanwhile. */
  async #waitForEnd<Found>(wait: number, find: Find<Found>): Promise<Found | undefined> {
    const { stores, io, onWait } = this.#options;
    onWait?.(wait);
    const end = io.elapsed() + wait;
    while (io.elapsed() < end) {
      await io.sleep(Math.min(end - io.elapsed(), LOOK_INTERVAL), io.signal);
      const found = await stores.use(find);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Holds the mutex of a store for a token request, unless `find` finds something first. */
  async #requestOnce<Found>(
    order: TokenOrder,
    find: Find<Found>,
    store: TokenStore,
  ): Promise<Outcome<Found>> {
    const { stores, onOther = () => {} } = this.#options;
    const earlier = await store.readRefusal();
    const acquired = await announceWait(
      store.acquire(() => find(store)),
      onOther,
    );
    if ('found' in acquired) return acquired;
    const { mutex } = acquired;
    try {
      // The process that held the mutex before may have stored one.
      const found = await find(store);
      if (found !== undefined) return { found };
      const issued = await this.#requestHolding(mutex, order, store, earlier);
      // The service may know only the newest token, that of the process which took the mutex.
      const newer = issued.isStored ? undefined : await stores.use(find);
      return newer === undefined ? issued : { found: newer };
    } catch (error) {
      // Nothing was sent: the token of the process which took the mutex will do.
      const found = error instanceof MutexLostError ? await stores.use(find) : undefined;
      if (found === undefined) throw error;
      return { found };
    } finally {
      await mutex.release();
    }
  }

  /** Reads the password, and sends it unless it was refused since the refusal `earlier`. */
  async #requestHolding(
    mutex: HeldMutex,
    order: TokenOrder,
    store: TokenStore,
    earlier: Refusal | undefined,
  ): Promise<Issued> {
    const { io, baseUrl } = this.#options;
    const { username, passwordSource } = order;
    const refusal = await newRefusal(store, earlier);
    const login = { baseUrl, username, password: await passwordSource.read() };
    // A command may have taken long to print the password.
    await mutex.assertHeld();
    if (refusal && isRefused(login, refusal)) {
      throw refusalError(refusal, passwordSource.factsIfRefused);
    }
    io.signal.throwIfAborted();
    this.#inFlight = this.#sendAndStore(order, login, store, mutex);
    return this.#inFlight;
  }

  async #sendAndStore(
    { passwordSource, ignoreLimit }: TokenOrder,
    login: Login,
    store: TokenStore,
    mutex: HeldMutex,
  ): Promise<Issued> {
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
    return { issued, isStored: await mutex.writeToken(issued) };
  }

  /**
   * Sends a token request, and remembers how many are left:
   *
   *     no limit is known, or the run has      it is sent
   *     waited for the end of the limit
   *     requests are left                      it is sent, and counted before
   *     none is left                           it is not sent, unless `ignoreLimit` says so
   *
   * @throws LimitReachedError
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

/** Returns the last refusal, unless it is `earlier`: the service may have learned the password. */
async function newRefusal(store: TokenStore, earlier: Refusal | undefined) {
  const last = await store.readRefusal();
  return last?.id === earlier?.id ? undefined : last;
}

export function limitReached({ resetsAt }: RememberedLimit, now: number): LimitReachedError {
  const facts = { kind: 'token-limit', resetsAt, wait: resetsAt - now } as const;
  const error = new ImgctlError('rate-limited', 'token request limit reached', { facts });
  return new LimitReachedError(error, resetsAt - now);
}

function isWorthWaiting(error: unknown, patience: number): error is LimitReachedError {
  return (
    error instanceof LimitReachedError && error.wait <= patience && isPlausibleWindow(error.wait)
  );
}
