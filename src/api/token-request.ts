// The token request, section 4.1 of service.md.

import { ImgctlError } from '../errors.ts';
import { rateLimitReset, requestedWait } from '../http/headers.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { isObject } from '../json.ts';
import type { SendWithPassword } from './auth.ts';
import {
  isPage,
  oneTimePasswordError,
  rateLimitedError,
  readJson,
  serviceMessage,
  shapeError,
  statusError,
} from './responses.ts';

/** Servers refuse longer headers. */
export const MAX_TOKEN_LENGTH = 8 * 1024;

export function isToken(text: string): boolean {
  return text.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(text);
}

/** Times are milliseconds since the epoch by this machine's clock. */
export interface IssuedToken {
  readonly token: string;
  readonly receivedAt: number;
  readonly expiresAt: number;
  readonly limit: TokenLimit;
}

/** The limit of token requests, section 8; undefined if the service does not say. */
export interface TokenLimit {
  readonly remaining: number | undefined;
  readonly resetsAt: number | undefined;
}

/** Thrown if no token request is left until a known time. */
export class LimitReachedError extends ImgctlError {
  /** Milliseconds until then. */
  readonly wait: number;

  constructor(error: ImgctlError, wait: number) {
    super(error.code, error.message, error);
    this.wait = wait;
  }
}

export interface TokenRequestEvents {
  /** Called when the request may have reached the service. */
  readonly onSent?: () => void;
  /** Also called if the request is refused. */
  readonly onLimit?: (limit: TokenLimit) => Promise<void>;
}

/** Seconds, section 5; used if the response gives no lifetime. */
const DEFAULT_LIFETIME = 86_400;
/** Ten years; a longer lifetime, such as 1e308, would exceed every clock. */
const MAX_LIFETIME = 10 * 365 * 86_400;

/**
 * POST /auth/request-token: repeated only if it was never sent, or refused with 503.
 * @throws LimitReachedError; ImgctlError wrong-credentials, not-permitted, rate-limited,
 * bad-answer, network errors
 */
export async function requestToken(
  send: SendWithPassword,
  username: string,
  password: string,
  { onSent, onLimit }: TokenRequestEvents = {},
): Promise<IssuedToken> {
  const request = { method: 'POST', path: '/auth/request-token' };
  const response = await send(request, username, password, onSent);
  const { receivedAt } = response;
  const limit = limitOf(response);
  await onLimit?.(limit);
  if (response.status === 429) throw limitError(response, limit);
  if (response.status === 401) throw refusalError(response);
  const isClientError = response.status >= 400 && response.status < 500;
  const oneTime = isClientError ? oneTimePasswordError(response) : undefined;
  if (oneTime) throw oneTime;
  // The code not-found would mean that an image or a sync request is missing.
  if (response.status === 404 || response.status === 410) {
    throw statusError(withoutToken(response)).with({ code: 'failed' });
  }
  const record = readJson(withoutToken(response));
  if (!isObject(record) || typeof record.token !== 'string' || !isToken(record.token)) {
    throw shapeError(response, 'the body holds no access token of up to 8 KiB');
  }
  const { token, duration } = record;
  const hasDuration = typeof duration === 'number' && duration > 0;
  const lifetime = hasDuration ? Math.min(duration, MAX_LIFETIME) : DEFAULT_LIFETIME;
  return { token, receivedAt, expiresAt: receivedAt + lifetime * 1_000, limit };
}

function limitError(response: HttpResponse, { resetsAt }: TokenLimit): ImgctlError {
  // With retryAfter, a command would wait for the end of this limit even without --wait-for-token.
  const error = rateLimitedError(response).with({ retryAfter: undefined });
  return resetsAt === undefined
    ? error
    : new LimitReachedError(error, resetsAt - response.receivedAt);
}

/** Section 7. Whatever the service says, there was no token to refuse. */
function refusalError(response: HttpResponse): ImgctlError {
  const error = statusError(withoutToken(response));
  if (error.code !== 'token-refused') return error;
  const reason = serviceMessage(response.body) ?? 'no reason given';
  const message = `the service refused the user name and password: ${reason}`;
  return error.with({ code: 'wrong-credentials', message });
}

/** Even an error may hold a token, so of its body only a message is shown; of a page nothing is. */
function withoutToken(response: HttpResponse): HttpResponse {
  const hasMessage = serviceMessage(response.body) !== undefined;
  const mayShow = isSuccess(response) || hasMessage || isPage(response);
  return mayShow ? response : { ...response, body: Buffer.alloc(0) };
}

function limitOf(response: HttpResponse): TokenLimit {
  const { headers, status, receivedAt } = response;
  const reset = rateLimitReset(response);
  const wait = status === 429 ? requestedWait(response) : undefined;
  // A proxy may have repeated the header: `4, 4`.
  const left = (headers['x-ratelimit-remaining'] ?? '').split(',').map((part) => part.trim());
  const isNumber = left.every((part) => /^\d{1,9}$/.test(part));
  const announced = isNumber ? Math.min(...left.map(Number)) : undefined;
  return {
    remaining: status === 429 ? 0 : announced,
    resetsAt: wait === undefined ? reset : receivedAt + wait,
  };
}
