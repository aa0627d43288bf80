// Errors of a request that got no usable response: the network's error codes in plain words.

import { type ErrorCode, type ErrorDetails, ImgctlError } from '../errors.ts';
import type { AddressOf, Facts } from '../facts.ts';
import { shorten } from '../words.ts';
import type { Endpoint, HttpRequest, HttpResponse } from './message.ts';

export class TransportError extends ImgctlError {
  /** The request may have reached the server. */
  readonly sent: boolean;
  /** The network failed, so a retry may succeed. */
  readonly transient: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & { readonly sent: boolean; readonly transient?: boolean },
  ) {
    super(code, message, details);
    this.sent = details.sent;
    this.transient = details.transient ?? false;
  }
}

interface Failure extends Pick<ErrorDetails, 'facts'> {
  readonly code: ErrorCode;
  readonly message: string;
  readonly transient?: boolean;
}

/**
 * Converts what undici, Node or the connector threw. The cause is kept for --debug and never shown.
 */
export function networkError(
  { url }: HttpRequest,
  cause: NodeJS.ErrnoException,
  sent: boolean,
  { of, proxyAdvice }: Endpoint,
  { hasCa = false, hasResponded = false } = {},
): TransportError {
  const mayBeTls = url.protocol === 'http:' && !hasResponded;
  // Once there was a connection, the route was right.
  const routeAdvice = sent ? undefined : proxyAdvice;
  const { code, message, ...details } = isTlsError(cause)
    ? tlsFailure(url, cause, of, hasCa)
    : (protocolFailure(url, cause, of, mayBeTls) ??
      connectionFailure(url, cause, of, mayBeTls, routeAdvice));
  return new TransportError(code, message, { ...details, cause, sent });
}

/** What to do about an error: advice, or facts that lack only whose address it is. */
type Remedy =
  | string
  | Omit<Extract<Facts, { kind: 'check-address' }>, 'of'>
  | { readonly kind: 'untrusted' };

function factsFor(remedy: Remedy | undefined, of: AddressOf, hasOthers: boolean) {
  if (remedy === undefined || typeof remedy === 'string') return remedy;
  return remedy.kind === 'untrusted' ? { ...remedy, of, hasOthers } : { ...remedy, of };
}

const ASK = 'try again later, or ask the administrators of the server';
const CHECK_HOST: Remedy = { kind: 'check-address', part: 'host' };
const CHECK_PORT: Remedy = {
  kind: 'check-address',
  part: 'port',
  more: 'the server may also be down',
};
const CHECK_NAME_SERVERS = 'check the network and the name servers of this machine';
const CHECK_NETWORK = 'check the network of this machine: firewall, VPN, proxy';
/** Another certificate authority. */
const TRUST: Remedy = { kind: 'untrusted' };
const RENEW_CERTIFICATE =
  'check the clock of this machine, or ask the administrators of the server to renew the certificate';
const ANOTHER_CERTIFICATE = 'ask the administrators of the server for another certificate';

interface TlsError {
  readonly pattern: RegExp;
  readonly remedy: Remedy;
  /** Instead of OpenSSL's words. */
  readonly reason?: string;
}

