// Authorizes every request: sends the access token, and another one after a 401.
//
// A request goes through these functions, from the outside in. Each adds one thing:
//
//     send                      another token after each 401
//     #sendFollowingSlash       a second request if only the last slash of the path was wrong
//     #sendAgainIfTokenIsNew    a second request if the service does not know a new token yet
//     #sendWithToken            the token; the error of a request that may have taken effect
//     #transmit                 the other headers; sendWithPassword begins here
//     sendWithRetry             src/http: retries, at the pace of the run

import { untilAborted } from '../abort.ts';
import { ImgctlError } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import { TransportError } from '../http/errors.ts';
import { type HttpEvent, type HttpRequest, type HttpResponse, isSuccess } from '../http/message.ts';
import type { Pace } from '../http/pace.ts';
import { isRedirect, redirectTarget } from '../http/redirects.ts';
import { isSafeMethod, type RetryOptions, sendWithRetry } from '../http/retry.ts';
import type { Transport } from '../http/transport.ts';
import { basicPair, resolveUrl, withoutSlash } from '../http/url.ts';
import {
  isPage,
  rateLimitedError,
  serviceMessage,
  statusError,
  withRecordStatus,
} from './responses.ts';

/** Provides access tokens; hides the stores and the password. */
export interface TokenSource {
  /**
   * Returns a token that has not expired as far as known, or undefined to send none.
   * @throws ImgctlError not-logged-in, or why there is none
   */
  current(): Promise<string | undefined>;
  /**
   * Returns another token for one that the service rejected, or undefined if there is none.
   * Several requests may call it at once with the same token.
   * @param wasAccepted the service had accepted that token before
   */
  renew(token: string, wasAccepted: boolean): Promise<string | undefined>;
  /** True if the token is so new, in any process, that a node of the service may not know it. */
  isNew(token: string): boolean;
  /** Facts of the error if no token replaces a rejected one. */
  readonly factsIfRejected: Facts;
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
  /** True to read no status from an error record, and to follow no redirect. */
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
  /** Receives each secret before it is sent, also as a Basic pair: a response may repeat it. */
  readonly onSecret?: ((secret: string) => void) | undefined;
}

/**
 * Returns the response of any status but 401 and 429, which `anyStatus` returns too.
 * @throws ImgctlError token-refused, not-permitted, rate-limited, those of the transport;
 * outcome-unknown if an unsafe request was sent and got no usable response
 */
export type Send = (request: ServiceRequest) => Promise<HttpResponse>;

export type SendWithPassword = (
  request: ServiceRequest,
  username: string,
  password: string,
  onSent?: () => void,
) => Promise<HttpResponse>;

/** Sends the requests of one run, with its token or with a password. */
export class Sender {
  readonly #transport: Transport;
  readonly #options: AuthOptions;
  readonly #pace: Pace;
  readonly #accepted: Set<string | undefined>;
  /** By the signal of a list: combined anew for each of 1,000 pages, they would take 18 MB. */
  readonly #combinedSignals = new WeakMap<AbortSignal, AbortSignal>();

  /** @param accepted the tokens that the service is known to accept, also from earlier runs */
  constructor(
    transport: Transport,
    options: AuthOptions,
    pace: Pace,
    accepted: Set<string | undefined>,
  ) {
    this.#transport = transport;
    this.#options = options;
    this.#pace = pace;
    this.#accepted = accepted;
  }

  /**
   * Sends a request with the current token, and after each 401 with another one:
   * - T1: 401; T2, stored by another process: 401; T3, requested by this run: 200, returned
   * - the same, but T3: 401, which is the error token-refused
   */
  readonly send: Send = async (asked) => {
    const request = this.#complete(asked);
    let token = await untilAborted(this.#options.tokens.current(), request.signal);
    let response = await this.#sendFollowingSlash(request, token);
    if (request.anyStatus) return response;
    // A service may issue the same token again, which would be renewed for ever if it still counted
    // as accepted.
    let wasAccepted = this.#accepted.has(token);
    while (response.status === 401) {
      token = await this.#anotherToken(response, token, wasAccepted, request.signal);
      response = await this.#sendFollowingSlash(request, token);
      wasAccepted = false;
    }
    // Any other status may be that of a gateway, which has not looked at the token.
    if (isSuccess(response)) this.#accepted.add(token);
    if (response.status === 429) throw rateLimitedError(response);
    return response;
  };

  readonly sendWithPassword: SendWithPassword = async (asked, username, password, onSent) => {
    const pair = basicPair(username, password);
    for (const secret of [password, pair]) this.#options.onSecret?.(secret);
    // After any other status than 503, the request may have counted as one for a token.
    const more = { refusals: [503], hasOwnLimit: true, onSent };
    return this.#transmit(this.#complete(asked), `Basic ${pair}`, more);
  };

  #complete(asked: ServiceRequest): CompleteRequest {
    const url = resolveUrl(this.#options.baseUrl, asked.path);
    return { ...asked, url, signal: this.#combined(asked.signal) };
  }

  #combined(signal: AbortSignal | undefined): AbortSignal {
    const ofRun = this.#options.signal;
    if (signal === undefined) return ofRun;
    const combined = this.#combinedSignals.get(signal) ?? AbortSignal.any([signal, ofRun]);
    this.#combinedSignals.set(signal, combined);
    return combined;
  }

  /**
   * Returns another token after a 401.
   * @throws ImgctlError token-refused: there is none; bad-answer: also for a page; not-permitted
   */
  async #anotherToken(
    response: HttpResponse,
    token: string | undefined,
    wasAccepted: boolean,
    signal: AbortSignal,
  ): Promise<string> {
    const { tokens, onEvent } = this.#options;
    const error = statusError(response);
    // Another token would not be permitted either.
    if (error.code === 'not-permitted') throw error;
    // A page may be that of a gateway, in the place of a refused token. With the basic scheme a
    // service may call a bad token a wrong password.
    const refusal = isPage(response)
      ? error
      : error.with({ code: 'token-refused', facts: tokens.factsIfRejected });
    if (token === undefined) throw refusal;
    const renewed = await untilAborted(tokens.renew(token, wasAccepted), signal);
    if (renewed === undefined) throw refusal;
    const { method, url } = response;
    onEvent?.({ kind: 'renewal', method, url });
    return renewed;
  }

