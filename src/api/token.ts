// The token request, section 4.1 of service-api.md.

import type { ImgctlError } from '../errors.ts';
import {
  isSuccess,
  type Received,
  rateLimited,
  readJson,
  serviceMessage,
  shapeError,
  statusError,
  wrongCredentials,
} from './answers.ts';
import { isToken } from './credentials.ts';
import type { Http } from './http.ts';
import { isObject } from './json.ts';
import { rateLimitReset, requestedWait } from './retry.ts';
import type { TokenRecord } from './types.ts';

export interface IssuedToken {
  readonly record: TokenRecord;
  /** When the answer came, milliseconds since the epoch by this machine's clock. */
  readonly receivedAt: number;
  readonly limit: TokenLimit;
}

/** What the token endpoint says of its limit, section 8; undefined where it does not. */
export interface TokenLimit {
  /** Token requests left in this window. */
  readonly remaining: number | undefined;
  /** When the window ends, milliseconds since the epoch by this machine's clock. */
  readonly resetsAt: number | undefined;
}

/** A day, section 5; for an answer that gives no lifetime. */
const DEFAULT_LIFETIME_SECONDS = 86_400;
/** Ten years; a longer one, such as 1e308, would be no time that a clock can show. */
const LONGEST_LIFETIME_SECONDS = 10 * 365 * 86_400;

/**
 * POST /auth/request-token with Basic credentials, no body; sent once. `onLimit` hears what any answer says
 * of the limit, a refusal's too: it has used up a request like all others.
 * @throws ImgctlError wrong-credentials, not-permitted (section 7), rate-limited, bad-answer, the network's
 */
export async function requestToken(
  http: Http,
  username: string,
  password: string,
  onLimit?: (limit: TokenLimit) => void,
): Promise<IssuedToken> {
  const received = await http.send({
    method: 'POST',
    path: '/auth/request-token',
    credentials: { username, password },
  });
  const limit = limitOf(received);
  onLimit?.(limit);
  if (received.status === 429) throw rateLimited(received);
  if (received.status === 401) throw refusal(received);
  const value = readJson(withoutToken(received));
  if (!isObject(value) || typeof value.token !== 'string' || !isToken(value.token)) {
    throw shapeError(received, 'without an access token');
  }
  const { duration } = value;
  const valid = typeof duration === 'number' && duration > 0;
  return {
    record: {
      ...(value as unknown as TokenRecord),
      duration: valid ? Math.min(duration, LONGEST_LIFETIME_SECONDS) : DEFAULT_LIFETIME_SECONDS,
    },
    receivedAt: received.receivedAt,
    limit,
  };
}

/** Section 7. Whatever other words the service has for it, no token was sent that it could refuse. */
function refusal(received: Received): ImgctlError {
  const error = statusError(withoutToken(received));
  if (error.code !== 'token-refused') return error;
  const said = serviceMessage(received.body) ?? 'no reason given';
  return wrongCredentials(`the service refused the user name and password: ${said}`);
}

/** A failure may hold a token all the same: of its body only a message is fit to be shown. */
function withoutToken(received: Received): Received {
  const isShown = isSuccess(received) || serviceMessage(received.body) !== undefined;
  return isShown ? received : { ...received, body: Buffer.alloc(0) };
}

function limitOf({ headers, status, receivedAt }: Received): TokenLimit {
  const resetsAt = rateLimitReset(headers, receivedAt);
  if (status !== 429) return { remaining: wholeNumber(headers['x-ratelimit-remaining']), resetsAt };
  const wait = requestedWait(headers, status, receivedAt);
  return { remaining: 0, resetsAt: wait === undefined ? resetsAt : receivedAt + wait };
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}
