// Errors of a request that got no usable response: the network's error codes in plain words.

import {
  asImgctlError,
  type ErrorCode,
  type ErrorDetails,
  ImgctlError,
  isDefect,
} from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Endpoint, HttpRequest } from './message.ts';

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

/** What is known of a request that failed. */
interface Attempt extends Endpoint {
  readonly url: URL;
  /** The request may have reached the server. */
  readonly sent: boolean;
  /** Certificates are trusted that the user gave. */
  readonly hasCa: boolean;
  /** The server responded before in this run. */
  readonly hasResponded: boolean;
}

interface Failure extends Pick<ErrorDetails, 'facts'> {
  readonly code: ErrorCode;
  readonly message: string;
  readonly transient?: boolean;
}

/**
 * Converts what undici, Node or the connector threw. The cause is kept for --debug and never shown.
 */
export function toTransportError(cause: NodeJS.ErrnoException, attempt: Attempt): TransportError {
  // A retry would meet a defect again, and must not hide it.
  if (isDefect(cause)) {
    const { code, message, facts } = asImgctlError(cause);
    return new TransportError(code, message, { facts, cause, sent: attempt.sent });
  }
  const { code, message, ...details } = isTlsError(cause)
    ? tlsFailure(cause, attempt)
    : (protocolFailure(cause, attempt) ?? connectionFailure(cause, attempt));
  return new TransportError(code, message, { ...details, cause, sent: attempt.sent });
}

/** True if the port may expect TLS: it was sent plain HTTP, and has never responded to that. */
function mayBeTls({ url, hasResponded }: Attempt): boolean {
  return url.protocol === 'http:' && !hasResponded;
}

/** What to do about an error: advice, or facts about the attempt. */
type Remedy = string | ((attempt: Attempt) => string | Facts);

function factsFor(remedy: Remedy | undefined, attempt: Attempt): string | Facts | undefined {
  return typeof remedy === 'function' ? remedy(attempt) : remedy;
}

const ASK = 'try again later, or ask the administrators of the server';
const CHECK_HOST: Remedy = ({ of }) => ({ kind: 'check-address', of, part: 'host' });
const CHECK_PORT: Remedy = ({ of }) => {
  return { kind: 'check-address', of, part: 'port', more: 'the server may also be down' };
};
const CHECK_SCHEME: Remedy = ({ of }) => ({ kind: 'check-address', of, part: 'scheme and port' });
const CHECK_NAME_SERVERS = 'check the network and the name servers of this machine';
const CHECK_NETWORK = 'check the network of this machine: firewall, VPN, proxy';
/** The certificate authority is not trusted. */
const TRUST: Remedy = ({ of, hasCa }) => ({ kind: 'untrusted', of, hasOthers: hasCa });
const RENEW_CERTIFICATE =
  'check the clock of this machine, or ask the administrators of the server to renew the certificate';

interface TlsRow {
  readonly pattern: RegExp;
  readonly remedy: Remedy;
  /** Instead of OpenSSL's words. */
  readonly reason?: string;
}

/** By code or, as OpenSSL gives some errors none, by message; the first that matches counts. */
const TLS_ERRORS: readonly TlsRow[] = [
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
    remedy: CHECK_SCHEME,
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
    pattern: /_TOO_WEAK|_TOO_SMALL|PURPOSE|INVALID_CA|REVOKED/,
    remedy: 'ask the administrators of the server for another certificate',
  },
];

/** Of a server that wants a client certificate, which TLS 1.3 says only after the handshake. */
export const CLIENT_CERTIFICATE = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

/** ERR_… and EPROTO are of Node, the others are OpenSSL's results of verifying a certificate. */
const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME|INVALID|PATH|CA|EE|UNSPECIFIED)(_|$)/;

export function isTlsError({ code = '' }: NodeJS.ErrnoException): boolean {
  return TLS_CODES.test(code);
}

function tlsRowOf({ code, message }: NodeJS.ErrnoException): TlsRow | undefined {
  // EPROTO has OpenSSL's words in its message: `wrong version number`.
  const words = `${code} ${message}`.toUpperCase().replaceAll(' ', '_');
  return TLS_ERRORS.find(({ pattern }) => pattern.test(words));
}

