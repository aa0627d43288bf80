// Reads a response of the service: its JSON, or the error that its status and body stand for.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import { httpDate, requestedWait } from '../http/headers.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { MAX_WAIT } from '../http/pace.ts';
import { isRedirect, redirectError } from '../http/redirects.ts';
import { isRetryableStatus, isSafeMethod } from '../http/retry.ts';
import { isObject, parseJson } from '../json.ts';
import { oneLine, shorten } from '../words.ts';

const CHECK_BASE_URL = { kind: 'check-address', of: 'service' } as const;

/** Formats as `GET https://host/path`, without the query, which may be long. */
function describeRequest({ method, url }: Pick<HttpResponse, 'method' | 'url'>): string {
  return `${method} ${url.origin}${url.pathname}`;
}

/** @throws ImgctlError of the status; bad-answer if the body is not JSON or exceeds a limit */
export function readJson(response: HttpResponse): unknown {
  if (!isSuccess(response)) throw statusError(response);
  const parsed = parseJson(response.body);
  if (parsed.text !== undefined) return parsed.value;
  const { method, status, url, proxy } = response;
  const message = `${describeRequest(response)} returned ${status} ${describeBody(response, parsed)}`;
  const isTooLarge = parsed.excess !== undefined && method === 'GET';
  const facts: Facts | string = isTooLarge
    ? { kind: 'unread-body', url: `${url.origin}${url.pathname}` }
    : (proxy?.check ?? CHECK_BASE_URL);
  throw new ImgctlError('bad-answer', message, { facts, status });
}

/** Says what a body is instead of JSON: `with an empty body instead of JSON`. */
function describeBody(response: HttpResponse, { excess }: ReturnType<typeof parseJson>): string {
  if (isPage(response)) return describePage(response);
  if (excess !== undefined) return `with ${excess}`;
  if (startOf(response) === '') return 'with an empty body instead of JSON';
  return 'with a body that is not valid JSON';
}

/** Returns the response with the status of its error record, which a gateway may send as 200. */
export function withRecordStatus(response: HttpResponse): HttpResponse {
  const { body } = response;
  if (!isSuccess(response) || body.length > MAX_ERROR_BYTES || !body.includes('"error"')) {
    return response;
  }
  const { value } = parseJson(body, true);
  if (!isObject(value) || typeof value.error !== 'string') return response;
  const { status, message } = value;
  const isError = typeof status === 'number' && status >= 400 && typeof message === 'string';
  return isError ? { ...response, status } : response;
}

export function shapeError(response: HttpResponse, problem: string): ImgctlError {
  const { status } = response;
  const message = `${describeRequest(response)} returned ${status}, but ${problem}`;
  return new ImgctlError('bad-answer', message, { facts: CHECK_BASE_URL, status });
}

/** Returns a number if it has the same text, since services send ids as numbers or as texts. */
export function parseId(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}

/** @throws ImgctlError bad-answer: another record, which a broken cache may send */
export function requireSameId(what: string, wanted: unknown, received: unknown): void {
  if (received === undefined || received === null || `${received}` === `${wanted}`) return;
  const sent =
    typeof received === 'object' ? 'another record' : `${what} ${shorten(`${received}`, 100)}`;
  const message = `the service sent ${sent} instead of ${what} ${wanted}`;
  throw new ImgctlError('bad-answer', message, { facts: MIXED });
}

const MIXED = advice('try again; a cache or proxy may be mixing up responses');

/** Maximum size of an error record in bytes. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Returns the service's own reason from the error record (section 2.6), or a similar field. */
export function serviceMessage(body: Buffer): string | undefined {
  const value = body.length > MAX_ERROR_BYTES ? undefined : parseJson(body, true).value;
  if (!isObject(value)) return undefined;
  const texts = [value.message, value.error, value.detail].filter(
    (text) => typeof text === 'string',
  );
  const reasons = texts.map((text) => shorten(text.trim(), 500).replace(/\.$/, ''));
  return reasons.find((reason) => reason !== '');
}

/** True if the body is a web page, or XML. */
export function isPage(response: HttpResponse): boolean {
  return startOf(response).startsWith('<');
}

/** Says that the body is a page, and which proxy may have made it. */
export function describePage(response: HttpResponse): string {
  const { proxy } = response;
  const isXml = /^<\?xml(?!.*<(?:!doctype )?html)/i.test(startOf(response));
  const maker = proxy ? `, perhaps from the proxy ${proxy.host}` : '';
  return `with ${isXml ? 'XML' : 'HTML'} instead of JSON${maker}`;
}

function startOf({ body }: HttpResponse): string {
  return oneLine(shorten(body.subarray(0, 8_000).toString(), 2_000));
}

const ASK_FOR_ACCESS = advice('ask the administrators of the service for access to its API');

/**
 * Returns the error that a status other than 2xx stands for, sections 2.6 and 7. The first row that
 * fits counts:
 *
 *     a redirect               failed, with its target
 *     429                      rate-limited
 *     401 in JSON              what its message says
 *     403 in JSON              not-permitted
 *     401 or 403 in a page     bad-answer, perhaps of a firewall: the service itself sends JSON
 *     404, 410                 not-found
 *     407                      proxy
 *     500 and above            server-error
 *     any other                failed
 */
