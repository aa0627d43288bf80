// The base URL: what it may be, and the URLs below it.

import { ImgctlError } from '../errors.ts';

/**
 * The base URL in its normal form, without a slash at its end.
 * @throws ImgctlError config: no http(s) URL, one with credentials, query or fragment,
 *   or plain http to a host that is not this machine (unless allowHttp; `allowing` is how that can be had)
 */
export function parseBaseUrl(
  text: string,
  allowHttp: boolean,
  allowing = 'imgctl config set allow-http true',
): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ImgctlError(
      'config',
      `base URL is not an http or https URL: ${afterUserInfo(text)}`,
      {
        hint: 'give it as in https://images.example.com',
      },
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ImgctlError('config', 'base URL must not hold a user name or password', {
      hint: 'leave them out of the URL and run: imgctl login',
    });
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ImgctlError('config', 'base URL must not hold a query or fragment', {
      hint: `use ${url.origin}${url.pathname}`,
    });
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new ImgctlError(
      'config',
      `plain http would send credentials unprotected to ${url.host}`,
      {
        hint: `use https://${url.host}, or accept it with: ${allowing}`,
      },
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** Whether the host name (as a URL holds it) is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** The base URL as text, as messages and caches hold it. */
export function baseUrlText(baseUrl: URL): string {
  return `${baseUrl.origin}${baseUrl.pathname === '/' ? '' : baseUrl.pathname}`;
}

/**
 * A URL of the service: a path below the base URL's own path prefix, or an absolute URL of its origin.
 * @throws ImgctlError usage: another origin, which must never see the token.
 */
export function resolveUrl(baseUrl: URL, pathOrUrl: string): URL {
  if (/^[a-z][a-z0-9+.-]*:/i.test(pathOrUrl) || pathOrUrl.startsWith('//')) {
    const url = URL.canParse(pathOrUrl) ? new URL(pathOrUrl) : undefined;
    if (url && url.origin === baseUrl.origin && url.username === '' && url.password === '')
      return url;
    throw new ImgctlError('usage', `not a URL of ${baseUrl.origin}: ${afterUserInfo(pathOrUrl)}`, {
      hint: 'credentials go to the base URL alone; give a path such as /v2/image',
    });
  }
  const url = new URL(baseUrl);
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(pathOrUrl) ?? [];
  const prefix = url.pathname.replace(/\/+$/, '');
  url.pathname = `${prefix}/${path.replace(/^\//, '')}`;
  url.search = query;
  if (!url.pathname.startsWith(`${prefix}/`)) {
    throw new ImgctlError('usage', `the path leaves the base URL: ${path}`, {
      hint: `give a path below ${baseUrlText(baseUrl)}, such as /v2/image`,
    });
  }
  return url;
}

/** Text that is no proper URL may hold a password in any place before an `@`. */
export function afterUserInfo(text: string): string {
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `…${text.slice(at)}`;
}
