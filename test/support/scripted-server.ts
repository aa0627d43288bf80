// The scripted server: it sends the responses of a script and records every request.

import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificate.ts';
import { start } from './sockets.ts';

export interface ScriptedRequest {
  readonly method: string;
  /** Path and query, unchanged. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** The whole URL, with this server's origin. */
  readonly url: URL;
}

export interface ScriptedResponse {
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** The body as JSON. */
  readonly json?: unknown;
  /** The raw body. */
  readonly body?: string | Uint8Array;
  /** Takes the bare connection: writes any bytes to it, or destroys it. */
  readonly raw?: (socket: Socket) => void;
}

/** Returns the response to a request; `index` counts all requests from 0. */
export type Handler = (
  request: ScriptedRequest,
  index: number,
) => ScriptedResponse | Promise<ScriptedResponse>;

/**
 * Responses by `METHOD /path?query` or `METHOD /path` (any query). Several are sent in turn, the last one
 * repeatedly. Any other request gets 404.
 */
export type Script = Readonly<Record<string, ScriptedResponse | readonly ScriptedResponse[]>>;

/** `requests` has every request so far, in order. */
export type ScriptedServer = Awaited<ReturnType<typeof startScriptedServer>>;

/** Closes the connection without a response. */
export const DROP: ScriptedResponse = { raw: (socket) => socket.destroy() };
/** Resets the connection. */
export const RESET: ScriptedResponse = { raw: (socket) => socket.resetAndDestroy() };
/** Never responds, and keeps the connection open. */
export const STALL: ScriptedResponse = { raw: () => {} };

/** The service's error record, section 2.6. */
export function errorResponse(status: number, message: string): ScriptedResponse {
  return { status, json: { error: 'authentication error', message, status } };
}

/** Every request so far, as `GET /v2/image?page=1`. */
export function requestsTo(server: {
  readonly requests: readonly Pick<ScriptedRequest, 'method' | 'target'>[];
}): string[] {
  return server.requests.map(({ method, target }) => `${method} ${target}`);
}

/** Moves the world at the first request of this kind, after it has arrived and before its response is sent. */
export function after(key: string, act: () => unknown, script: Handler | Script): Handler {
  const handler = handlerOf(script);
  let isFirst = true;
  return async (request, index) => {
    const response = await handler(request, index);
    if (!isFirst || key !== `${request.method} ${request.url.pathname}`) return response;
    isFirst = false;
    await act();
    return response;
  };
}

/** Starts the server on a free port; the caller closes it. `tls` is a key and a certificate (PEM). */
export async function startScriptedServer(
  script: Handler | Script,
  tls?: Identity,
  address?: string,
) {
  const handler = handlerOf(script);
  const requests: ScriptedRequest[] = [];
  let baseUrl = '';

  const listener: http.RequestListener = async (incoming, outgoing) => {
    const { method = '', url: target = '', headers } = incoming;
    const request = { method, target, headers, url: new URL(target, baseUrl) };
    requests.push(request);
    const response = await handler(request, requests.length - 1);
    if (response.raw) return response.raw(incoming.socket);
    const isJson = 'json' in response;
    outgoing.writeHead(response.status ?? 200, {
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...response.headers,
    });
    outgoing.end(isJson ? JSON.stringify(response.json) : response.body);
  };

  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  const started = await start(server, address);
  baseUrl = started.baseUrl;
  return { ...started, requests };
}

/** Starts the server for the running test, and closes it afterwards. */
export async function scriptedServer(
  ...options: Parameters<typeof startScriptedServer>
): Promise<ScriptedServer> {
  const server = await startScriptedServer(...options);
  onTestFinished(() => server.close());
  return server;
}

export function handlerOf(script: Handler | Script): Handler {
  if (typeof script === 'function') return script;
  const counts = new Map<string, number>();
  return ({ method, target, url }) => {
    const key = [`${method} ${target}`, `${method} ${url.pathname}`].find((name) => name in script);
    if (key === undefined) return { status: 404, json: { message: 'Not in the script.' } };
    const responses = [script[key] ?? []].flat();
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return responses[Math.min(count, responses.length - 1)] ?? STALL;
  };
}

/** The response to a token request. */
export const tokenResponse = (token: string): ScriptedResponse => ({
  json: { token, duration: 86_400, type: 'ACCESS' },
});
