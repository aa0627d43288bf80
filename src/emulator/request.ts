// Turns a node:http request into the form that handlers use, and rejects requests for another host.

import type { IncomingMessage } from 'node:http';
import { HttpError } from './responses.ts';

export interface ApiRequest {
  readonly method: string;
  /** Scheme, host and port as the client addressed them. */
  readonly baseUrl: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly remoteAddress: string;
  /** Milliseconds since it arrived. */
  readonly elapsed: () => number;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Returns an address as URLs write it: IPv6 in brackets, IPv4-mapped IPv6 as IPv4. */
export function urlHost(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

export function toApiRequest(
  incoming: IncomingMessage,
  listenHost: string,
  now: () => number,
): ApiRequest {
  const started = now();
  const target = incoming.url ?? '/';
  const [path = '', ...search] = target.split('?');
  const { remoteAddress = '', localAddress = '', localPort } = incoming.socket;
  return {
    method: incoming.method ?? 'GET',
    baseUrl: `http://${checkedHost(incoming, listenHost) ?? `${urlHost(localAddress)}:${localPort}`}`,
    target,
    path,
    query: new URLSearchParams(search.join('?')),
    authorization: incoming.headers.authorization,
    remoteAddress,
    elapsed: () => now() - started,
  };
}

/**
 * Returns the Host header (HTTP/1.0 has none), or throws 421 for a host other than loopback, the listen host
 * or the connection's address. Without this check a web page could reach the service by DNS rebinding.
 */
function checkedHost(incoming: IncomingMessage, listenHost: string): string | undefined {
  const sent = incoming.headers.host;
  if (sent === undefined) return undefined;
  const name = sent.replace(/:\d+$/, '').toLowerCase();
  const own = [listenHost.toLowerCase(), incoming.socket.localAddress ?? ''].map(urlHost);
  if (LOOPBACK.test(name) || own.includes(name)) return sent;
  throw new HttpError(421, `This service does not answer for the host "${sent}".`);
}
