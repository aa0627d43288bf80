// Authorizes every request: sends the access token, and renews it once after a 401.

import type { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpEvent, HttpResponse } from '../http/message.ts';
import type { Pace } from '../http/pace.ts';
import { isSafeMethod, type RetryOptions, sendWithRetry } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import { basicPair, resolveUrl } from '../http/url.ts';
import { rateLimitedError, statusError } from './responses.ts';

/** Provides access tokens; hides the disk, the lock and the password. */
export interface TokenSource {
  /**
   * Returns a token that has not expired as far as known, or undefined to send none.
   * @throws ImgctlError not-logged-in, or why there is none
   */
  current(): Promise<string | undefined>;
  /**
   * Returns another token for one that the service refused, or undefined if there is no way to get one.
   * Several requests may call it at once with the same token.
   * @param accepted the service had accepted that token before
   */
  renew(refused: string, accepted: boolean): Promise<string | undefined>;
  /** The hint for a token that was refused for good. */
  readonly hint: string;
}

export interface ServiceRequest {
  readonly method: string;
  /** Below the base URL, with its query; or an absolute URL of the base URL's origin. */
  readonly path: string;
  /** Aborts this request, in addition to the client's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** True to return the response of any status, without renewing the token. */
  readonly anyStatus?: boolean;
}

export type ClientEvent = HttpEvent | { kind: 'renewal'; method: string; url: URL };

export interface AuthOptions extends RetryOptions {
  readonly baseUrl: URL;
  readonly userAgent: string;
  readonly tokens: TokenSource;
  readonly authScheme: 'bearer' | 'basic';
  /** Milliseconds for each request, until the last byte. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Receives passwords, tokens and their Basic pairs before they are sent: a response may repeat them. */
  readonly onSecret?: ((secret: string) => void) | undefined;
}

/**
 * Sends a request with the token and returns the response of any status but 401 (refused token) and 429, unless it
 * asks for any status.
 * @throws ImgctlError token-refused, not-permitted, rate-limited, outcome-unknown (an unsafe request was sent
 *   and got no usable response), and those of the transport
 */
export type Send = (request: ServiceRequest) => Promise<HttpResponse>;

export type SendWithPassword = ReturnType<typeof createSender>['sendWithPassword'];

/**
 * Returns the two ways to send a request.
 * @param pace of one run
 * @param accepted the tokens that the service accepted, also in earlier runs
 */
export function createSender(
  transport: Transport,
  options: AuthOptions,
  pace: Pace,
  accepted: Set<string | undefined>,
) {
  const { baseUrl, tokens, timeout, userAgent, onEvent, onSecret } = options;

  const sendWith = (
    request: ServiceRequest,
    url: URL,
    authorization: string | undefined,
    ownPace?: Pace,
  ) => {
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      'user-agent': userAgent,
      ...(authorization === undefined ? {} : { authorization }),
    };
    const { method, signal: own } = request;
    const signal = own ? AbortSignal.any([own, options.signal]) : options.signal;
    return sendWithRetry(transport, { method, url, headers, timeout, signal }, options, ownPace);
  };

  const refusal = (response: HttpResponse): ImgctlError => {
    const error = statusError(response);
    if (error.code === 'not-permitted') return error;
    // With the basic scheme a service may call a bad token a wrong password.
    return error.with({ code: 'token-refused', hint: tokens.hint });
  };

  const sendWithToken = async (request: ServiceRequest, url: URL): Promise<HttpResponse> => {
    const authorize = (token: string | undefined) => {
      if (token === undefined) return sendWith(request, url, undefined, pace);
      const pair = basicPair(token, '');
      for (const secret of [token, pair]) onSecret?.(secret);
      // The two ways of section 5.
      const isBearer = options.authScheme === 'bearer';
      return sendWith(request, url, isBearer ? `Bearer ${token}` : `Basic ${pair}`, pace);
    };
    let token = await tokens.current();
    let response = await authorize(token);
    if (request.anyStatus) return response;
    if (response.status === 401) {
      const refused = refusal(response);
      // Another token would not be permitted either.
      if (refused.code === 'not-permitted') throw refused;
      const renewed = token && (await tokens.renew(token, accepted.has(token)));
      if (renewed === undefined) throw refused;
      onEvent?.({ kind: 'renewal', method: request.method, url });
      token = renewed;
      response = await authorize(token);
      if (response.status === 401) throw refusal(response);
    }
    accepted.add(token);
    if (response.status === 429) throw rateLimitedError(response);
    return response;
  };

  const send: Send = async (request) => {
    const { method, path } = request;
    try {
      return await sendWithToken(request, resolveUrl(baseUrl, path));
    } catch (error) {
      if (!(error instanceof TransportError) || !error.sent || isSafeMethod(method)) throw error;
      const hint = `the ${method} may have taken effect: check before you send it again`;
      throw error.with({ code: 'outcome-unknown', hint });
    }
  };

  /** Sends Basic credentials instead of the token; returns the response of any status. */
  const sendWithPassword = async (request: ServiceRequest, username: string, password: string) => {
    const pair = basicPair(username, password);
    for (const secret of [password, pair]) onSecret?.(secret);
    const response = await sendWith(request, resolveUrl(baseUrl, request.path), `Basic ${pair}`);
    pace.note(response);
    return response;
  };

  return { send, sendWithPassword };
}

/** Servers refuse longer headers. */
export const MAX_TOKEN_LENGTH = 8 * 1024;

/** True if a header can hold the text. */
export function isToken(text: string): boolean {
  return text.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(text);
}
