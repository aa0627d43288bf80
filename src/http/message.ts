// An HTTP request to an origin and its response, and how messages name that origin.

import type { AddressOf } from '../facts.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds for the whole response. Each chunk of a body that is sent restarts the time. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly body?: RequestBody | undefined;
  /** True if repeating it does no harm, for methods that are not safe (RFC 9110, section 9.2.2). */
  readonly idempotent?: boolean | undefined;
  /** The statuses of a refusal without effect, if the request is not idempotent; default 429. */
  readonly refusals?: readonly number[] | undefined;
  /** True if a limit of its own counts it, so that its 429 slows no other request down. */
  readonly hasOwnLimit?: boolean | undefined;
  /** True for a stored file: the coding of the response is what the file has, and stays. */
  readonly asStored?: boolean | undefined;
  /** Called when it is sent: from then on it may have an effect. */
  readonly onSent?: (() => void) | undefined;
}

export interface RequestBody {
  /** Bytes. */
  readonly length: number;
  /** Returns the bytes from the beginning, for each time that the request is sent. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface HttpResponse {
  readonly method: string;
  readonly url: URL;
  readonly status: number;
  /** Names in lower case; repeated headers joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Bytes of the body before decoding. */
  readonly wireBytes: number;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** The proxy that forwarded the request, and may have made an error page. */
  readonly proxy?: { readonly host: string; readonly check: string };
  /** True if the server refused every request for a minute because it limits them. */
  readonly isLimited?: boolean;
  /** True if the server had sent a success before in this run. */
  readonly hasSucceeded?: boolean;
  readonly endpoint: Endpoint;
}

/** Whose origin it is, for messages. */
export interface Endpoint {
  readonly of: AddressOf;
  /** Which variable to set for a proxy, if it cannot be reached. */
  readonly proxyAdvice?: string | undefined;
}

/** One step of a request, for a trace; holds no secret. */
export type HttpEvent =
  | { kind: 'response'; response: HttpResponse; milliseconds: number }
  | { kind: 'error'; method: string; url: URL; milliseconds: number; error: Error }
  /** Sent each 30 s while there is no whole response. */
  | { kind: 'waiting'; method: string; url: URL; milliseconds: number }
  /** `refusedFor`: milliseconds since the first refusal after the last success. */
  | { kind: 'limit'; method: string; url: URL; asked: number; refusedFor: number }
  | {
      kind: 'retry';
      method: string;
      url: URL;
      count: number;
      wait: number;
      asked: number;
      /** What a server did that may be restarting, such as `returned 502`. */
      outage?: string | undefined;
    };

export function isSuccess({ status }: Pick<HttpResponse, 'status'>): boolean {
  return status >= 200 && status <= 299;
}
