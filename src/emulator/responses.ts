// Builds and sends responses: JSON bodies, the error record (section 2.6) and the headers they all carry.

import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { ErrorRecord } from '../api/types.ts';

type Headers = Readonly<Record<string, string>>;

/** A response without the headers that all responses share. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | undefined;
}

/** As section 4.1 shows them. */
const COMMON_HEADERS = {
  'Strict-Transport-Security': 'max-age=63072000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Thrown anywhere in the service to respond with the error record. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
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

/** Builds the error record. The contract names the error of 401 only; the others use HTTP's own words. */
export function errorResponse({ status, message, headers }: HttpError): ApiResponse {
  const reason = (STATUS_CODES[status] ?? 'error').toLowerCase();
  const error = status === 401 ? 'authentication error' : reason;
  return jsonResponse(status, { error, message, status } satisfies ErrorRecord, headers);
}

/** Sends status and headers, with the length of the whole body; the caller sends the body. */
export function sendHead(stream: ServerResponse, { status, headers, body }: ApiResponse): void {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  stream.writeHead(status, { ...COMMON_HEADERS, ...headers, ...length });
}

/** Sends the whole response; node:http drops the body for a HEAD request. */
export function send(stream: ServerResponse, response: ApiResponse): void {
  sendHead(stream, response);
  stream.end(response.body);
}
