// Sends requests to an HTTP storage, signed anew each time, and makes their bodies.

import type { ImgctlError } from '../errors.ts';
import {
  type HttpRequest,
  type HttpResponse,
  isSuccess,
  type RequestBody,
} from '../http/message.ts';
import { Pace } from '../http/pace.ts';
import { chooseProxy, proxySecrets } from '../http/proxy-route.ts';
import { isRedirect, redirectError } from '../http/redirects.ts';
import { sendWithRetry } from '../http/retry.ts';
import { createTransport } from '../http/transport.ts';
import type { StorageOptions } from './storage.ts';

/** Maximum size of all responses in flight, in bytes. A file is read back in pieces of half. */
const MAX_BYTES = 16 * 2 ** 20;
export const PIECE = MAX_BYTES / 2;

/** Statuses of a limit, for requests whose effect is looked up later: nginx and S3 send 503. */
export const REFUSALS = [429, 503];

export interface StorageRequest
  extends Pick<HttpRequest, 'method' | 'url' | 'body' | 'idempotent' | 'refusals' | 'asStored'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds that the request may take, even if --timeout is shorter. */
  readonly patience?: number;
  /** Returns the URL of an attempt, if each has its own. */
  readonly nextUrl?: () => URL;
}

/**
 * @param sign returns all headers of an attempt: those of the request, and the authorization
 * @param explain returns the error of a response if it is known, also of a redirect
 */
export function createRequests(
  base: URL,
  options: StorageOptions,
  sign: (request: StorageRequest) => Promise<Record<string, string>>,
  explain: (response: HttpResponse) => ImgctlError | undefined = () => undefined,
) {
  const { clock, ca, env, onEvent, onSecret, parallel, redact, retries, timeout } = options;
  const { now, elapsed, sleep, random, signal } = clock;
  const { proxy, proxyAdvice } = chooseProxy(base, env);
  if (proxy) proxySecrets(proxy).forEach(onSecret);
  const endpoint = { of: 'storage', proxyAdvice } as const;
  const limits = { maxBytes: MAX_BYTES, connections: parallel + 1 };
  const target = { origin: base.origin, endpoint, proxy, ca, timeout };
  const transport = createTransport({ ...target, ...limits, now, elapsed, onEvent });
  const own = { 'user-agent': options.userAgent, 'accept-encoding': 'identity' };
  const pace = new Pace({ elapsed, sleep, random, slowsDown: false });
  return {
    /** Returns any response but a redirect. @throws ImgctlError */
    async send(request: StorageRequest): Promise<HttpResponse> {
      const { url, nextUrl = () => url, patience = 0 } = request;
      const unsigned = { ...request, headers: {}, timeout: Math.max(timeout, patience), signal };
      // Each attempt is signed anew, since a signature is valid for some minutes only.
      const attempt = async () => {
        const headers = { ...own, ...(await sign(request)) };
        return transport.send({ ...unsigned, headers, url: nextUrl() });
      };
      const retrying = { retries, sleep, random, onEvent };
      const received = await sendWithRetry({ send: attempt }, unsigned, retrying, pace);
      const response = isSuccess(received) ? received : withoutSecrets(received, redact);
      const known = explain(response);
      if (known) throw known;
      if (isRedirect(response)) throw redirectError(response);
      return response;
    },
    close: transport.close,
  };
}

/** Of a larger error only this much is read, in bytes. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Masks secrets before tags are removed from a page: a secret may have what looks like a tag. */
function withoutSecrets(response: HttpResponse, redact: StorageOptions['redact']): HttpResponse {
  const { body } = response;
  const isCut = body.length > MAX_ERROR_BYTES;
  const text = `${body.subarray(0, MAX_ERROR_BYTES)}${isCut ? '…' : ''}`;
  return { ...response, body: Buffer.from(redact(text)) };
}

export function textBody(text: string): RequestBody {
  const bytes = Buffer.from(text);
  return streamBody(bytes.length, async function* () {
    yield bytes;
  });
}

/** @param onBytes receives the bytes that are under way, from 0 each time that the body is sent */
export function streamBody(
  length: number,
  read: () => AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void = () => {},
): RequestBody {
  return {
    length,
    async *chunks() {
      let position = 0;
      onBytes(position);
      for await (const chunk of read()) {
        yield chunk;
        position += chunk.length;
        onBytes(position);
      }
    },
  };
}
