// What the responses of an HTTP storage mean: sizes, times, XML within limits, and refusals.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { httpDate, requestedWait } from '../http/headers.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { pageText } from '../http/page.ts';
import { isObject, parseJson } from '../json.ts';
import { describeLater, shorten } from '../words.ts';
import { parseXml, textOf, type XmlElement, XmlError } from '../xml.ts';
import { fileTooLarge, storageFull } from './storage-errors.ts';
import { SETTLED } from './upload-file.ts';

const XML_LIMITS = { bytes: 4 * 2 ** 20, nodes: 100_000, depth: 50 };

/** Returns the size of a stored file by the response to HEAD. @throws ImgctlError bad-answer */
export function requireLength({ headers, url }: HttpResponse, name: string): number {
  const { 'content-length': length } = headers;
  if (length !== undefined) return Number(length);
  const advice = 'ask the administrators to send Content-Length in responses to HEAD';
  const message = `${url.host} does not send the size of ${name}`;
  throw new ImgctlError('bad-answer', message, { facts: advice });
}

/** Returns a text that differs after a change of a stored file, as the storage shows it. */
export function storedFingerprint(tag: string, modified: string, size: number | undefined) {
  return [tag, modified, size].join(' ');
}

/** True if the next change will show. Some servers make an ETag from the size and whole seconds. */
export function isSettledTag(etag: string, modified: string, date: string | undefined): boolean {
  if (modified === '') return etag.startsWith('"');
  return Number(httpDate(date ?? '')) - Number(httpDate(modified)) >= SETTLED;
}

/** Characters that XML cannot hold. */
const NOT_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
/** `&#x1;` or `&#1;`. */
const REFERENCE = /&#(x[\da-f]{1,5}|\d{1,6});/gi;

/**
 * Returns the root; undefined if the body is not XML.
 * @throws ImgctlError bad-answer: a success has too much XML
 */
export function xmlOf({ body, url, status }: HttpResponse): XmlElement | undefined {
  // Some storages send white space while a request takes long, also before the declaration.
  const start = body.findIndex((byte) => byte > 0x20);
  try {
    return parseTolerantly(body.subarray(Math.max(start, 0)));
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    if (error.code !== 'xml-too-complex' || !isSuccess({ status })) return undefined;
    throw new ImgctlError('bad-answer', `${url.host} sent too much XML: ${error.message}`, {
      facts: { kind: 'too-large', of: 'storage' },
      status,
    });
  }
}

/** Reads `?` for what XML cannot hold: storages that encode no keys send it as it is. */
function parseTolerantly(xml: Buffer): XmlElement {
  try {
    return parseXml(xml, XML_LIMITS);
  } catch (error) {
    if (!(error instanceof XmlError) || error.code !== 'xml-syntax') throw error;
    const readable = `${xml}`
      .replace(REFERENCE, (reference, number: string) => {
        const character = String.fromCodePoint(Number(number.replace(/^x/i, '0x')));
        return character.search(NOT_XML) === 0 ? '?' : reference;
      })
      .replace(NOT_XML, '?');
    return parseXml(Buffer.from(readable), XML_LIMITS);
  }
}

/** Elements with the words of an error: of S3, of SabreDAV, of WebDAV in general. */
const WORDS = ['Code', 'Message', 'Endpoint', 'message', 'responsedescription'];
const MAX_WORDS = 200;

/** Returns what the server says of an error, in one line, or an empty text. */
function wordsOf(response: HttpResponse): string {
  const text = errorText(response);
  const line = text.replace(/[\s\p{C}]+/gu, ' ').trim();
  return shorten(line.replace(/^\d{3} /, ''), MAX_WORDS);
}

/** Returns the text of an error in XML, JSON, HTML or plain text. */
function errorText(response: HttpResponse): string {
  const { body } = response;
  const root = xmlOf(response);
  if (!root) {
    const { value } = parseJson(body, true);
    const message = isObject(value) ? value.message : undefined;
    return typeof message === 'string' && message !== '' ? message : pageText(body);
  }
  const words = WORDS.flatMap((name) => textOf(root, name) || []).join(': ');
  // A multistatus has only paths and a status for each.
  if (words !== '' || root.name === 'multistatus') return words;
  // It may be a page in XHTML, or an element that names a precondition.
  return pageText(body).trim() || (root.children[0]?.name ?? '');
}

export const CHECK_URL = 'check the upload URL';
const ASK = 'ask the administrators of the storage, or of a proxy in front of it';
const CHECK_SETTINGS: Facts = { kind: 'storage-user' };
const TRY_LATER = 'try again later, or ask the administrators of the storage';
const ALLOW_BASIC = 'ask the administrators of the storage to allow Basic authentication';
const WAIT_FOR_RELEASE = 'wait until other programs have released it, then run the command again';

type Refusal = readonly [ErrorCode, what: string, string | Facts];

/** Returns the error of a refusal. @param meaning the status that tells what it means [its own] */
export function storageError(response: HttpResponse, meaning = response.status): ImgctlError {
  const { status, method, url, headers, receivedAt } = response;
  const { host, origin, pathname } = url;
  const wait = requestedWait(response);
  const when = wait === undefined ? 'later' : describeLater(receivedAt + wait, receivedAt);
  const words = wordsOf(response);
  const about = words === '' ? `${status}` : `${status}: ${words}`;
  if (meaning === 507) return storageFull(host, about, { status });
  if (meaning === 413) return fileTooLarge(host, about, { status });
  const refusals: Readonly<Record<number, Refusal>> = {
    401: credentialsRefused(host, headers['www-authenticate']),
    403: ['not-permitted', `${host} does not permit ${method} ${pathname}`, CHECK_SETTINGS],
    404: ['not-found', `${origin}${pathname} does not exist`, CHECK_URL],
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
