// The store of an account's token: one interface for the files of this machine and for a shared store.

import type { Clock } from '../io.ts';

/** The owner of a token and of what else is cached; unset settings are empty. */
export interface Account {
  readonly profile: string;
  readonly baseUrl: string;
  readonly username: string;
}

export interface CachedToken {
  readonly token: string;
  /** By this machine's clock, milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly expiresAt: number;
}

/** Token requests left until `resetsAt`, section 8 of service-api.md. Times as in CachedToken. */
export interface RememberedLimit {
  readonly remaining: number;
  readonly receivedAt: number;
  readonly resetsAt: number;
}

/** What to do while no other process requests a token. */
export interface Turn<Result> {
  /** True if a person waits for it: no random delays then. */
  readonly isAttended: boolean;
  /** Returns what makes the action unnecessary, such as the token of another process. */
  findExisting(): Promise<Result | undefined>;
  /** @param confirm waits for its turn again if another process has taken the lock meanwhile */
  action(confirm: () => Promise<void>): Promise<Result>;
}

/** Stores the token and the limit of one account. A failure to read or write is a warning, once. */
export interface TokenStore {
  /** Where the token is stored: a file or a URL; undefined if nowhere. */
  readonly location: string | undefined;
  /** Returns the stored token, unless it is the refused one. */
  read(refused?: string): Promise<CachedToken | undefined> | CachedToken | undefined;
  write(token: CachedToken): Promise<void>;
  readLimit(now: number): Promise<RememberedLimit | undefined> | RememberedLimit | undefined;
  writeLimit(limit: RememberedLimit): Promise<void>;
  /** Takes a turn under the lock, or without one if none can be made. @throws ImgctlError timeout */
  takeTurn<Result>(turn: Turn<Result>, io: Clock): Promise<Result>;
}

/** A longer window is taken for an error. */
const MAX_LIMIT_WINDOW = 24 * 3_600_000;
/** The request has to arrive before the token expires. */
const EXPIRY_MARGIN = 60_000;

/** True close to the expiry. The service's 401 decides; this only saves a round trip. */
export function needsRenewal(token: CachedToken, now: number): boolean {
  const margin = Math.min(EXPIRY_MARGIN, (token.expiresAt - token.receivedAt) / 10);
  return now >= token.expiresAt - margin;
}

/** False before its receipt too: the clock was set back since, so only the service knows. */
export function isInForce({ receivedAt, resetsAt }: RememberedLimit, now: number): boolean {
  return receivedAt <= now && now < resetsAt && resetsAt - receivedAt < MAX_LIMIT_WINDOW;
}

/** A shared store could not be used. The message is the reason; it never holds a secret. */
export class StoreError extends Error {
  /** What helps, if it is known. */
  readonly hint: string | undefined;

  constructor(reason: string, hint?: string) {
    super(reason);
    this.hint = hint;
  }
}