function tlsFailure(cause: NodeJS.ErrnoException, attempt: Attempt): Failure {
  const message = `no trusted TLS connection to ${attempt.url.host}: ${reasonOf(cause)}`;
  const { remedy = ASK } = tlsRowOf(cause) ?? {};
  return { code: 'tls', message, facts: factsFor(remedy, attempt) };
}

/** Returns undefined if the request and what was received were valid HTTP. */
function protocolFailure(cause: NodeJS.ErrnoException, attempt: Attempt): Failure | undefined {
  const { code = '' } = cause;
  const { origin } = attempt.url;
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
  const isAlert = mayBeTls(attempt) && 'data' in cause && `${cause.data}`.startsWith('\x15\x03');
  const facts: Facts = isAlert
    ? { kind: 'needs-tls', of: attempt.of }
    : { kind: 'check-address', of: attempt.of, part: 'host and port' };
  return { code: 'bad-answer', message, facts };
}

/** Also after a 100 or 101 that was not asked for: undici cannot read what follows. */
function isInvalidHttp({ name, code = '', message }: NodeJS.ErrnoException): boolean {
  const isUnasked = message === 'bad response' || message === 'bad upgrade';
  return name === 'HTTPParserError' || code.startsWith('HPE_') || isUnasked;
}

interface NetworkRow {
  readonly reason: string;
  readonly remedy?: Remedy;
  /** False if a retry would fail in the same way; default true. */
  readonly transient?: boolean;
  /** What the server did, for messages that do not say `cannot reach`. */
  readonly deed?: string;
}

const CLOSED: NetworkRow = {
  reason: 'the connection was closed',
  deed: 'closed the connection without a complete response',
  remedy(attempt) {
    return mayBeTls(attempt) ? { kind: 'needs-tls', of: attempt.of, otherwise: ASK } : ASK;
  },
};
const CLIENT_CLOSED: NetworkRow = { reason: 'the client is closed', transient: false };

/** By the code of the system or of undici. */
const NETWORK_ERRORS: ReadonlyMap<string, NetworkRow> = new Map([
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

function networkRowOf({ code = '' }: NodeJS.ErrnoException): NetworkRow {
  const unknown: NetworkRow = { reason: code || 'the connection failed', remedy: ASK };
  return NETWORK_ERRORS.get(code) ?? unknown;
}

function connectionFailure(cause: NodeJS.ErrnoException, attempt: Attempt): Failure {
  const { origin } = attempt.url;
  const { reason, deed, remedy, transient = true } = networkRowOf(cause);
  const message = deed ? `${origin} ${deed}` : `cannot reach ${origin}: ${reason}`;
  // Once there was a connection, the route was right.
  const routeAdvice = attempt.sent ? undefined : attempt.proxyAdvice;
  const facts = routeAdvice ?? factsFor(remedy, attempt);
  return { code: 'unreachable', message, facts, transient };
}

/** True if the network failed, so that a retry may succeed. */
export function isTransient(error: NodeJS.ErrnoException): boolean {
  const { transient = true } = networkRowOf(error);
  return transient && !isTlsError(error) && !isInvalidHttp(error) && !isDefect(error);
}

export function reasonOf(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  if (isInvalidHttp(error)) return 'its response is not HTTP';
  if (!isTlsError(error)) return networkRowOf(error).reason;
  // Some versions of Node append advice on how to start Node.
  const [problem = error.message] = error.message.split('; if the root CA');
  return tlsRowOf(error)?.reason ?? error.reason ?? problem;
}

export function timeoutError(
  { method, url, timeout, body }: HttpRequest,
  { of, proxyAdvice }: Endpoint,
  waitingFor: string,
  sent: boolean,
): TransportError {
  const missing = body ? 'no progress' : 'no complete response';
  const message = `${method} ${url.origin}${url.pathname}: ${missing} within ${timeout / 1000} s, still ${waitingFor}`;
  const facts: Facts = { kind: 'timeout', of, milliseconds: timeout };
  return new TransportError('timeout', message, { facts: (!sent && proxyAdvice) || facts, sent });
}

/** @param heldBytes of this response alone */
export function tooLargeText(
  { origin, pathname }: URL,
  maxBytes: number,
  heldBytes: number,
): string {
  const limit = `larger than ${maxBytes / 2 ** 20} MiB`;
  return heldBytes > maxBytes
    ? `the response from ${origin}${pathname} is ${limit}`
    : `responses from ${origin} are ${limit} in total`;
}
