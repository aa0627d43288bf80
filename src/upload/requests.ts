// Sends requests to an HTTP storage, reads its XML and lists within limits, and says what its refusals mean.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { isRedirect, redirectError } from '../http/errors.ts';
import { requestedWait } from '../http/headers.ts';
import type { HttpRequest, HttpResponse, RequestBody } from '../http/message.ts';
import { Pace } from '../http/pace.ts';
import { chooseProxy, proxySecrets } from '../http/proxies.ts';
import { sendWithRetry } from '../http/retry.ts';
import { createTransport } from '../http/transport.ts';
import { isObject, parseJson } from '../json.ts';
import { describeLater, shorten } from '../words.ts';
import { parseXml, textOf, type XmlElement, XmlError } from '../xml.ts';
import { type StorageOptions, storageFull } from './storage.ts';

/** Maximum size of all responses in flight, in bytes; a file is read back in pieces of half of it. */
const MAX_BYTES = 16 * 2 ** 20;
export const PIECE = MAX_BYTES / 2;

const XML_LIMITS = { bytes: 4 * 2 ** 20, nodes: 100_000, depth: 50 };

export const CHECK_URL = 'check the upload URL';
const ASK = 'ask the administrators of the storage, or of a proxy in front of it';
const CHECK_SETTINGS: Facts = { kind: 'storage-user' };
/** The refusals of a request whose effect is looked up afterwards: nginx limits requests with 503, and so does S3. */
export const REFUSALS = [429, 503];
const TRY_LATER = 'try again later, or ask the administrators of the storage';
const ALLOW_BASIC = 'ask the administrators of the storage to allow Basic authentication';
const WAIT_FOR_RELEASE = 'wait until other programs have released it, then run the command again';
const RAISE_LIMIT = 'ask the administrators of the storage to raise its limit';

export interface StorageRequest
  extends Pick<HttpRequest, 'method' | 'url' | 'body' | 'idempotent' | 'refusals' | 'asStored'> {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds that the request may take, even if --timeout is shorter. */
  readonly patience?: number;
}

