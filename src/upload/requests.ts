// Sends requests to an HTTP storage, reads its XML and lists within limits, and says what its refusals mean.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { HttpRequest, HttpResponse, RequestBody } from '../http/message.ts';
import { chooseProxy, proxySecrets } from '../http/proxies.ts';
import { sendWithRetry } from '../http/retry.ts';
import { createTransport } from '../http/transport.ts';
import { parseXml, type XmlElement, XmlError } from '../ovf/xml.ts';
import { type StorageOptions, storageFull } from './storage.ts';

/** Maximum size of all responses in flight, in bytes; a file is read back in pieces of half of it. */
const MAX_BYTES = 16 * 2 ** 20;
export const PIECE = MAX_BYTES / 2;

const XML_LIMITS = { bytes: 4 * 2 ** 20, nodes: 100_000, depth: 50 };

/** How hints name the storage. */
const ENDPOINT = {
  name: 'the upload URL',
  show: 'imgctl config get upload-url',
  trust: 'imgctl config set upload-ca-file /path/to/ca.pem',
  reduce: 'use an upload URL with fewer files',
};

export const CHECK_URL = `check the URL: ${ENDPOINT.show}`;
export const CHECK_SETTINGS = 'check its settings: imgctl config list';
const SIZE_HINT = 'ask the administrators of the storage to raise its limit';

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
  const transport = createTransport({
    ...{ origin: base.origin, endpoint: ENDPOINT, maxBytes: MAX_BYTES, now, onEvent, ca, proxy },
    connections: parallel + 1,
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
      let sent = 0;
      onBytes(sent);
      for await (const chunk of read()) {
        yield chunk;
        sent += chunk.length;
        onBytes(sent);
      }
    },
  };
}

/** Returns the root, or undefined if the body is not XML. @throws ImgctlError bad-answer: too large */
export function xmlOf({ body, url, status }: HttpResponse): XmlElement | undefined {
  try {
    return parseXml(body, XML_LIMITS);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    if (error.code !== 'xml-too-complex') return undefined;
    throw new ImgctlError('bad-answer', `${url.host} sent too much XML: ${error.message}`, {
      hint: ENDPOINT.reduce,
      status,
    });
  }
}

export function endlessList({ host }: URL): ImgctlError {
  return new ImgctlError('bad-answer', `${host} sent a list without end`, {
    hint: ENDPOINT.reduce,
  });
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
export function statusError({ status, url, method }: HttpResponse, detail = ''): ImgctlError {
  const { host, origin, pathname } = url;
  const about = detail === '' ? `${status}` : `${status}: ${detail}`;
  if (status === 507) return storageFull(host, about);
  const refusals: Readonly<Record<number, readonly [ErrorCode, string, string]>> = {
    401: ['wrong-credentials', `${host} refused the credentials`, CHECK_SETTINGS],
    403: [
      'not-permitted',
      `${host} does not permit ${method} ${pathname}`,
      'check the permissions of that user, and its settings: imgctl config list',
    ],
    404: ['not-found', `${origin}${pathname} does not exist`, CHECK_URL],
    413: ['failed', `${host} does not take files of this size`, SIZE_HINT],
    429: ['rate-limited', `${host} limits requests`, 'try again later'],
  };
  const retry = 'try again later, or ask the administrators of the storage';
  const [code, what, hint] =
    refusals[status] ??
    (status >= 500
      ? ['server-error', `${host} failed: ${method} ${pathname}`, retry]
      : ['bad-answer', `${host} refused ${method} ${pathname}`, CHECK_URL]);
  return new ImgctlError(code, `${what} (${about})`, { hint, status });
}
