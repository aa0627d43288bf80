// Converts requests to the form that handlers use, and builds and sends responses.

import { createReadStream } from 'node:fs';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIPv4 } from 'node:net';
import { pipeline } from 'node:stream';
import { tryOr } from '../errors.ts';

export interface ApiRequest {
  readonly method: string;
  /** As the client addressed it. */
  readonly baseUrl: string;
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly remoteAddress: string;
  readonly elapsed: () => number;
}

/** Returns an address as URLs write it: IPv6 in brackets, IPv4-mapped IPv6 as IPv4. */
export function urlHost(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

/** @throws HttpError 400: the path is not properly encoded; 421: the host is not of this service */
export function toApiRequest(
  { method = 'GET', url: target = '/', headers, socket }: IncomingMessage,
  listenHost: string,
  now: () => number,
): ApiRequest {
  const started = now();
  const [path = '', ...search] = target.split('?');
  // The bundler leaves out a call whose result is unused, even if it may throw.
  if (tryOr(() => decodeURIComponent(path), undefined) === undefined) {
    throw new HttpError(400, 'The path is not properly encoded.');
  }
  const { remoteAddress = '', localAddress = '', localPort } = socket;
  const { authorization, host = `${urlHost(localAddress)}:${localPort}` } = headers;
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const own = ['localhost', '[::1]', urlHost(listenHost.toLowerCase()), urlHost(localAddress)];
  // Without this check a web page could reach the service by DNS rebinding.
  if (!own.includes(name) && !(isIPv4(name) && name.startsWith('127.'))) {
    throw new HttpError(421, `This service does not answer for the host "${host}".`);
  }
  return {
    method,
    baseUrl: `http://${host}`,
    target,
    path,
    query: new URLSearchParams(search.join('?')),
    authorization,
    remoteAddress,
    elapsed: () => now() - started,
  };
}

type Headers = Readonly<Record<string, string>>;

/** A response without the headers that all responses share. */
export interface ApiResponse {
  readonly status: number;
  readonly headers?: Headers;
  readonly body?: string;
  /** Sent instead of the body, from byte `start` to `end`; its length is one of the headers. */
  readonly file?: { readonly path: string; readonly start: number; readonly end: number };
}

/** As section 4.1 shows them. */
const COMMON_HEADERS = {
  'Strict-Transport-Security': 'max-age=63072000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Thrown anywhere in the service to respond with the error record. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, message: string, headers: Headers = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export function jsonResponse(status: number, body: unknown, headers: Headers = {}): ApiResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** Builds the error record. Section 7 only has 401; the others use HTTP's own words. */
export function errorResponse({ status, message, headers }: HttpError): ApiResponse {
  const reason = (STATUS_CODES[status] ?? 'error').toLowerCase();
  const error = status === 401 ? 'authentication error' : reason;
  return jsonResponse(status, { error, message, status }, headers);
}

/** Sends the whole response; node:http drops the body for a HEAD request. */
export function sendResponse(stream: ServerResponse, { status, headers, body, file }: ApiResponse) {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  stream.writeHead(status, { ...COMMON_HEADERS, ...headers, ...length });
  if (file === undefined || stream.req.method === 'HEAD') stream.end(body);
  // The client may leave, or the file shrink, in the meantime.
  else pipeline(createReadStream(file.path, file), stream, () => undefined);
}
