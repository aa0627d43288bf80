// HTTP proxies: which one applies (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), and a tunnel through it.

import http from 'node:http';
import net from 'node:net';
import { ImgctlError } from '../errors.ts';
import type { Attempt } from './attempt.ts';
import { isLoopback } from './base-url.ts';
import { ConnectionClosed, hostAndPort, trust } from './connect.ts';
import { basicPair } from './credentials.ts';
import { reasonOf } from './network-errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Which proxy stands before a URL, and why. */
export interface ProxyChoice {
  readonly proxy: URL | undefined;
  /** The variable that names one, whether it is used or not. */
  readonly variable: string | undefined;
  /** Why it is passed by: this machine itself, or the entry of NO_PROXY. */
  readonly sparedBy: string | undefined;
}

/**
 * The proxy that the environment names for a URL; this machine itself is always reached directly.
 * @throws ImgctlError config: the variable holds no http or https URL.
 */
export function chooseProxy(url: URL, env: Environment): ProxyChoice {
  const lowerCase = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const variable = [lowerCase, lowerCase.toUpperCase()].find((name) => env[name]);
  const spared = (sparedBy?: string) => ({ proxy: undefined, variable, sparedBy });
  if (variable === undefined) return spared();
  if (isLoopback(url.hostname)) return spared('this machine');
  const entry = sparingEntry(url, env.no_proxy || env.NO_PROXY || '');
  if (entry !== undefined) return spared(`NO_PROXY entry ${entry}`);
  return { proxy: parseProxy(env[variable] ?? '', variable), variable, sparedBy: undefined };
}

/** The URL never shows in a message: it may hold a password in any place. */
function parseProxy(text: string, variable: string): URL {
  const [, scheme = 'http'] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  if (/^socks/i.test(scheme)) {
    throw new ImgctlError(
      'config',
      `${variable} names a SOCKS proxy, which imgctl does not speak`,
      {
        hint: 'give the HTTP port of the proxy, as in http://proxy.example.com:3128, or name the host in NO_PROXY',
      },
    );
  }
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const proxy = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (proxy?.protocol === 'http:' || proxy?.protocol === 'https:') return proxy;
  throw new ImgctlError('config', `${variable} is not an http or https URL of a proxy`, {
    hint: 'give it as in http://proxy.example.com:3128 (in its password %40 for @ and so on), or name the host in NO_PROXY',
  });
}

/**
 * The entry of NO_PROXY that spares the URL, by curl's rules and the ports of Go's: a host name with all
 * below it or an address, with or without a port; a range of addresses (10.0.0.0/8); or `*`.
 */
function sparingEntry(url: URL, noProxy: string): string | undefined {
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

/** Without brackets, zone and the final dot of a complete name; an IPv6 address in its one shortest form. */
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

export interface TunnelOptions {
  readonly attempt: Attempt;
  readonly track: (socket: net.Socket) => net.Socket;
  /** Extra trusted certificates, PEM, for a proxy that is spoken to over TLS. */
  readonly ca: string | undefined;
}

/**
 * A connection through the proxy to host:port, by CONNECT.
 * @throws ImgctlError proxy: it refused (407 and others), with its status; or the socket's own error.
 */
export async function openTunnel(
  proxy: URL,
  host: string,
  port: number,
  { attempt, track, ca }: TunnelOptions,
): Promise<net.Socket> {
  const target = hostAndPort(host, port);
  const headers: Record<string, string> = { host: target };
  if (proxy.username !== '') headers['proxy-authorization'] = `Basic ${pairOf(proxy)}`;
  const secure = proxy.protocol === 'https:';
  const proxyHost = proxy.hostname.replace(/^\[|\]$/g, '');
  const { request: send } = secure ? await import('node:https') : http;
  const trusted = secure ? trust(await import('node:tls'), ca) : {};
  return new Promise((resolve, reject) => {
    const request = send({
      host: proxyHost,
      port: proxy.port || (secure ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers,
      agent: false,
      // Else Node would check the certificate of the proxy for the name in the Host header.
      servername: net.isIP(proxyHost) ? '' : proxyHost,
      ...trusted,
    });
    request.once('socket', (socket) => {
      attempt.follow(track(socket), proxyHost);
      const connected = () => {
        attempt.stage = 'tunnel';
      };
      if (!secure) socket.once('connect', connected);
      else {
        socket.once('secureConnect', connected).once('connect', () => {
          attempt.stage = 'proxy-tls';
        });
      }
    });
    request.once('connect', (answer, socket, head) => {
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(refusal(proxy, target, status));
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new ImgctlError('proxy', `the proxy ${proxy.host} failed: ${reasonOf(error)}`, {
          hint: 'check HTTPS_PROXY, or name the host in NO_PROXY',
          cause: error,
        }),
      );
    });
    request.once('close', () => reject(new ConnectionClosed()));
    request.end();
  });
}

function pairOf({ username, password }: URL): string {
  return basicPair(decoded(username), decoded(password));
}

/** What must not show of a proxy's credentials: its password as it stands in the URL and as it is, and the pair. */
export function proxySecrets(proxy: URL): string[] {
  const { password } = proxy;
  return password === '' ? [] : [password, decoded(password), pairOf(proxy)];
}

/** A password with a bare `%` is no valid escape, but surely meant as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refusal(proxy: URL, target: string, status: number): ImgctlError {
  // tinyproxy says 401 to wrong credentials, 407 only where there are none.
  const hint =
    status === 407 || status === 401
      ? 'put its user name and password into the proxy variable: http://user:password@host:port'
      : 'check HTTPS_PROXY, or name the host in NO_PROXY';
  return new ImgctlError(
    'proxy',
    `the proxy ${proxy.host} refused to connect to ${target}: ${status}`,
    {
      hint,
      status,
    },
  );
}
