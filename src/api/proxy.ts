// HTTP proxies: which one applies (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), and a tunnel through it.

import http from 'node:http';
import net from 'node:net';
import { ImgctlError } from '../errors.ts';
import { isLoopback } from './base-url.ts';
import { ConnectionClosed } from './connect.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a URL; this machine itself is always reached directly.
 * @throws ImgctlError config: the variable holds no http URL.
 */
export function proxyFor(url: URL, env: Environment): URL | undefined {
  const variable = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const text = env[variable] || env[variable.toUpperCase()];
  if (!text || isLoopback(url.hostname)) return undefined;
  if (bypasses(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const proxy = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (proxy?.protocol === 'http:') return proxy;
  throw new ImgctlError('config', `${variable.toUpperCase()} is not an http URL of a proxy`, {
    hint: 'give it as in http://proxy.example.com:3128, or name the host in NO_PROXY',
  });
}

/** NO_PROXY as curl reads it: host names with all below them, with or without a port, or `*`. */
function bypasses(url: URL, noProxy: string): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true;
    const [, name = '', entryPort] = net.isIPv6(entry)
      ? [entry, entry]
      : (/^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? []);
    const bare = name.replace(/^\[|\]$/g, '').toLowerCase();
    if (bare === '' || (entryPort !== undefined && entryPort !== port)) return false;
    return host === bare || host.endsWith(`.${bare}`);
  });
}

/**
 * A connection through the proxy to host:port, by CONNECT.
 * @throws ImgctlError proxy: it refused (407 and others), with its status; or the socket's own error.
 */
export function openTunnel(
  proxy: URL,
  host: string,
  port: number,
  track: (socket: net.Socket) => net.Socket,
): Promise<net.Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const headers: Record<string, string> = { host: target };
  if (proxy.username !== '') {
    const pair = `${decoded(proxy.username)}:${decoded(proxy.password)}`;
    headers['proxy-authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || 80,
      method: 'CONNECT',
      path: target,
      headers,
      agent: false,
    });
    request.once('socket', (socket) => track(socket));
    request.once('connect', (answer, socket, head) => {
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(refusal(proxy, target, status));
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new ImgctlError('proxy', `the proxy ${proxy.host} failed: ${error.code ?? error.message}`, {
          hint: 'check HTTPS_PROXY, or name the host in NO_PROXY',
          cause: error,
        }),
      );
    });
    request.once('close', () => reject(new ConnectionClosed()));
    request.end();
  });
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
  const hint =
    status === 407
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
