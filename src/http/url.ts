// Rules for base URLs: which are allowed, and which URLs may receive their credentials.

import { ImgctlError } from '../errors.ts';

/** @throws ImgctlError config: not http(s), or with credentials, query or fragment */
export function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ImgctlError('config', `base URL is not an http or https URL: ${maskUrl(text)}`, {
      facts: `use ${withScheme(text) ?? 'a URL such as https://images.example.com'}`,
    });
  }
  if (url.username !== '' || url.password !== '') {
    const message = 'base URL must not contain a user name or password';
    throw new ImgctlError('config', message, { facts: { kind: 'credentials-in-url' } });
  }
  if (url.search !== '' || url.hash !== '') {
    const message = 'base URL must not contain a query or fragment';
    throw new ImgctlError('config', message, { facts: `use ${url.origin}${url.pathname}` });
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/**
 * @param prefix of the scheme in settings
 * @throws ImgctlError config: plain http beyond loopback
 */
export function refusePlainHttp({ protocol, host, hostname }: URL, prefix = ''): void {
  if (protocol !== 'http:' || isLoopback(hostname)) return;
  throw new ImgctlError('config', `plain http would expose credentials sent to ${host}`, {
    facts: { kind: 'plain-http', secure: `${prefix}https://${host}` },
  });
}

/** Returns the URL of a host, perhaps with a port and a path; undefined for any other text. */
export function withScheme(text: string): string | undefined {
  const [, host] = /^(\[::1\]|[\w-]+(?:\.[\w-]+)*)(:\d+)?(\/[\w./-]*)?$/.exec(text) ?? [];
  if (host === undefined) return undefined;
  return `${isLoopback(host) ? 'http' : 'https'}://${text}`;
}

/** True if the host name, as a URL holds it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|\[?::1\]?|127(?:\.\d{1,3}){3})$/.test(hostname);
}

/** Returns the address in the host name of a URL, which has brackets around IPv6. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Removes one slash at the end of a path or URL. */
export function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

/** Formats a base URL for messages and cache keys, without a trailing slash. */
export function baseUrlText(baseUrl: URL): string {
  return `${baseUrl.origin}${baseUrl.pathname === '/' ? '' : baseUrl.pathname}`;
}

/**
 * Returns the URL of a path below the base URL. A whole URL stays as it is: it may be anywhere on
 * the same origin.
 * @throws ImgctlError usage: another origin, which must never see the credentials
 */
export function resolveUrl(baseUrl: URL, pathOrUrl: string): URL {
  if (/^[a-z][a-z0-9+.-]*:/i.test(pathOrUrl) || pathOrUrl.startsWith('//')) {
    const url = URL.canParse(pathOrUrl) ? new URL(pathOrUrl) : undefined;
    if (url && url.origin === baseUrl.origin && url.username === '' && url.password === '')
      return url;
    throw new ImgctlError('usage', `not a URL of ${baseUrl.origin}: ${maskUrl(pathOrUrl)}`, {
      facts: `use a path below ${baseUrlText(baseUrl)}: credentials go only to its origin`,
    });
  }
  const url = new URL(baseUrl);
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(pathOrUrl) ?? [];
  const prefix = url.pathname.replace(/\/+$/, '');
  url.pathname = `${prefix}/${path.replace(/^\//, '')}`;
  url.search = query;
  if (!url.pathname.startsWith(`${prefix}/`)) {
    const facts = `use a path below ${baseUrlText(baseUrl)}`;
    throw new ImgctlError('usage', `the path leaves the base URL: ${path}`, { facts });
  }
  return url;
}

/**
 * Removes what may be a secret: all before an `@`, as in a text that is no URL a password may be
 * anywhere there, and the query and the fragment.
 */
export function maskUrl(text: string): string {
  return text.replace(/^.*@/s, '…@').replace(/([?#]).*/s, '$1…');
}

/** Encodes credentials for Basic authentication (RFC 7617). */
export function basicPair(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}