/** By code or, as OpenSSL gives some errors none, by message; the first that matches counts. */
const TLS_ERRORS: readonly TlsError[] = [
  {
    pattern: /CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER|VERIFY)/,
    remedy: TRUST,
    reason: 'unknown certificate authority',
  },
  { pattern: /SELF_SIGNED|CERT_UNTRUSTED|CERT_SIGNATURE/, remedy: TRUST },
  {
    pattern: /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    remedy: CHECK_HOST,
    reason: 'the certificate is for another host name',
  },
  { pattern: /UNRECOGNIZED_NAME/, remedy: CHECK_HOST },
  { pattern: /EXPIRED|NOT_YET_VALID/, remedy: RENEW_CERTIFICATE },
  {
    pattern: /WRONG_VERSION_NUMBER/,
    remedy: { kind: 'check-address', part: 'scheme and port' },
    reason: 'the port does not speak TLS',
  },
  {
    pattern: /NO_APPLICATION_PROTOCOL/,
    remedy: 'the server must support HTTP/1.1: ask its administrators',
  },
  {
    pattern: /PROTOCOL/,
    remedy: 'the server must support TLS 1.2 or later: ask its administrators',
  },
  {
    pattern: /ALERT_CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE/,
    remedy: 'ask the administrators of the server for an address without client certificates',
    reason: 'the server requires a client certificate, which imgctl cannot send',
  },
  {
    pattern: /ALERT_HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|NO_SHARED_CIPHER/,
    remedy: 'ask the administrators of the server to allow ECDHE with AES-GCM',
    reason: 'no cipher in common',
  },
  {
    pattern: /too weak|too small|_TOO_WEAK|_TOO_SMALL|PURPOSE|INVALID_CA|REVOKED/,
    remedy: ANOTHER_CERTIFICATE,
  },
  {
    pattern: /subtree|name constraint/i,
    remedy: ANOTHER_CERTIFICATE,
    reason: 'its certificate authority may not issue certificates for this name',
  },
];

/** Of a server that wants a client certificate, which TLS 1.3 says only after the handshake. */
export const CLIENT_CERTIFICATE = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

/** Of Node, and of OpenSSL for a certificate that it does not accept. */
const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME|INVALID|PATH|CA|EE|UNSPECIFIED)(_|$)/;

export function isTlsError({ code = '' }: NodeJS.ErrnoException): boolean {
  return TLS_CODES.test(code);
}

function knownTlsError({ code, message }: NodeJS.ErrnoException): TlsError | undefined {
  return TLS_ERRORS.find(({ pattern }) => pattern.test(`${code} ${message}`));
}

function tlsFailure(
  { host }: URL,
  cause: NodeJS.ErrnoException,
  of: AddressOf,
  hasOthers: boolean,
): Failure {
  const message = `no trusted TLS connection to ${host}: ${reasonOf(cause)}`;
  const { remedy = ASK } = knownTlsError(cause) ?? {};
  return { code: 'tls', message, facts: factsFor(remedy, of, hasOthers) };
}

/** Returns undefined if the request and what was received were valid HTTP. */
function protocolFailure(
  { origin }: URL,
  cause: NodeJS.ErrnoException,
  of: AddressOf,
  mayBeTls: boolean,
): Failure | undefined {
  const { code = '' } = cause;
  if (code === 'UND_ERR_INVALID_ARG') {
    const facts = 'check the method, the path and the token for invalid characters';
    return { code: 'usage', message: `not a valid HTTP request: ${cause.message}`, facts };
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    const facts = 'ask the administrators of the server for shorter headers, such as cookies';
    return { code: 'bad-answer', message: `${origin} sent headers of more than 16 KiB`, facts };
  }
  if (!isInvalidHttp(cause)) return undefined;
  const reason = code.startsWith('HPE_') ? `: ${code}` : '';
  const message = `${origin} did not send a valid HTTP response${reason}`;
  // As an alert of TLS begins.
  const isAlert = mayBeTls && 'data' in cause && `${cause.data}`.startsWith('\x15\x03');
  const facts: Facts = isAlert
    ? { kind: 'needs-tls', of }
    : { kind: 'check-address', of, part: 'host and port' };
  return { code: 'bad-answer', message, facts };
}

/** Also after a 100 or 101 that was not asked for: undici cannot read what follows. */
function isInvalidHttp({ name, code = '', message }: NodeJS.ErrnoException): boolean {
  const isUnasked = code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)$/.test(message);
  return name === 'HTTPParserError' || code.startsWith('HPE_') || isUnasked;
}

interface NetworkError {
  readonly reason: string;
  readonly remedy: Remedy | undefined;
  /** False if a retry would fail in the same way [true]. */
  readonly transient?: boolean;
}

