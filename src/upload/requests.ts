// Sends requests to an HTTP storage, and says what its refusals mean.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';
import { chooseProxy, proxySecrets } from '../http/proxies.ts';
import { sendWithRetry } from '../http/retry.ts';
import { createTransport } from '../http/transport.ts';
import { type StorageOptions, storageFull } from './storage.ts';

/** Maximum size of all responses in flight, in bytes. */
const MAX_BYTES = 64 * 2 ** 20;

/** How hints name the storage. */
const ENDPOINT = {
  name: 'the upload URL',
  show: 'imgctl config get upload-url',
  trust: 'imgctl config set upload-ca-file /path/to/ca.pem',
  reduce: 'use an upload URL with fewer files',
};

export interface StorageRequest
  extends Pick<HttpRequest, 'method' | 'url' | 'body' | 'repeatable'> {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Requests {
  /** Returns the response of any status but a redirect. @throws ImgctlError */
  send(request: StorageRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** @param authorize returns all headers of a request, with its credentials */
export function createRequests(
  base: URL,
  options: StorageOptions,
  authorize: (request: StorageRequest) => Promise<Record<string, string>>,
): Requests {
  const { clock, ca, env, onSecret, onEvent, retries, timeout, userAgent, parallel } = options;
  const { now, signal, sleep, random } = clock;
  const { proxy } = chooseProxy(base, env);
  if (proxy) proxySecrets(proxy).forEach(onSecret);
  const { origin } = base;
  const connections = parallel + 1;
  const endpoint = ENDPOINT;
  const transport = createTransport({
    ...{ origin, endpoint, connections, now, onEvent, ca, proxy },
    maxBytes: MAX_BYTES,
  });
  return {
    async send(request) {
      const headers = { 'user-agent': userAgent, ...(await authorize(request)) };
      const sent = { ...request, headers, timeout, signal };
      const response = await sendWithRetry(transport, sent, { retries, sleep, random, onEvent });
      const { status } = response;
      if (status >= 300 && status < 400) throw redirectError(response);
      return response;
    },
    close: transport.close,
  };
}

/** Makes a body of bytes in memory, in pieces that show progress. */
export function bodyOf(bytes: Buffer, onProgress?: (sent: number) => void) {
  const piece = 256 * 1024;
  return {
    length: bytes.length,
    async *chunks() {
      for (let start = 0; start < bytes.length; start += piece) {
        onProgress?.(start);
        yield bytes.subarray(start, start + piece);
      }
      onProgress?.(bytes.length);
    },
  };
}

/** Credentials never follow a redirect. */
function redirectError({ url, status, headers }: HttpResponse): ImgctlError {
  const { location = '' } = headers;
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const where = target ? `${target.origin}${target.pathname}` : 'nowhere';
  const message = `${url.origin}${url.pathname} redirects to ${where} (${status})`;
  return new ImgctlError('bad-answer', message, {
    hint: 'imgctl follows no redirects; if that address is right, set it as upload-url',
    status,
  });
}

/** Returns the error of a response that is no success. @param detail the storage's own words */
export function statusError(response: HttpResponse, detail = ''): ImgctlError {
  const { status, url, method } = response;
  const about = detail === '' ? `${status}` : `${status}: ${detail}`;
  const make = (code: ErrorCode, what: string, hint?: string) =>
    new ImgctlError(code, `${what} (${about})`, { hint, status });
  const settings = 'check its settings: imgctl config list';
  if (status === 401)
    return make('wrong-credentials', `${url.host} refused the credentials`, settings);
  if (status === 403) {
    const hint = 'check the permissions of that user, and its settings: imgctl config list';
    return make('not-permitted', `${url.host} does not permit ${method} ${url.pathname}`, hint);
  }
  if (status === 404) {
    return make(
      'not-found',
      `${url.origin}${url.pathname} does not exist`,
      `check the URL: ${ENDPOINT.show}`,
    );
  }
  if (status === 413) {
    const hint = 'ask the administrators of the storage to raise its limit';
    return make('failed', `${url.host} does not take files of this size`, hint);
  }
  if (status === 507) return storageFull(url.host, about);
  if (status === 429) return make('rate-limited', `${url.host} limits requests`, 'try again later');
  const retry = 'try again later, or ask the administrators of the storage';
  if (status >= 500)
    return make('server-error', `${url.host} failed: ${method} ${url.pathname}`, retry);
  const message = `${url.host} refused ${method} ${url.pathname}`;
  return make('bad-answer', message, `check the URL: ${ENDPOINT.show}`);
}
