// What is stored of an account: its token, and the limit of token requests.

import type { IssuedToken } from '../api/token-request.ts';
import { ImgctlError } from '../errors.ts';

/** Its times are by this machine's clock, milliseconds since the epoch. */
export type CachedToken = Readonly<Pick<IssuedToken, 'token' | 'receivedAt' | 'expiresAt'>>;

/** Token requests left until `resetsAt`, section 8 of service.md. Times as in CachedToken. */
export interface RememberedLimit {
  readonly remaining: number;
  readonly receivedAt: number;
  readonly resetsAt: number;
}

/** Milliseconds before its end at which a token is renewed: a request takes time to arrive. */
const EXPIRY_MARGIN = 60_000;

/** True if the token has expired or soon will. The service decides whether it is valid. */
export function needsRenewal(token: CachedToken, now: number): boolean {
  const margin = Math.min(EXPIRY_MARGIN, (token.expiresAt - token.receivedAt) / 10);
  return now >= token.expiresAt - margin;
}

/** Milliseconds in which all nodes of a service should have learned a new token. */
const NEW_FOR = 10_000;

/** True if it is so new that a node of the service may not know it. */
export function isNewToken({ receivedAt }: CachedToken, now: number): boolean {
  // Another machine whose clock is ahead may have received it.
  return Math.abs(now - receivedAt) < NEW_FOR;
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

/** Milliseconds: a day, and a minute as services round. A longer limit is the service's mistake. */
const MAX_LIMIT_WINDOW = 24 * 3_600_000 + 60_000;

/** @param window milliseconds from the receipt of a limit to its end */
export function isPlausibleWindow(window: number): boolean {
  return window > 0 && window < MAX_LIMIT_WINDOW;
}

/** True if the limit still counts: not if the clock was set back to a time before its receipt. */
export function isInForce({ receivedAt, resetsAt }: RememberedLimit, now: number): boolean {
  return receivedAt <= now && now < resetsAt && isPlausibleWindow(resetsAt - receivedAt);
}