  async #sendFollowingSlash(request: CompleteRequest, token?: string): Promise<HttpResponse> {
    const response = await this.#sendAgainIfTokenIsNew(request, token);
    const url = request.asReceived ? undefined : correctedSlash(response);
    return url ? this.#sendAgainIfTokenIsNew({ ...request, url }, token) : response;
  }

  async #sendAgainIfTokenIsNew(request: CompleteRequest, token?: string): Promise<HttpResponse> {
    const { tokens, sleep } = this.#options;
    const response = await this.#sendWithToken(request, token);
    const isNew = token !== undefined && tokens.isNew(token);
    if (!isNew || !isUnknownToken(response)) return response;
    await sleep(NEW_TOKEN_PAUSE, request.signal);
    return this.#sendWithToken(request, token);
  }

  async #sendWithToken(request: CompleteRequest, token?: string): Promise<HttpResponse> {
    const authorization = token === undefined ? undefined : this.#authorizationOf(token);
    let isPending = false;
    const onSent = () => {
      isPending = true;
    };
    // If another request follows, the response was a refusal without any effect.
    const onResponse = () => {
      isPending = false;
    };
    try {
      return await this.#transmit(request, authorization, { onSent }, onResponse);
    } catch (error) {
      if (!(error instanceof ImgctlError) || isSafeMethod(request.method)) throw error;
      // A proxy may say that it did not pass the request on.
      const mayHaveArrived = error instanceof TransportError ? error.sent : isPending;
      throw mayHaveArrived ? uncertainError(request, error) : error;
    }
  }

  /** Returns the header of one of the two schemes of section 5. */
  #authorizationOf(token: string): string {
    const { authScheme, onSecret } = this.#options;
    const pair = basicPair(token, '');
    for (const secret of [token, pair]) onSecret?.(secret);
    return authScheme === 'bearer' ? `Bearer ${token}` : `Basic ${pair}`;
  }

  #transmit(
    request: CompleteRequest,
    authorization: string | undefined,
    more: Pick<HttpRequest, 'onSent' | 'refusals' | 'hasOwnLimit'>,
    onResponse = () => {},
  ): Promise<HttpResponse> {
    const { timeout, userAgent } = this.#options;
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      'user-agent': userAgent,
      ...(authorization === undefined ? {} : { authorization }),
    };
    const { method, url, signal, retries = this.#options.retries, asReceived } = request;
    const httpRequest = { method, url, headers, timeout, signal, ...more };
    const send = async () => {
      const response = await this.#transport.send(httpRequest);
      onResponse();
      return asReceived ? response : withRecordStatus(response);
    };
    return sendWithRetry({ send }, httpRequest, { ...this.#options, retries }, this.#pace);
  }
}

/** A request with its whole URL, and a signal that also ends with the run. */
type CompleteRequest = ServiceRequest & { readonly url: URL; readonly signal: AbortSignal };

/** Milliseconds until all nodes of a service should know a new token. */
const NEW_TOKEN_PAUSE = 1_000;

/** Section 7: an unknown token, and nothing else. */
function isUnknownToken({ status, body }: HttpResponse): boolean {
  return status === 401 && /^invalid token$/i.test(serviceMessage(body) ?? '');
}

/** Returns the target of a redirected GET that differs only by the last slash of its path. */
function correctedSlash(response: HttpResponse): URL | undefined {
  const { method, url } = response;
  const target = method === 'GET' && isRedirect(response) ? redirectTarget(response) : undefined;
  if (target === undefined || target.href === url.href) return undefined;
  const plain = ({ origin, pathname, searchParams }: URL) =>
    `${origin}${withoutSlash(pathname)}?${searchParams}`;
  return plain(target) === plain(url) ? target : undefined;
}

function uncertainError({ method, ifUncertain }: ServiceRequest, error: ImgctlError): ImgctlError {
  const facts = advice(`the ${method} may have taken effect: check before you send it again`);
  const code = error instanceof TransportError ? 'outcome-unknown' : error.code;
  const uncertain = error.with({ code, facts });
  return ifUncertain ? ifUncertain(uncertain) : uncertain;
}
