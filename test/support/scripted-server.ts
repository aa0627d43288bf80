// A small HTTP server that answers by a script and keeps every request, for tests over real sockets.

import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificate.ts';

export interface ScriptedRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** The whole URL, with this server's origin. */
  readonly url: URL;
}

export interface ScriptedResponse {
  /** 200 where left out. */
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body as JSON. */
  readonly json?: unknown;
  /** The body as it is. */
  readonly body?: string | Uint8Array;
  /** Takes the bare connection instead of answering: write any bytes to it, or destroy it. */
  readonly raw?: (socket: Socket) => void;
}

/** Answers a request; `index` counts all requests from 0 in the order they came. */
export type Handler = (
  request: ScriptedRequest,
  index: number,
) => ScriptedResponse | Promise<ScriptedResponse>;

/**
 * Answers by `METHOD /path?query` or `METHOD /path` (any query). Of several answers each is given once, in
 * turn, the last one ever after. What the script does not know is answered with 404.
 */
export type Script = Readonly<Record<string, ScriptedResponse | readonly ScriptedResponse[]>>;

export interface ScriptedServer {
  /** Its origin, without a slash at its end. */
  readonly baseUrl: string;
  /** Every request so far, in the order they came. */
  readonly requests: readonly ScriptedRequest[];
  /** Ends at once, with every connection. */
  close(): Promise<void>;
}

/** Hangs up without an answer. */
export const DROP: ScriptedResponse = { raw: (socket) => socket.destroy() };
/** Hangs up with a TCP reset. */
export const RESET: ScriptedResponse = { raw: (socket) => socket.resetAndDestroy() };
/** Never answers, and keeps the connection. */
export const STALL: ScriptedResponse = { raw: () => {} };

/** The service's error record, section 2.6. */
export function errorResponse(status: number, message: string): ScriptedResponse {
  return { status, json: { error: 'authentication error', message, status } };
}

/** What was asked of it so far: `GET /v2/image?page=1`, in the order it came. */
export function requestsTo({ requests }: Pick<ScriptedServer, 'requests'>): string[] {
  return requests.map(({ method, target }) => `${method} ${target}`);
}

/** On a port of the system's choice, at 127.0.0.1 if not told; over TLS where it gets a key and a certificate (PEM). */
export async function startScriptedServer(
  script: Handler | Script,
  tls?: Identity,
  address = '127.0.0.1',
): Promise<ScriptedServer> {
  const handler = typeof script === 'function' ? script : follow(script);
  const requests: ScriptedRequest[] = [];
  const sockets = new Set<Socket>();
  let baseUrl = '';

  const listener: http.RequestListener = async (incoming, outgoing) => {
    const { method = '', url: target = '', headers } = incoming;
    const request = { method, target, headers, url: new URL(target, baseUrl) };
    requests.push(request);
    const answer = await handler(request, requests.length - 1);
    if (answer.raw) return answer.raw(incoming.socket);
    const isJson = 'json' in answer;
    outgoing.writeHead(answer.status ?? 200, {
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...answer.headers,
    });
    outgoing.end(isJson ? JSON.stringify(answer.json) : answer.body);
  };

  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // clients that give up are part of the tests
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  baseUrl = `${tls ? 'https' : 'http'}://${address}:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** The same for the running test, closed with it. */
export async function scriptedServer(
  ...how: Parameters<typeof startScriptedServer>
): Promise<ScriptedServer> {
  const server = await startScriptedServer(...how);
  onTestFinished(() => server.close());
  return server;
}

function follow(script: Script): Handler {
  const given = new Map<string, number>();
  return ({ method, target, url }) => {
    const key = [`${method} ${target}`, `${method} ${url.pathname}`].find((name) => name in script);
    if (key === undefined) return { status: 404, json: { message: 'Not in the script.' } };
    const answers = [script[key] ?? []].flat();
    const turn = given.get(key) ?? 0;
    given.set(key, turn + 1);
    return answers[Math.min(turn, answers.length - 1)] ?? STALL;
  };
}
