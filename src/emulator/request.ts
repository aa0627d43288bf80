// Turns a node:http request into what the service works with, unless it was meant for another host.

import type { IncomingMessage } from 'node:http';
import { Refusal } from './responses.ts';

/** A request as the handlers see it. */
export interface ApiRequest {
  readonly method: string;
  /** Scheme, host and port as the client addressed them. */
  readonly baseUrl: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly remoteAddress: string;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** An address as URLs write it: one of IPv6 in brackets, one of IPv4 seen through IPv6 as itself. */
export function urlHost(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

/** The request as handlers see it; `listening` is the host that the service listens on. */
export function toApiRequest(incoming: IncomingMessage, listening: string): ApiRequest {
  const target = incoming.url ?? '/';
  const [path = '', ...search] = target.split('?');
  const { remoteAddress = '', localAddress = '', localPort } = incoming.socket;
  return {
    method: incoming.method ?? 'GET',
    baseUrl: `http://${checkedHost(incoming, listening) ?? `${urlHost(localAddress)}:${localPort}`}`,
    target,
    path,
    query: new URLSearchParams(search.join('?')),
    authorization: incoming.headers.authorization,
    remoteAddress,
    started: performance.now(),
  };
}

/**
 * Host and port as the client addressed them, undefined where it did not say (HTTP/1.0). 421 unless that is
 * the loopback, the host listened on or the address the connection came in at: with a name of its own a web
 * page could otherwise reach the service through its visitor's browser (DNS rebinding).
 */
function checkedHost(incoming: IncomingMessage, listening: string): string | undefined {
  const sent = incoming.headers.host;
  if (sent === undefined) return undefined;
  const name = sent.replace(/:\d+$/, '').toLowerCase();
  const own = [listening.toLowerCase(), incoming.socket.localAddress ?? ''].map(urlHost);
  if (LOOPBACK.test(name) || own.includes(name)) return sent;
  throw new Refusal(421, `This service does not answer for the host "${sent}".`);
}
