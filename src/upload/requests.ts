// Sends requests to an HTTP storage, reads its XML and lists within limits, and says what its refusals mean.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../http/message.ts';
import { chooseProxy, proxySecrets } from '../http/proxies.ts';
import { sendWithRetry } from '../http/retry.ts';
import { createTransport } from '../http/transport.ts';
import { parseXml, type XmlElement, XmlError } from '../ovf/xml.ts';
import { type StorageOptions, storageFull } from './storage.ts';

/** Maximum size of all responses in flight, in bytes; a file is read back in pieces of half of it. */
const MAX_BYTES = 16 * 2 ** 20;
export const PIECE = MAX_BYTES / 2;

const XML_LIMITS = { bytes: 4 * 2 ** 20, nodes: 100_000, depth: 50 };
const MAX_PAGES = 1_000;

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

export function bodyOf(text: string) {
  const bytes = Buffer.from(text);
  return {
    length: bytes.length,
    async *chunks() {
      yield bytes;
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

/**
 * Reads a list of several pages.
 * @param read takes the marker of a page, and returns that of the next one, or undefined after the last
 * @throws ImgctlError bad-answer: the list never ends
 */
export async function readPages(
  base: URL,
  read: (marker: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  const seen = new Set<string>();
  let marker: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    marker = await read(marker);
    if (marker === undefined) return;
    if (seen.has(marker)) break;
    seen.add(marker);
  }
  throw endlessList(base);
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