export interface StorageRequests {
  /**
   * Returns any response but a redirect. @param nextUrl called each time that the request is sent
   * @throws ImgctlError
   */
  send(request: StorageRequest, nextUrl?: () => URL): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** @param explain returns the error of a response if it is known, also of a redirect */
export function createRequests(
  base: URL,
  options: StorageOptions,
  authorize: (request: StorageRequest) => Promise<Record<string, string>>,
  explain: (response: HttpResponse) => ImgctlError | undefined = () => undefined,
): StorageRequests {
  const { clock, env, onSecret, timeout, userAgent, parallel } = options;
  const { proxy, unused } = chooseProxy(base, env);
  if (proxy) proxySecrets(proxy).forEach(onSecret);
  const endpoint = { of: 'storage', route: unused } as const;
  const limits = { maxBytes: MAX_BYTES, connections: parallel + 1 };
  const { origin } = base;
  const transport = createTransport({ ...options, ...clock, ...limits, origin, endpoint, proxy });
  const pace = new Pace({ ...clock, limits: false });
  return {
    async send(request, nextUrl = () => request.url) {
      const patience = Math.max(timeout, request.patience ?? 0);
      const sent = { ...request, headers: {}, timeout: patience, signal: clock.signal };
      // A signature is valid for some minutes only, so each attempt has its own.
      const send = async () => {
        const headers = {
          'user-agent': userAgent,
          'accept-encoding': 'identity',
          ...(await authorize(request)),
        };
        return transport.send({ ...sent, headers, url: nextUrl() });
      };
      const response = await sendWithRetry({ send }, sent, { ...options, ...clock }, pace);
      const known = explain(response);
      if (known) throw known;
      if (!isRedirect(response)) return response;
      throw redirectError(response);
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

/** Returns the size of a stored file by the response to HEAD. @throws ImgctlError bad-answer */
export function requireLength({ headers, url }: HttpResponse, name: string): number {
  const { 'content-length': length } = headers;
  if (length !== undefined) return Number(length);
  const facts = 'the server, or a proxy in front of it, must respond to HEAD with Content-Length';
  throw new ImgctlError('bad-answer', `${url.host} does not tell the size of ${name}`, { facts });
}

/** Characters that XML cannot hold, as bytes of UTF-8 or as references. */
const NOT_XML =
  /[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]|&#(?:x0*(?:[0-8bcef]|1[\da-f]|fff[ef])|0*(?:[0-8]|1[124-9]|2\d|3[01]|6553[45]));/gi;

/** Returns the root, or undefined if the body is not XML. @throws ImgctlError bad-answer: too large */
export function xmlOf({ body, url, status }: HttpResponse): XmlElement | undefined {
  // Some storages send white space while a request takes long, also before the declaration.
  const start = body.findIndex((byte) => byte > 0x20);
  try {
    return parseTolerantly(body.subarray(Math.max(start, 0)));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    if (error.code !== 'xml-too-complex') return undefined;
    throw new ImgctlError('bad-answer', `${url.host} sent too much XML: ${error.message}`, {
      facts: { kind: 'too-large', of: 'storage' },
      status,
    });
  }
}

/** A storage that encodes no keys sends those of others, such as one with a control character, as they are. */
function parseTolerantly(xml: Buffer): XmlElement {
  try {
    return parseXml(xml, XML_LIMITS);
  } catch (error) {
    if (!(error instanceof XmlError) || error.code !== 'xml-syntax') throw error;
    const readable = xml.toString('latin1').replace(NOT_XML, '?');
    return parseXml(Buffer.from(readable, 'latin1'), XML_LIMITS);
  }
}

/** Elements with the words of an error: of S3, of SabreDAV, of WebDAV in general. */
const WORDS = ['Code', 'Message', 'Endpoint', 'message', 'responsedescription'];
const MAX_WORDS = 200;
const MAX_PAGE = 16_384;

/** Returns what the server says of an error, from XML, JSON, HTML or text: one line, or an empty text. */
function wordsOf(response: HttpResponse): string {
  const root = xmlOf(response);
  const fromXml = root ? WORDS.flatMap((name) => textOf(root, name) || []).join(': ') : '';
  // A multistatus has paths and a status for each.
  if (fromXml === '' && root?.name === 'multistatus') return '';
  const { value } = root ? {} : parseJson(response.body, true);
  const fromJson = isObject(value) && typeof value.message === 'string' ? value.message : '';
  const text = fromXml || fromJson || pageText(response.body);
  const line = text.replace(/[\s\p{C}]+/gu, ' ').trim();
  const words = line.replace(/^\d{3} /, '') || (root?.children[0]?.name ?? '');
  return shorten(words, MAX_WORDS);
}

function pageText(body: Buffer): string {
  const page = shorten(body.subarray(0, 4 * MAX_PAGE).toString(), MAX_PAGE);
  // Text that is no page has no tags: what looks like one may be within a secret, which could not be masked without it.
  if (!page.trimStart().startsWith('<')) return page;
  return page.replace(/<(head|script|style)\b.*?(<\/\1>|$)|<[^<>]*>/gis, ' ');
}

type Refusal = readonly [ErrorCode, what: string, string | Facts];

/** @param meaning the status to report it as [its own] */
export function storageError(response: HttpResponse, meaning = response.status): ImgctlError {
  const { status, method, url, headers, receivedAt } = response;
  const { host, origin, pathname } = url;
  const wait = requestedWait(response);
  const when = wait === undefined ? 'later' : describeLater(receivedAt + wait, receivedAt);
  const words = wordsOf(response);
  const about = words === '' ? `${status}` : `${status}: ${words}`;
  if (meaning === 507) return storageFull(host, about);
  const refusals: Readonly<Record<number, Refusal>> = {
    401: credentialsRefused(host, headers['www-authenticate']),
    403: ['not-permitted', `${host} does not permit ${method} ${pathname}`, CHECK_SETTINGS],
    404: ['not-found', `${origin}${pathname} does not exist`, CHECK_URL],
    413: ['failed', `${host} does not accept files of this size`, RAISE_LIMIT],
    423: ['locked', `${host} has locked ${pathname}`, WAIT_FOR_RELEASE],
    429: ['rate-limited', `too many requests to ${host}`, `try again ${when}`],
  };
  const other: Refusal =
    meaning >= 500
      ? ['server-error', `${host} failed: ${method} ${pathname}`, TRY_LATER]
      : ['bad-answer', `${host} refused ${method} ${pathname}`, ASK];
  const [code, what, facts] = refusals[meaning] ?? other;
  return new ImgctlError(code, `${what} (${about})`, { facts, status });
}

function credentialsRefused(host: string, schemes: string | undefined): Refusal {
  if (schemes === undefined || /(^|,)\s*basic\b/i.test(schemes)) {
    return ['wrong-credentials', `${host} refused the credentials`, CHECK_SETTINGS];
  }
  const [scheme] = schemes.split(/[ ,]/);
  const what = `${host} offers no Basic authentication, only ${scheme}`;
  return ['not-permitted', what, ALLOW_BASIC];
}
