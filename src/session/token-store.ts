// What a store of tokens does: the files of this machine, or a server that machines share.

import type { IssuedToken } from '../api/token-request.ts';
import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Clock } from '../io.ts';
import type { Refusal } from './refusal.ts';

/** Its times are by this machine's clock, milliseconds since the epoch. */
export type CachedToken = Readonly<Pick<IssuedToken, 'token' | 'receivedAt' | 'expiresAt'>>;

/** Token requests left until `resetsAt`, section 8 of service.md. Times as in CachedToken. */
export interface RememberedLimit {
  readonly remaining: number;
  readonly receivedAt: number;
  readonly resetsAt: number;
}

/** The mutex of token requests, while it is held. */
export interface TokenMutex {
  /** Throws if another process has taken the mutex, so that the request starts again; perhaps also after a logout. */
  assertHeld(): Promise<void>;
  /** Stores a token unless the mutex was lost. Returns false then: another process has its own token, or logged out. */
  store(token: CachedToken): Promise<boolean>;
  /** The request of another process that was refused while this one waited for it. */
  readonly refusal: Refusal | undefined;
  /** Stores a refusal for the processes that wait. */
  refuse(refusal: Refusal): Promise<void>;
}

/** What to do while no other process requests a token. */
export interface TokenRequest<Result> {
  /** Returns what makes the action unnecessary, such as the token of another process. */
  reuse(): Promise<Result | undefined>;
  action(mutex: TokenMutex): Promise<Result>;
}

/** What a store does for the process that holds its mutex. */
interface HeldStore extends Pick<TokenMutex, 'store' | 'refuse'> {
  /** Returns the last refusal that is stored. */
  readRefusal(): Promise<Refusal | undefined> | Refusal | undefined;
  /** Returns false if the mutex was lost, perhaps to a logout, and is held again. Throws as `assertHeld` does. */
  confirm(): Promise<boolean>;
}

/**
 * Runs a request under the mutex that this process has just taken. What others did before, or did after it was lost:
 *
 *     one stored a token during the wait          that token is used
 *     one was refused during the wait             the action gets the refusal
 *     a logout took the mutex from this process   the action goes on, but its token is not stored
 *
 * @param before is the refusal that was stored before the wait
 */
export async function runWhileHeld<Result>(
  { reuse, action }: TokenRequest<Result>,
  before: Refusal | undefined,
  held: HeldStore,
): Promise<Result> {
  const refusal = await held.readRefusal();
  const found = await reuse();
  if (found !== undefined) return found;
  let mayStore = true;
  return action({
    assertHeld: async () => {
      if (!(await held.confirm())) mayStore = false;
    },
    store: async (token) => mayStore && held.store(token),
    refusal: refusal?.id === before?.id ? undefined : refusal,
    refuse: held.refuse,
  });
}

/** Stores the token and the limit of one account. A failure to read or write is a warning. */
export interface TokenStore {
  /** Returns the stored token unless it is one of `refused`. */
  read(refused?: ReadonlySet<string>): Promise<CachedToken | undefined> | CachedToken | undefined;
  readLimit(now: number): Promise<RememberedLimit | undefined> | RememberedLimit | undefined;
  writeLimit(limit: RememberedLimit): Promise<void>;
  /** Runs the request under the mutex, or without one if none can be made. @throws ImgctlError locked */
  withTokenMutex<Result>(request: TokenRequest<Result>, io: Clock): Promise<Result>;
}

/** A shared store could not be used. The message is the reason; it never holds a secret. */
export class SharedStoreError extends ImgctlError {
  constructor(reason: string, facts?: Facts) {
    super('unreachable', reason, { facts });
  }
}

/** A request takes some time to arrive, so a token is renewed as many milliseconds before it expires. */
const EXPIRY_MARGIN = 60_000;

/** True if the token has expired or soon will. It saves a request that would be refused; the service decides. */
export function needsRenewal(token: CachedToken, now: number): boolean {
  const margin = Math.min(EXPIRY_MARGIN, (token.expiresAt - token.receivedAt) / 10);
  return now >= token.expiresAt - margin;
}

/** A limit that ends later after its receipt is taken for an error. */
const MAX_LIMIT_WINDOW = 24 * 3_600_000;

/** True if the limit still counts. Before its receipt the clock was set back, and only the service knows. */
export function isInForce({ receivedAt, resetsAt }: RememberedLimit, now: number): boolean {
  return receivedAt <= now && now < resetsAt && resetsAt - receivedAt < MAX_LIMIT_WINDOW;
}

/** By this machine's clock. */
export function tokenState(token: CachedToken | undefined, now: number) {
  if (token === undefined) return 'none';
  return now < token.expiresAt ? 'valid' : 'expired';
}

export function noValidToken(state: 'none' | 'expired'): ImgctlError {
  const message = state === 'none' ? 'not logged in' : 'the token has expired';
  return new ImgctlError('not-logged-in', message, { facts: { kind: 'login-needed' } });
}
