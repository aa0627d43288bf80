// Redirects: where they lead, and the error of one that is not followed.

import { ImgctlError } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import { shorten } from '../words.ts';
import type { Endpoint, HttpResponse } from './message.ts';
import { withoutSlash } from './url.ts';

/** True for a redirect. 304 is none: it is for conditional requests, which imgctl never sends. */
export function isRedirect({ status }: HttpResponse): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

export function redirectTarget({ headers, url }: HttpResponse): URL | undefined {
  const { location } = headers;
  return location !== undefined && URL.canParse(location, url.href)
    ? new URL(location, url)
    : undefined;
}

/** Credentials never follow a redirect. */
export function redirectError(response: HttpResponse): ImgctlError {
  const { method, status, url, endpoint } = response;
  const target = redirectTarget(response);
  const where = target
    ? ` to ${shorten(`${target.protocol}//${target.host}${target.pathname}`, 200)}`
    : '';
  const message = `${method} ${url.origin}${url.pathname} was redirected${where} (${status}); redirects are not followed`;
  const facts = factsOf(url, target, endpoint);
  return new ImgctlError('failed', message, { facts, status });
}

/**
 * Returns what to do about a redirect. The target of one from /v2 says what it may mean:
 *
 *     /v2 or /v2/ of the same origin    a rule for slashes or cookies: no other address helps
 *     /svc/v2 there, or elsewhere /v2   the service has moved
 *     another path, or none             a login page, or a portal
 */
function factsOf(url: URL, target: URL | undefined, { of }: Endpoint): Facts {
  const from = withoutSlash(url.pathname);
  const to = target && withoutSlash(target.pathname);
  if (to === from && target?.origin === url.origin) {
    return advice(
      `ask the administrators of the ${of} to accept ${url.pathname} without a redirect`,
    );
  }
  const mayHaveMoved = from === '' ? to === '' : to?.endsWith(from);
  if (mayHaveMoved) return { kind: 'moved', of };
  return { kind: 'check-address', of, more: 'a portal may have responded instead' };
}
