// The limit of token requests: whether one may be sent, and the wait for the end of the limit.

import type { Client } from '../api/client.ts';
import type { IssuedToken, TokenLimit } from '../api/token-request.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { Clock } from '../io.ts';
import { isInForce, type RememberedLimit } from './cached-token.ts';
import type { TokenStore, TokenWork } from './token-store.ts';

export interface LimitOptions {
  readonly io: Clock;
  readonly store: TokenStore;
  /** A function, since the client itself gets its tokens by these requests. */
  readonly client: () => Pick<Client, 'requestToken'>;
  /** Milliseconds to wait for the end of the limit. */
  readonly patience?: number;
  readonly onWait?: ((milliseconds: number) => void) | undefined;
}

/**
 * Milliseconds. A limit that ends less than this after another one is the same: its two copies, in
 * Redis and in a file, end at slightly different times.
 */
const SAME_LIMIT = 1_000;

/** Milliseconds between two looks at the store while the run waits. */
const LOOK_INTERVAL = 5_000;

/**
 * `withPatience` is called outside of the mutex, and waits there; `sendCounted` is called under it,
 * and does not wait.
 */
export class RequestLimit {
  readonly #options: LimitOptions;
  /**
   * The last limit that the store or a response showed. `sendCounted` sets it; `withPatience` reads
   * here how long to wait, and not in the store, which may have failed to write the limit.
   */
  #lastMet: RememberedLimit | undefined;
  /** The end of the limit for which this run has waited; 0 before. */
  #endWaitedFor = 0;

  constructor(options: LimitOptions) {
    this.#options = options;
  }

  /**
   * Does the work under the mutex of the store. If its request is rate-limited, by `sendCounted` or
   * by the service, and no request is left, the run waits for the end of the limit, and the request
   * starts again. `patience` has to be enough for all waits together.
   */
  async withPatience<Result>(work: TokenWork<Result>): Promise<Result> {
    const { store, io, patience = 0, onWait } = this.#options;
    const latestEnd = io.elapsed() + patience;
    for (;;) {
      try {
        return await store.withTokenMutex(work);
      } catch (error) {
        if (!hasCode(error, 'rate-limited')) throw error;
        const now = io.now();
        const limit = this.#lastMet;
        if (limit?.remaining !== 0 || !isInForce(limit, now)) throw error;
        const wait = limit.resetsAt - now;
        if (io.elapsed() + wait > latestEnd) throw error;
        onWait?.(wait);
        const found = await this.#sleep(wait, work.reuse);
        if (found !== undefined) return found;
        this.#endWaitedFor = limit.resetsAt;
      }
    }
  }

  /** Returns early with what `reuse` finds. The clock may be set meanwhile, `elapsed` may not. */
  async #sleep<Result>(wait: number, reuse: () => Promise<Result | undefined>) {
    const { io } = this.#options;
    const end = io.elapsed() + wait;
    while (io.elapsed() < end) {
      await io.sleep(Math.min(end - io.elapsed(), LOOK_INTERVAL), io.signal);
      const found = await reuse();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Sends a token request, and remembers how many are left:
   *
   *     no limit is known, or the run has      it is sent
   *     waited for the end of the limit
   *     requests are left                      it is sent, and counted before
   *     none is left                           it is not sent, unless `ignoreLimit` says so
   *
   * @throws ImgctlError rate-limited: it was not sent
   */
  async sendCounted(username: string, password: string, ignoreLimit = false): Promise<IssuedToken> {
    const { store, io, client } = this.#options;
    const known = await store.readLimit(io.now());
    this.#lastMet = known;
    const limit = known && !this.#hasWaitedFor(known) ? known : undefined;
    if (limit?.remaining === 0 && !ignoreLimit) {
      const { resetsAt } = limit;
      const facts = { kind: 'token-limit', resetsAt, wait: resetsAt - io.now() } as const;
      throw new ImgctlError('rate-limited', 'token request limit reached', { facts });
    }
    // Counted before it is sent: a process killed now has used one as well.
    if (limit) await store.writeLimit({ ...limit, remaining: Math.max(0, limit.remaining - 1) });
    try {
      return await client().requestToken(username, password, (left) => this.#remember(left));
    } catch (error) {
      const isUnsent = error instanceof TransportError && !error.sent;
      if (isUnsent && limit) await store.writeLimit(limit);
      throw error;
    }
  }

  async #remember({ remaining, resetsAt }: TokenLimit): Promise<void> {
    if (remaining === undefined || resetsAt === undefined) return;
    const { store, io } = this.#options;
    this.#lastMet = { remaining, receivedAt: io.now(), resetsAt };
    await store.writeLimit(this.#lastMet);
  }

  /**
   * True if it is the limit for which this run has waited. A store may still show it afterwards: a
   * copy of it that ends 400 ms later, or the same one if the clock was set back meanwhile.
   */
  #hasWaitedFor({ resetsAt }: RememberedLimit): boolean {
    return resetsAt < this.#endWaitedFor + SAME_LIMIT;
  }
}
