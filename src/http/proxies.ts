// What is sent to an HTTP proxy, and the errors that it makes.

import { isTransient, reasonOf, TransportError } from './errors.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { decodeCredential, type HttpProxy, proxyAuthorization } from './proxy-route.ts';

export interface RequestHead extends Pick<HttpRequest, 'headers'> {
  readonly path: string;
}

/**
 * Sends requests for plain http by their whole URL, as curl does: proxies tunnel only to TLS ports.
 */
export class Forwarder {
  readonly #proxy: HttpProxy;

  constructor(proxy: HttpProxy) {
    this.#proxy = proxy;
  }

  head({ url, headers }: HttpRequest): RequestHead {
    return {
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { ...headers, ...proxyAuthorization(this.#proxy) },
    };
  }

  /** @throws TransportError proxy: the proxy made the response itself */
  refuseOwnResponse(response: HttpResponse): HttpResponse {
    const { url, status, headers } = response;
    // By RFC 9110 and RFC 9209, or as squid and tinyproxy mark their own responses.
    const isOfProxy =
      status === 407 ||
      'x-squid-error' in headers ||
      /;\s*error=/.test(headers['proxy-status'] ?? '') ||
      (headers.server ?? '').startsWith('tinyproxy');
    if (status >= 400 && isOfProxy) {
      const target = `${url.hostname}:${url.port || 80}`;
      // With a status below 500 the proxy refused to forward the request.
      throw proxyRefusal(this.#proxy, target, { status, headers }, { sent: status >= 500 });
    }
    const { host } = this.#proxy.url;
    return { ...response, proxy: { host, check: checkProxy(this.#proxy) } };
  }

  explain(error: Error): Error {
    if (!(error instanceof TransportError) || !(error.cause instanceof Error)) return error;
    const isBroken = error.code === 'unreachable' || error.cause.name === 'HTTPParserError';
    if (!error.sent || !isBroken) return error;
    return proxyFailure(this.#proxy, error.cause, { sent: true });
  }
}

export function proxyFailure(
  proxy: HttpProxy,
  cause: NodeJS.ErrnoException,
  { sent }: Pick<TransportError, 'sent'>,
): TransportError {
  const message = `the proxy ${proxy.url.host} failed: ${reasonOf(cause)}`;
  const transient = isTransient(cause);
  return new TransportError('proxy', message, { sent, transient, facts: checkProxy(proxy), cause });
}

/** The proxy responded itself, with an error status or with bytes that are not of the target. */
export function proxyRefusal(
  proxy: HttpProxy,
  target: string,
  { status, headers }: ProxyResponse,
  { sent }: Pick<TransportError, 'sent'>,
) {
  const general = `the proxy ${proxy.url.host} ${deedOf(status)} ${target}: ${status}`;
  // tinyproxy responds with 401 to wrong credentials, and 407 only if there are none.
  const isLogin = status === 407 || status === 401;
  const { message = general, facts } = isLogin
    ? loginProblem(proxy, { status, headers })
    : { facts: checkProxy(proxy) };
  // The service behind it may be restarting.
  const transient = status >= 502 && status <= 504;
  return new TransportError('proxy', message, { facts, status, sent, transient });
}

/** What the proxy did, before the name of the target. */
function deedOf(status: number): string {
  if (status < 300) return 'sent data instead of a connection to';
  return status < 500 ? 'refused to connect to' : 'got no response from';
}

interface ProxyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * Returns what to do about a proxy that wants other credentials; without a message, it got none.
 */
function loginProblem(
  { url: { host, username }, setting }: HttpProxy,
  { status, headers }: ProxyResponse,
): { readonly message?: string; readonly facts: string } {
  const wanted = `${headers['proxy-authenticate'] ?? ''}`;
  const schemes = wanted.match(/\b(?:Negotiate|NTLM|Digest|Bearer)\b/gi) ?? [];
  if (schemes.length > 0 && !/\bBasic\b/i.test(wanted)) {
    return {
      message: `the proxy ${host} requires ${[...new Set(schemes)].join(' or ')} (${status}); imgctl can only send Basic`,
      facts: `set ${setting} to a proxy that accepts Basic, such as a local cntlm`,
    };
  }
  if (username === '') {
    return { facts: `add user name and password to ${setting}: http://user:password@host:port` };
  }
  return {
    message: `the proxy ${host} refused the user ${decodeCredential(username)}: ${status}`,
    facts: `check user name and password in ${setting} (write @ as %40)`,
  };
}

function checkProxy({ setting, bypass }: HttpProxy): string {
  return `check ${setting}${bypass === undefined ? '' : `, or ${bypass}`}`;
}
