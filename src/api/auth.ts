// Authorizes every request: sends the access token, and renews it once after a 401.

import { untilAborted } from '../abort.ts';
import { ImgctlError } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import { isRedirect, redirectTarget, TransportError } from '../http/errors.ts';
import type { HttpEvent, HttpRequest, HttpResponse } from '../http/message.ts';
import type { Pace } from '../http/pace.ts';
import { isSafeMethod, type RetryOptions, sendWithRetry } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import { basicPair, resolveUrl } from '../http/url.ts';
import { rateLimitedError, serviceMessage, statusError, withRecordStatus } from './responses.ts';

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
   * @param wasAccepted the service had accepted that token before
   */
  renew(refused: string, wasAccepted: boolean): Promise<string | undefined>;
  /** True if the token was received a moment ago, by any process or machine: a node of the service may not know it yet. */
  isNew(token: string): boolean;
  /** If a token was refused for good. */
  readonly refused: Facts;
}

export interface ServiceRequest {
  readonly method: string;
  /** Below the base URL, with its query; or an absolute URL of the base URL's origin. */
  readonly path: string;
  /** Aborts this request, in addition to the client's own signal. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of retries, instead of the client's own. */
  readonly retries?: number | undefined;
  /** True to return the response of any status, without renewing the token. */
  readonly anyStatus?: boolean;
  /** True to return what was received: not the status of an error record, nor what a redirect leads to. */
  readonly asReceived?: boolean;
  /** Returns the error of an unsafe request that was sent and may have taken effect. */
  readonly ifUncertain?: (error: ImgctlError) => ImgctlError;
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
 * Returns the response of any status but 401 (refused token) and 429, unless `anyStatus` asks for them too.
 * @throws ImgctlError token-refused, not-permitted, rate-limited, outcome-unknown (an unsafe request was sent and got no usable response), and those of the transport
 */
export type Send = (request: ServiceRequest) => Promise<HttpResponse>;

export type SendWithPassword = (
  request: ServiceRequest,
  username: string,
  password: string,
) => Promise<HttpResponse>;

/** @param accepted the tokens that the service accepted, also in earlier runs */
export function createSender(
  transport: Transport,
  options: AuthOptions,
  pace: Pace,
  accepted: Set<string | undefined>,
) {
  const { baseUrl, tokens, onEvent, onSecret } = options;
  const sendWith = retryingSender(transport, options, pace);

  // One for all requests of a list: each combined signal costs memory for as long as the run.
  const combined = new WeakMap<AbortSignal, AbortSignal>();
  const signalOf = ({ signal }: ServiceRequest) => {
    if (signal === undefined) return options.signal;
    const known = combined.get(signal) ?? AbortSignal.any([signal, options.signal]);
    combined.set(signal, known);
    return known;
  };

  const refusal = (response: HttpResponse): ImgctlError => {
    const error = statusError(response);
    if (error.code === 'not-permitted') return error;
    // With the basic scheme a service may call a bad token a wrong password.
    return error.with({ code: 'token-refused', facts: error.facts ?? tokens.refused });
  };

  const authorize = async (request: ServiceRequest, url: URL, token: string | undefined) => {
    const pair = token && basicPair(token, '');
    for (const secret of [token, pair]) if (secret) onSecret?.(secret);
    // The two ways of section 5.
    const isBearer = options.authScheme === 'bearer';
    const authorization = token && (isBearer ? `Bearer ${token}` : `Basic ${pair}`);
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    try {
      return await sendWith(request, url, authorization, { onSent });
    } catch (error) {
      // A proxy may say that it did not pass the request on.
      const mayHaveArrived = error instanceof TransportError ? error.sent : isSent;
      const isOpen = mayHaveArrived && !isSafeMethod(request.method);
      throw isOpen && error instanceof ImgctlError ? uncertainError(request, error) : error;
    }
  };

  /** Sends it again if a new token is not known yet, and if only the last slash of the path is wrong. */
  const authorizeOrCorrect = async (request: ServiceRequest, url: URL, token?: string) => {
    const response = await authorize(request, url, token);
    if (isUnknownToken(response) && token !== undefined && tokens.isNew(token)) {
      await options.sleep(NEW_TOKEN_PAUSE, request.signal ?? options.signal);
      return authorize(request, url, token);
    }
    const corrected = request.asReceived ? undefined : correctedSlash(response);
    return corrected ? authorize(request, corrected, token) : response;
  };

  const send: Send = async (asked) => {
    const url = resolveUrl(baseUrl, asked.path);
    const signal = signalOf(asked);
    const request = { ...asked, signal };
    let token = await untilAborted(tokens.current(), signal);
    let response = await authorizeOrCorrect(request, url, token);
    if (request.anyStatus) return response;
    // Tokens that others stored may be revoked too; one that was requested for this request is the last.
    for (let wasAccepted = accepted.has(token); response.status === 401; wasAccepted = false) {
      const refused = refusal(response);
      // Another token would not be permitted either.
      if (refused.code === 'not-permitted') throw refused;
      const renewed = token && (await untilAborted(tokens.renew(token, wasAccepted), signal));
      if (renewed === undefined) throw refused;
      onEvent?.({ kind: 'renewal', method: request.method, url });
      token = renewed;
      response = await authorizeOrCorrect(request, url, token);
    }
    accepted.add(token);
    if (response.status === 429) throw rateLimitedError(response);
    return response;
  };

  const sendWithPassword = async (request: ServiceRequest, username: string, password: string) => {
    const pair = basicPair(username, password);
    for (const secret of [password, pair]) onSecret?.(secret);
    const sent = { ...request, signal: signalOf(request) };
    // Another failure may have counted as a token request.
    return sendWith(sent, resolveUrl(baseUrl, request.path), `Basic ${pair}`, { refusals: [503] });
  };

  return { send, sendWithPassword };
}

/** Returns a function that sends a request with this header Authorization, and retries it. */
function retryingSender(transport: Transport, options: AuthOptions, pace: Pace) {
  const { timeout, userAgent } = options;
  const recordStatuses = {
    send: async (request: HttpRequest) => withRecordStatus(await transport.send(request)),
  };
  return (
    request: ServiceRequest,
    url: URL,
    authorization: string | undefined,
    more: Pick<HttpRequest, 'onSent' | 'refusals'> = {},
  ) => {
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      'user-agent': userAgent,
      ...(authorization === undefined ? {} : { authorization }),
    };
    const { method, signal = options.signal, retries = options.retries, asReceived } = request;
    const sent = { method, url, headers, timeout, signal, ...more };
    const via = asReceived ? transport : recordStatuses;
    return sendWithRetry(via, sent, { ...options, retries }, pace);
  };
}

