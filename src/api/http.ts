// The one HTTP function: one origin, the token, renewal once on a 401, retries of what is safe to repeat.

import { ImgctlError } from '../errors.ts';
import { type Received, rateLimited, statusError } from './answers.ts';
import { resolveUrl } from './base-url.ts';
import { authorizationOf, basic, basicPair, tokenSecrets } from './credentials.ts';
import { NoAnswer } from './network-errors.ts';
import { backoff, isPassing, isRepeatable, LONGEST_WAIT, requestedWait } from './retry.ts';
import { createTransport, type Exchange, type Transport } from './transport.ts';

/** The largest answer that is read as a rule, decoded. */
export const MAX_BYTES = 64 * 2 ** 20;

/** Where access tokens come from; the disk, the lock and the password are behind it. */
export interface TokenSource {
  /** A token that looks valid. @throws ImgctlError not-logged-in, or why none can be had */
  current(): Promise<string>;
  /**
   * Another token in place of one that the service refused; undefined where there is no way to one.
   * Called by several requests at once, with the same refused token. `accepted` tells whether the
   * service had taken that token before.
   */
  renew(refused: string, accepted: boolean): Promise<string | undefined>;
  /** What to do about a token that was refused for good. */
  readonly remedy: string;
}

/** What happened on the wire, for --debug; holds no secret. */
export type HttpEvent =
  | { kind: 'answer'; received: Received; milliseconds: number }
  | { kind: 'no-answer'; method: string; url: URL; milliseconds: number; error: Error }
  | { kind: 'retry'; method: string; url: URL; attempt: number; wait: number }
  | { kind: 'renewal'; method: string; url: URL };

export interface HttpOptions {
  readonly baseUrl: URL;
  readonly userAgent: string;
  readonly tokens: TokenSource;
  readonly authScheme: 'bearer' | 'basic';
  /** Milliseconds for each try of a request, to the last byte. */
  readonly timeout: number;
  /** Further tries of what is safe to repeat. */
  readonly retries: number;
  readonly connections: number;
  readonly maxBytes: number;
  readonly ca?: string | undefined;
  readonly proxy?: URL | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onEvent?: ((event: HttpEvent) => void) | undefined;
  /** Hears passwords, tokens and their Basic pairs before they are sent: whatever answers may repeat them. */
  readonly onSecret?: ((secret: string) => void) | undefined;
}

export interface Request {
  readonly method: string;
  /** Below the base URL, with its query; or an absolute URL of the base URL's origin. */
  readonly path: string;
  /** Basic credentials instead of the token: for the token request alone. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Gives this request up, besides the client's own signal. */
  readonly signal?: AbortSignal;
}

export interface Http {
  readonly baseUrl: URL;
  /**
   * Sends the request and gives the answer of any status but 401 with a token and 429.
   * GET, HEAD and OPTIONS are repeated after a passing failure; everything else is sent once, unless
   * it surely had no effect.
   * @throws ImgctlError unreachable, tls, timeout, proxy, token-refused, not-permitted, rate-limited,
   *   outcome-unknown (what is not safe to repeat was sent, and no usable answer came),
   *   bad-answer (too large, or not to be decoded)
   */
  send(request: Request): Promise<Received>;
  close(): Promise<void>;
}

