// Which HTTP proxy the environment names for a URL, and the credentials of that proxy.

import net from 'node:net';
import { ImgctlError, tryOr } from '../errors.ts';
import { basicPair, isLoopback, withoutBrackets } from './url.ts';

export interface HttpProxy {
  readonly url: URL;
  /** How hints name what sets it, such as `HTTPS_PROXY`. */
  readonly setting: string;
  /** How to reach the host directly, for hints. */
  readonly bypass?: string | undefined;
}

export interface Route {
  readonly proxy?: HttpProxy;
  /** Names a proxy, used or not. */
  readonly variable?: string;
  /** Why it is not used: loopback, which is always reached directly, or an entry of NO_PROXY. */
  readonly bypassReason?: string;
  /** Which variable to set for a proxy, if another one is set that is not read for this URL. */
  readonly proxyAdvice?: string | undefined;
}

/**
 * Returns the route to a URL.
 * @throws ImgctlError config: the variable is not an http or https URL
 */
export function chooseProxy(url: URL, env: Readonly<Record<string, string | undefined>>): Route {
  const lowerCase = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const variable = [lowerCase, lowerCase.toUpperCase()].find((name) => env[name]);
  const exceptions = env.no_proxy ? 'no_proxy' : 'NO_PROXY';
  const entry = matchNoProxy(url, env[exceptions] ?? '');
  const isException = isLoopback(url.hostname) || entry !== undefined;
  if (variable === undefined) return isException ? {} : { proxyAdvice: unreadProxy(url, env) };
  if (isLoopback(url.hostname)) return { variable, bypassReason: 'this machine' };
  if (entry !== undefined) return { variable, bypassReason: `${exceptions} entry ${entry}` };
  const bypass = `add ${url.hostname} to ${exceptions}`;
  return { proxy: parseProxy(env[variable] ?? '', variable, bypass), variable };
}

function unreadProxy(
  { protocol }: URL,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const wanted = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  // The wanted one is not set.
  const names = ['ALL_PROXY', 'HTTPS_PROXY', 'HTTP_PROXY'];
  const unused = names.flatMap((name) => [name, name.toLowerCase()]).find((name) => env[name]);
  if (unused === undefined) return undefined;
  return `set ${wanted} to the HTTP proxy, as ${unused} is not read for ${protocol}//`;
}

/**
 * Never shows the URL in a message: it may hold a password anywhere.
 * @throws ImgctlError config: not an http or https URL
 */
export function parseProxy(text: string, setting: string, bypass?: string): HttpProxy {
  const withScheme = text.includes('://') ? text : `http://${text}`;
  // A URL takes a \ for a /, and DOMAIN\user for a host.
  const isUrl = URL.canParse(withScheme) && !text.includes('\\');
  const url = isUrl ? new URL(withScheme) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return { url, setting, bypass };
  const orBypass = bypass === undefined ? '' : `, or ${bypass}`;
  const problem = /^socks/i.test(withScheme)
    ? 'is a SOCKS proxy, which is not supported'
    : 'is not an http or https URL';
  const escapes = text.includes('@')
    ? ' (in a user name or password, write / as %2F, # as %23 and \\ as %5C)'
    : '';
  throw new ImgctlError('config', `${setting} ${problem}`, {
    facts: `use the HTTP port of the proxy, such as http://proxy.example.com:3128${escapes}${orBypass}`,
  });
}

/** By curl's rules, with Go's ports and ranges of addresses (10.0.0.0/8). */
function matchNoProxy(url: URL, noProxy: string): string | undefined {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = plainHost(url.hostname);
  return noProxy.split(/[\s,]/).find((entry) => {
    if (entry === '*') return true;
    if (entry.includes('/')) return isWithin(host, entry);
    const [, name = '', entryPort] = net.isIPv6(entry)
      ? [entry, entry]
      : (/^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? []);
    const domain = plainHost(name);
    if (domain === '' || (entryPort !== undefined && entryPort !== port)) return false;
    return host === domain || (net.isIP(host) === 0 && host.endsWith(`.${domain}`));
  });
}

/** Removes brackets, zone and final dot; shortens an IPv6 address. */
function plainHost(text: string): string {
  const host = withoutBrackets(text)
    .replace(/(%.*|\.)$/, '')
    .toLowerCase();
  return net.isIPv6(host) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host;
}

function isWithin(host: string, range: string): boolean {
  const [, network = '', length] = /^(.*)\/(\d{1,3})$/.exec(range) ?? [];
  const family = net.isIPv4(host) ? 'ipv4' : 'ipv6';
  const list = new net.BlockList();
  // Anything but two addresses of this family throws.
  return tryOr(() => {
    list.addSubnet(plainHost(network), Number(length), family);
    return list.check(host, family);
  }, false);
}

export function proxyAuthorization({ url }: HttpProxy): Record<string, string> {
  return url.username === '' ? {} : { 'proxy-authorization': `Basic ${proxyPair(url)}` };
}

function proxyPair({ username, password }: URL): string {
  return basicPair(decodeCredential(username), decodeCredential(password));
}

/** Returns the forms of the proxy's password, or of a key in its place, that are never shown. */
export function proxySecrets({ url }: HttpProxy): string[] {
  const secret = url.password || url.username;
  return secret === '' ? [] : [secret, decodeCredential(secret), proxyPair(url)];
}

/** A `%` that starts no escape in a password is meant literally. */
export function decodeCredential(text: string): string {
  return tryOr(() => decodeURIComponent(text), text);
}
