// Sends requests for plain http through a proxy by their whole URL, as curl does: proxies tunnel only to TLS ports.

import { TransportError } from './errors.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { checkProxy, proxyFailure, proxyRefusal } from './proxy-connection.ts';
import { type HttpProxy, proxyAuthorization } from './proxy-env.ts';

export interface Forwarder {
  /** Returns what the request sends to the proxy. */
  address(request: HttpRequest): Pick<HttpRequest, 'headers'> & { readonly path: string };
  /** @throws TransportError proxy: the proxy failed, or made the response itself */
  judge(response: Promise<HttpResponse>): Promise<HttpResponse>;
}

export function createForwarder(proxy: HttpProxy): Forwarder {
  let hasResponded = false;

  const blame = (error: unknown): unknown => {
    if (!(error instanceof TransportError) || !(error.cause instanceof Error)) return error;
    const isBroken = error.code === 'unreachable' || error.cause.name === 'HTTPParserError';
    // A proxy that never responded gets no retry; one that did may only have closed an idle connection.
    const details = { sent: true, transient: hasResponded && error.transient };
    return error.sent && isBroken ? proxyFailure(proxy, error.cause, details) : error;
  };

  return {
    address: ({ url, headers }) => ({
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { ...headers, ...proxyAuthorization(proxy) },
    }),
    async judge(response) {
      const own = await response.catch((error: unknown) => {
        throw blame(error);
      });
      const { url, status, headers } = own;
      if (isOwnResponse(status, headers)) {
        const target = `${url.hostname}:${url.port || 80}`;
        // With a status below 500 the proxy refused to forward the request.
        throw proxyRefusal(proxy, target, status, status >= 500);
      }
      hasResponded = true;
      return { ...own, proxy: { host: proxy.url.host, hint: checkProxy(proxy) } };
    },
  };
}

/** True if the proxy made the response, by RFC 9110 and RFC 9209 or as squid and tinyproxy mark it. */
function isOwnResponse(status: number, headers: HttpResponse['headers']): boolean {
  if (status < 400) return false;
  return (
    status === 407 ||
    'x-squid-error' in headers ||
    /;\s*error=/.test(headers['proxy-status'] ?? '') ||
    /^tinyproxy\b/.test(headers.server ?? '')
  );
}
