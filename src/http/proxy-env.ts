// Chooses the proxy by the environment variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

import net from 'node:net';
import { ImgctlError } from '../errors.ts';
import { basicPair, isLoopback } from './url.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface HttpProxy {
  readonly url: URL;
  /** How hints name what sets it, such as `HTTPS_PROXY`. */
  readonly setting: string;
  /** How to reach the host directly, for hints. */
  readonly bypass?: string;
}

export interface ProxyChoice {
  readonly proxy: HttpProxy | undefined;
  /** The variable that names a proxy, used or not. */
  readonly variable: string | undefined;
  /** Why the proxy is not used: loopback, or an entry of NO_PROXY. */
  readonly bypassReason: string | undefined;
}

/**
 * Returns the proxy for a URL; loopback is always reached directly.
 * @throws ImgctlError config: the variable is not an http or https URL
 */
export function chooseProxy(url: URL, env: Environment): ProxyChoice {
  const lowerCase = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const variable = [lowerCase, lowerCase.toUpperCase()].find((name) => env[name]);
  const direct = (bypassReason?: string) => ({ proxy: undefined, variable, bypassReason });
  if (variable === undefined) return direct();
  if (isLoopback(url.hostname)) return direct('this machine');
  const exceptions = env.no_proxy ? 'no_proxy' : 'NO_PROXY';
  const entry = matchNoProxy(url, env[exceptions] ?? '');
  if (entry !== undefined) return direct(`${exceptions} entry ${entry}`);
  const bypass = `add ${url.hostname} to ${exceptions}`;
  const proxy = parseProxy(env[variable] ?? '', variable, bypass);
  return { proxy, variable, bypassReason: undefined };
}

/**
 * Never shows the URL in a message: it may hold a password anywhere.
 * @throws ImgctlError config: not an http or https URL
 */
export function parseProxy(text: string, setting: string, bypass?: string): HttpProxy {
  const orBypass = bypass === undefined ? '' : `, or ${bypass}`;
  const [, scheme = 'http'] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  if (/^socks/i.test(scheme)) {
    throw new ImgctlError('config', `${setting} is a SOCKS proxy, which is not supported`, {
      hint: `use the HTTP port of the proxy, such as http://proxy.example.com:3128${orBypass}`,
    });
  }
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') {
    return { url, setting, ...(bypass === undefined ? {} : { bypass }) };
  }
  throw new ImgctlError('config', `${setting} is not an http or https URL`, {
    hint: `use a URL such as http://proxy.example.com:3128 (write @ in a password as %40)${orBypass}`,
  });
}

/**
 * Returns the entry of NO_PROXY that matches the URL, by curl's rules plus Go's ports: a domain with its
 * subdomains or an address, each with an optional port; a range of addresses (10.0.0.0/8); or `*`.
 */
function matchNoProxy(url: URL, noProxy: string): string | undefined {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = plainHost(url.hostname);
  return noProxy.split(/[\s,]+/).find((entry) => {
    if (entry === '*') return true;
    if (entry.includes('/')) return isWithin(host, entry);
    const [, name = '', entryPort] = net.isIPv6(entry)
      ? [entry, entry]
      : (/^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? []);
    const bare = plainHost(name);
    if (bare === '' || (entryPort !== undefined && entryPort !== port)) return false;
    return host === bare || (net.isIP(host) === 0 && host.endsWith(`.${bare}`));
  });
}

/** Removes brackets, zone and final dot; shortens an IPv6 address. */
function plainHost(text: string): string {
  const host = text
    .replace(/^\[|\]$/g, '')
    .replace(/(%.*|\.)$/, '')
    .toLowerCase();
  return net.isIPv6(host) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host;
}

function isWithin(host: string, range: string): boolean {
  const [, network = '', length = ''] = /^(.*)\/(\d{1,3})$/.exec(range) ?? [];
  const address = plainHost(network);
  const version = net.isIP(address);
  if (version === 0 || version !== net.isIP(host)) return false;
  if (Number(length) > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new net.BlockList();
  list.addSubnet(address, Number(length), family);
  return list.check(host, family);
}

/** Returns the header that sends the proxy its credentials, if it has any. */
export function proxyAuthorization({ url }: HttpProxy): Record<string, string> {
  return url.username === '' ? {} : { 'proxy-authorization': `Basic ${proxyPair(url)}` };
}

function proxyPair({ username, password }: URL): string {
  return basicPair(decode(username), decode(password));
}

/** Returns the forms of the proxy's password that must never be shown. */
export function proxySecrets({ url }: HttpProxy): string[] {
  const { password } = url;
  return password === '' ? [] : [password, decode(password), proxyPair(url)];
}

/** A bare `%` in a password is not a valid escape, so it is meant literally. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