export function createHttp(options: HttpOptions): Http {
  const transport = createTransport({
    origin: options.baseUrl.origin,
    connections: options.connections,
    maxBytes: options.maxBytes,
    ca: options.ca,
    proxy: options.proxy,
  });

  const signalOf = (signal: AbortSignal | undefined) =>
    signal ? AbortSignal.any([signal, options.signal]) : options.signal;

  const attempt = ({ method, signal }: Request, url: URL, authorization: string) => {
    const headers = requestHeaders(options.userAgent, authorization);
    const { timeout } = options;
    return tryOnce(transport, { method, url, headers, timeout, signal: signalOf(signal) }, options);
  };

  /** The tries of one request with one token. */
  const persist = async (request: Request, url: URL, authorization: string): Promise<Received> => {
    const safe = isRepeatable(request.method);
    for (let tries = 0; ; tries += 1) {
      const last = tries >= options.retries;
      let wait = backoff(tries, options.random());
      try {
        const received = await attempt(request, url, authorization);
        if (!isPassing(received.status) || !safe) return received;
        const { headers, status, receivedAt } = received;
        const asked = requestedWait(headers, status, receivedAt) ?? 0;
        if (last || asked > LONGEST_WAIT) return received;
        wait = Math.max(wait, asked);
      } catch (thrown) {
        if (!(thrown instanceof NoAnswer)) throw thrown;
        if (thrown.sent && !safe) {
          throw request.credentials ? thrown : outcomeUnknown(request, url, thrown);
        }
        if (last || !thrown.transient) throw thrown;
      }
      options.onEvent?.({ kind: 'retry', method: request.method, url, attempt: tries + 1, wait });
      await options.sleep(wait, signalOf(request.signal));
    }
  };

  const accepted = new Set<string>();

  const send = async (request: Request): Promise<Received> => {
    const url = resolveUrl(options.baseUrl, request.path);
    if (request.credentials) {
      const { username, password } = request.credentials;
      for (const secret of [password, basicPair(username, password)]) options.onSecret?.(secret);
      return persist(request, url, basic(username, password));
    }
    const authorize = (token: string) => {
      for (const secret of tokenSecrets(token)) options.onSecret?.(secret);
      return authorizationOf(options.authScheme, token);
    };
    let token = await options.tokens.current();
    let received = await persist(request, url, authorize(token));
    if (received.status === 401) {
      const refusal = tokenRefusal(received);
      const renewed = await options.tokens.renew(token, accepted.has(token));
      if (renewed === undefined) throw refusal;
      options.onEvent?.({ kind: 'renewal', method: request.method, url });
      token = renewed;
      received = await persist(request, url, authorize(token));
      if (received.status === 401) throw tokenRefusal(received);
    }
    accepted.add(token);
    if (received.status === 429) throw rateLimited(received);
    return received;
  };

  /**
   * Any other reason is about the token, which as a Basic user name may well be called a wrong password.
   * @throws not-permitted: another token would be refused too
   */
  const tokenRefusal = (received: Received): ImgctlError => {
    const { code, message, status } = statusError(received);
    if (code === 'not-permitted') throw statusError(received);
    return new ImgctlError('token-refused', message, { status, hint: options.tokens.remedy });
  };

  return { baseUrl: options.baseUrl, send, close: () => transport.close() };
}

/** One exchange, which is told of as it ends. @throws what Transport.exchange throws */
export async function tryOnce(
  transport: Transport,
  exchange: Exchange,
  { now, onEvent }: Pick<HttpOptions, 'now' | 'onEvent'>,
): Promise<Received> {
  const { method, url } = exchange;
  const started = now();
  try {
    const answer = await transport.exchange(exchange);
    const received = { ...answer, method, url, receivedAt: now() };
    onEvent?.({ kind: 'answer', received, milliseconds: now() - started });
    return received;
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    onEvent?.({ kind: 'no-answer', method, url, milliseconds: now() - started, error });
    throw error;
  }
}

/** The headers of every request. */
export function requestHeaders(
  userAgent: string,
  authorization: string | undefined,
): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip, br',
    'user-agent': userAgent,
    ...(authorization === undefined ? {} : { authorization }),
  };
}

function outcomeUnknown(request: Request, url: URL, cause: NoAnswer): ImgctlError {
  return new ImgctlError(
    'outcome-unknown',
    `${request.method} ${url.origin}${url.pathname} was sent, but no usable answer came: ${cause.message}`,
    { hint: 'it may have had its effect; check before you send it again', cause },
  );
}