/** Milliseconds until all nodes of a service should know a new token. */
const NEW_TOKEN_PAUSE = 1_000;

/** Section 7: an unknown token, and nothing else. */
function isUnknownToken({ status, body }: HttpResponse): boolean {
  return status === 401 && /^invalid token$/i.test(serviceMessage(body) ?? '');
}

/** Returns the URL to which a GET is redirected if it differs only by the last slash of its path. */
function correctedSlash(response: HttpResponse): URL | undefined {
  const { method, url } = response;
  const target = method === 'GET' && isRedirect(response) ? redirectTarget(response) : undefined;
  if (target === undefined || target.href === url.href) return undefined;
  const plain = ({ origin, pathname, searchParams }: URL) =>
    `${origin}${pathname.replace(/\/$/, '')}?${searchParams}`;
  return plain(target) === plain(url) ? target : undefined;
}

function uncertainError({ method, ifUncertain }: ServiceRequest, error: ImgctlError): ImgctlError {
  const facts = advice(`the ${method} may have taken effect: check before you send it again`);
  const code = error instanceof TransportError ? 'outcome-unknown' : error.code;
  const uncertain = error.with({ code, facts });
  return ifUncertain ? ifUncertain(uncertain) : uncertain;
}

/** Servers refuse longer headers. */
export const MAX_TOKEN_LENGTH = 8 * 1024;

export function isToken(text: string): boolean {
  return text.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(text);
}
