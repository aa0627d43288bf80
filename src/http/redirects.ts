// Redirects: where they lead, and the error of one that is not followed.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { shorten } from '../words.ts';
import type { HttpResponse } from './message.ts';

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
  const { of } = endpoint;
  const facts: Facts = isSamePath(url, target)
    ? { kind: 'moved', of }
    : { kind: 'check-address', of, more: 'a portal may have responded instead' };
  return new ImgctlError('failed', message, { facts, status });
}

/**
 * True if the target may be the same resource elsewhere: /svc/v2 for /v2, and only / for /. Another
 * path is that of a login page, or of a portal.
 */
function isSamePath(url: URL, target: URL | undefined): boolean {
  const from = url.pathname.replace(/\/$/, '');
  const to = target?.pathname.replace(/\/$/, '');
  return from === '' ? to === '' : to?.endsWith(from) === true;
}
