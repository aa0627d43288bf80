// What the service answers: JSON bodies, the error record (section 2.6) and the headers that all answers carry.

import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { ErrorRecord } from '../api/types.ts';

/** An answer, complete but for the headers that every answer carries. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is sent; undefined for none. */
  readonly body: string | undefined;
}

/** Header values as section 4.1 shows them; sent with every answer, as services do. */
const COMMON_HEADERS = {
  'Strict-Transport-Security': 'max-age=63072000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Thrown by any part of the service to answer with the error record. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** A JSON answer. */
export function jsonAnswer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}

/** The error record as an answer. The contract has the class of 401 only; the others are HTTP's own words. */
export function errorAnswer({ status, message, headers }: Refusal): Answer {
  const words = (STATUS_CODES[status] ?? 'error').toLowerCase();
  const error = status === 401 ? 'authentication error' : words;
  return jsonAnswer(status, { error, message, status } satisfies ErrorRecord, headers);
}

/** Sends status and headers; the length is that of the whole body, which the caller sends. */
export function sendHead(response: ServerResponse, answer: Answer): void {
  const { status, headers, body } = answer;
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...COMMON_HEADERS, ...headers, ...length });
}

/** Sends the whole answer; for a HEAD request node:http leaves the body out. */
export function send(response: ServerResponse, answer: Answer): void {
  sendHead(response, answer);
  response.end(answer.body);
}