export function statusError(response: HttpResponse): ImgctlError {
  const { status, url, proxy, body } = response;
  const isInPage = isPage(response);
  const error = (code: ErrorCode, advised?: Facts, message = describeStatus(response)) => {
    // The proxy may have made the page.
    const facts = isInPage && proxy ? proxy.check : advised;
    return new ImgctlError(code, message, { facts, status });
  };
  if (isRedirect(response)) return redirectError(response);
  if (status === 429) return rateLimitedError(response);
  if (status === 401 && !isInPage) return unauthorizedError(response);
  if (status === 403 && !isInPage) {
    const reason = serviceMessage(body);
    return error('not-permitted', ASK_FOR_ACCESS, reason && `the service says: ${reason}`);
  }
  if (status === 401 || status === 403) {
    const more = 'a firewall or portal may have responded instead';
    return error('bad-answer', { ...CHECK_BASE_URL, more });
  }
  if (status === 404 || status === 410) return error('not-found', notFoundFacts(url));
  if (status === 407) return error('proxy');
  if (status >= 500) {
    const retryAfter = requestedWait(response) ?? 0;
    return error('server-error', serverFailureFacts(response)).with({ retryAfter });
  }
  if (status < 400) {
    return error('failed', MIXED, `${describeRequest(response)}: unexpected ${status}`);
  }
  if (isFromTls(response)) return error('failed', { kind: 'needs-tls', of: 'service' });
  return error('failed', isInPage ? CHECK_BASE_URL : undefined);
}

function serverFailureFacts(response: HttpResponse): Facts {
  const { status, method } = response;
  const wait = requestedWait(response) ?? 0;
  const wasRetried = isRetryableStatus(status) && isSafeMethod(method) && wait <= MAX_WAIT;
  return laterFacts(response, { hasFailed: true, wasRetried });
}

/** Formats as `GET https://host/path: 400, REASON`, with the reason that the body gives. */
function describeStatus(response: HttpResponse): string {
  const { status, body } = response;
  const start = () => (isPage(response) ? describePage(response) : shorten(startOf(response), 200));
  const reason = serviceMessage(body) ?? start();
  return `${describeRequest(response)}: ${status}${reason === '' ? '' : `, ${reason}`}`;
}

function notFoundFacts({ origin, pathname }: URL): Facts {
  // The base URL has the /v2 that each path begins with.
  if (/\/v2\/(v2|auth)\b/.test(pathname)) {
    return { kind: 'path-twice', url: `${origin}${pathname.replace(/\/v2\/.*/, '')}` };
  }
  return /\/v2\/image\/[^/]+$/.test(pathname) ? { kind: 'no-such-image' } : CHECK_BASE_URL;
}

/** True if a TLS server seems to respond to plain http: with 400, and no JSON. */
function isFromTls(response: HttpResponse): boolean {
  const { status, url, hasSucceeded } = response;
  const isPlain = status === 400 && url.protocol === 'http:' && !hasSucceeded;
  return isPlain && /https|ssl/i.test(startOf(response));
}

export function oneTimePasswordError({ body, status }: HttpResponse): ImgctlError | undefined {
  const reason = serviceMessage(body) ?? '';
  if (!/\b(?:one-time|[th]?otp|mfa)\b/i.test(reason)) return undefined;
  const facts = advice(
    'this login needs a one-time password, which imgctl cannot send: use another account',
  );
  return new ImgctlError('not-permitted', `the service says: ${reason}`, { facts, status });
}

/**
 * Returns the error of a 401 in JSON, whose message alone tells the reasons apart (section 7):
 * - `User is not authorized to access.`, or one-time passwords: not-permitted
 * - `Invalid username and password combination.`: wrong-credentials
 * - any other, such as `Invalid token.`: token-refused
 * A token request makes wrong-credentials of the last two, a request with a token token-refused.
 */
function unauthorizedError(response: HttpResponse): ImgctlError {
  const oneTime = oneTimePasswordError(response);
  if (oneTime) return oneTime;
  const reason = serviceMessage(response.body) ?? 'no reason given';
  const error = (code: ErrorCode, text: string, facts?: Facts) =>
    new ImgctlError(code, `${text}: ${reason}`, { facts, status: 401 });
  if (/not authorized/i.test(reason)) {
    return error('not-permitted', 'the service says', ASK_FOR_ACCESS);
  }
  // What to do depends on the source of the password, which the caller knows.
  if (/password/i.test(reason)) return error('wrong-credentials', 'the service says');
  return error('token-refused', 'the service refused the access token');
}

export function rateLimitedError(response: HttpResponse): ImgctlError {
  const retryAfter = requestedWait(response) ?? 0;
  const facts = laterFacts(response, { hasFailed: false, wasRetried: false });
  const reason = serviceMessage(response.body) ?? '';
  const isNews = !/^(too many|rate limit exceeded)\b|^$/i.test(reason);
  const message = `${describeRequest(response)}: too many requests${isNews ? `, ${reason}` : ''}`;
  return new ImgctlError('rate-limited', message, { facts, status: 429, retryAfter });
}

function laterFacts(
  response: HttpResponse,
  more: { readonly hasFailed: boolean; readonly wasRetried: boolean },
): Facts {
  // Each run of imgctl slows down by itself, but several may still be too many.
  if (response.isLimited) return { kind: 'limited' };
  const wait = requestedWait(response) ?? 0;
  const resetsAt = wait > 0 ? response.receivedAt + wait : undefined;
  return { kind: 'retry-later', resetsAt, wait, ...more };
}

/** Returns how far this machine is ahead of the service; undefined without a valid date. */
export function clockSkew({ headers, receivedAt }: HttpResponse): number | undefined {
  const date = httpDate(headers.date ?? '');
  return date === undefined ? undefined : receivedAt - date;
}