const CLOSED: NetworkError = { reason: 'the connection was closed', remedy: ASK };
const CLIENT_CLOSED = { reason: 'the client is closed', remedy: undefined, transient: false };

/** By the code of the system or of undici. */
const NETWORK_ERRORS: ReadonlyMap<string, NetworkError> = new Map([
  ['ECONNREFUSED', { reason: 'the connection was refused', remedy: CHECK_PORT }],
  ['ENOTFOUND', { reason: 'unknown host name', remedy: CHECK_HOST, transient: false }],
  ['EAI_AGAIN', { reason: 'the host name lookup failed', remedy: CHECK_NAME_SERVERS }],
  ['EHOSTUNREACH', { reason: 'the host is unreachable', remedy: CHECK_NETWORK }],
  ['ENETUNREACH', { reason: 'the network is unreachable', remedy: CHECK_NETWORK }],
  ['ETIMEDOUT', { reason: 'the connection timed out', remedy: CHECK_NETWORK }],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['UND_ERR_CLOSED', CLIENT_CLOSED],
  ['UND_ERR_DESTROYED', CLIENT_CLOSED],
]);

function networkErrorOf({ code = '' }: NodeJS.ErrnoException): NetworkError {
  const unknown = { reason: code || 'the connection failed', remedy: ASK };
  return NETWORK_ERRORS.get(code) ?? unknown;
}

/** @param routeAdvice instead of other advice, if the server was never reached */
function connectionFailure(
  { origin }: URL,
  cause: NodeJS.ErrnoException,
  of: AddressOf,
  mayBeTls: boolean,
  routeAdvice: string | undefined,
): Failure {
  const error = networkErrorOf(cause);
  const { reason, remedy, transient = true } = error;
  if (error === CLOSED) {
    const message = `${origin} closed the connection without a complete response`;
    const facts = mayBeTls ? ({ kind: 'needs-tls', of, otherwise: ASK } as const) : ASK;
    return { code: 'unreachable', message, facts, transient };
  }
  const facts = routeAdvice ?? factsFor(remedy, of, false);
  return { code: 'unreachable', message: `cannot reach ${origin}: ${reason}`, facts, transient };
}

/** True if the network failed, so that a retry may succeed. */
export function isTransient(error: NodeJS.ErrnoException): boolean {
  const { transient = true } = networkErrorOf(error);
  return transient && !isTlsError(error) && !isInvalidHttp(error);
}

export function reasonOf(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  if (isInvalidHttp(error)) return 'its response is not HTTP';
  if (!isTlsError(error)) return networkErrorOf(error).reason;
  // Some versions of Node append advice on how to start Node.
  const [problem = error.message] = error.message.split('; if the root CA');
  return knownTlsError(error)?.reason ?? error.reason ?? problem;
}

/** True for a redirect. 304 is none: it is for conditional requests, which imgctl never sends. */
export function isRedirect({ status }: HttpResponse): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

export function redirectTarget({ headers, url }: HttpResponse): URL | undefined {
  const { location } = headers;
  return location !== undefined && URL.canParse(location, url.href)
    ? new URL(location, url)
    : undefined;
}

/** Credentials never follow a redirect. */
export function redirectError(response: HttpResponse): ImgctlError {
  const { method, status, url, endpoint } = response;
  const target = redirectTarget(response);
  const where = target
    ? ` to ${shorten(`${target.protocol}//${target.host}${target.pathname}`, 200)}`
    : '';
  const message = `${method} ${url.origin}${url.pathname} was redirected${where} (${status}); redirects are not followed`;
  // Another path is that of a login page, or of a portal.
  const isSamePath = target?.pathname.replace(/\/$/, '').endsWith(url.pathname.replace(/\/$/, ''));
  const { of } = endpoint;
  const facts: Facts = isSamePath
    ? { kind: 'moved', of }
    : { kind: 'check-address', of, more: 'a portal may have responded instead' };
  return new ImgctlError('failed', message, { facts, status });
}
