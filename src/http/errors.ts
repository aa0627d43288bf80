// Errors of a request that got no usable response: the network's error codes in plain words.

import { type ErrorCode, type ErrorDetails, ImgctlError } from '../errors.ts';
import { type AddressOf, advice, type Facts } from '../facts.ts';
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

type Part = NonNullable<Extract<Facts, { kind: 'check-address' }>['part']>;

type FactsOf = (of: AddressOf) => Facts | undefined;

const check =
  (part: Part): FactsOf =>
  (of) => ({ kind: 'check-address', of, part });
const always = (text: string): FactsOf => {
  const facts = advice(text);
  return () => facts;
};
const checkHost = check('host');
const mayBeDown: FactsOf = (of) => ({
  kind: 'check-address',
  of,
  part: 'port',
  more: 'the server may also be down',
});
const checkNetwork = always('check the network of this machine: firewall, VPN, proxy');
const checkNames = always('check the network and the name servers of this machine');
const ASK = 'try again later, or ask the administrators of the server';
const askAdministrators = always(ASK);

interface NetworkError {
  readonly reason: string;
  readonly factsOf: FactsOf;
  /** True if a retry would fail in the same way. */
  readonly isLasting?: boolean;
}

const CLOSED: NetworkError = { reason: 'the connection was closed', factsOf: askAdministrators };
const CLIENT_CLOSED: NetworkError = {
  reason: 'the client is closed',
  factsOf: () => undefined,
  isLasting: true,
};

/** By the code of the system or of undici. */
const NETWORK_ERRORS: ReadonlyMap<string, NetworkError> = new Map([
  ['ECONNREFUSED', { reason: 'the connection was refused', factsOf: mayBeDown }],
  ['ENOTFOUND', { reason: 'unknown host name', factsOf: checkHost, isLasting: true }],
  ['EAI_AGAIN', { reason: 'the host name lookup failed', factsOf: checkNames }],
  ['EHOSTUNREACH', { reason: 'the host is unreachable', factsOf: checkNetwork }],
  ['ENETUNREACH', { reason: 'the network is unreachable', factsOf: checkNetwork }],
  ['ETIMEDOUT', { reason: 'the connection timed out', factsOf: checkNetwork }],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['UND_ERR_CLOSED', CLIENT_CLOSED],
  ['UND_ERR_DESTROYED', CLIENT_CLOSED],
]);

const CERTIFICATE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_|CA_|EE_|UNSPECIFIED$|EPROTO)/;

/** The code of a server that wants a certificate of the client, which TLS 1.3 says only after the handshake. */
export const CLIENT_CERTIFICATE = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

const RENEW_CERTIFICATE =
  'check the clock of this machine, or ask the administrators of the server to renew the certificate';
const ANOTHER_CERTIFICATE = 'ask the administrators of the server for another certificate';

type TlsError = readonly [
  pattern: RegExp,
  /** undefined if another certificate authority would fix it. */
  factsOf: FactsOf | undefined,
  /** Instead of OpenSSL's words. */
  reason?: string,
];

/** By code or, as OpenSSL gives some errors no code of their own, by message; the first that matches counts. */
const TLS_ERRORS: readonly TlsError[] = [
  [/CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER|VERIFY)/, undefined, 'unknown certificate authority'],
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH/, checkHost, 'the certificate is for another host name'],
  [/EXPIRED|NOT_YET_VALID/, always(RENEW_CERTIFICATE)],
  [/NO_APPLICATION_PROTOCOL/, always('the server must support HTTP/1.1: ask its administrators')],
  [/PROTOCOL/, always('the server must support TLS 1.2 or later: ask its administrators')],
  [
    /ALERT_CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE/,
    always('ask the administrators of the server for an address without client certificates'),
    'the server requires a client certificate, which imgctl cannot send',
  ],
  [
    /ALERT_HANDSHAKE_FAILURE|INSUFFICIENT_SECURITY|NO_SHARED_CIPHER/,
    always('ask the administrators of the server to allow ECDHE with AES-GCM'),
    'no cipher in common',
  ],
  [/too weak|too small|_TOO_WEAK|_TOO_SMALL|PURPOSE|INVALID_CA/, always(ANOTHER_CERTIFICATE)],
  [
    /subtree|name constraint/i,
    always(ANOTHER_CERTIFICATE),
    'its certificate authority may not issue certificates for this name',
  ],
];

/** Returns nothing for an error that another certificate authority would fix, in OpenSSL's words. */
function readTlsError({ code, message }: NodeJS.ErrnoException) {
  const text = `${code} ${message}`;
  const [, factsOf, reason] = TLS_ERRORS.find(([pattern]) => pattern.test(text)) ?? [];
  return { factsOf, reason };
}

export const isCertificateError = (code: string) => CERTIFICATE.test(code);

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly facts: Facts | undefined;
  readonly transient?: boolean;
}

/** Converts what undici, Node or the connector threw. The cause is kept for --debug and never shown. */
export function networkError(
  { url }: HttpRequest,
  cause: Error & NodeJS.ErrnoException,
  sent: boolean,
  endpoint: Endpoint,
  { hasCa = false, hasResponded = false } = {},
): TransportError {
  const mayBeTls = url.protocol === 'http:' && !hasResponded;
  const { code, message, ...details } =
    tlsFailure(url, cause, endpoint, hasCa) ??
    protocolFailure(url, cause, endpoint, mayBeTls) ??
    connectionFailure(url, cause, endpoint, { sent, mayBeTls });
  return new TransportError(code, message, { ...details, cause, sent });
}

/** Returns undefined if the error is none of TLS. */
function tlsFailure(
  { host }: URL,
  cause: NodeJS.ErrnoException,
  { of }: Endpoint,
  hasOthers: boolean,
): Failure | undefined {
  const { code = '' } = cause;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    const message = `${host} does not speak TLS`;
    return { code: 'tls', message, facts: check('scheme and port')(of) };
  }
  if (!isCertificateError(code)) return undefined;
  const { factsOf } = readTlsError(cause);
  const facts: Facts | undefined = factsOf ? factsOf(of) : { kind: 'untrusted', of, hasOthers };
  const message = `no trusted TLS connection to ${host}: ${reasonOf(cause)}`;
  return { code: 'tls', message, facts };
}

/** Returns undefined if the request and what was received were valid HTTP. */
function protocolFailure(
  { origin }: URL,
  cause: NodeJS.ErrnoException,
  { of }: Endpoint,
  mayBeTls: boolean,
): Failure | undefined {
  const { code = '' } = cause;
  if (code === 'UND_ERR_INVALID_ARG') {
    const fix = 'check the method, the path and the token for invalid characters';
    const message = `not a valid HTTP request: ${cause.message}`;
    return { code: 'usage', message, facts: advice(fix) };
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    const fix = 'ask the administrators of the server for shorter headers, such as cookies';
    return badAnswer(`${origin} sent headers of more than 16 KiB`, advice(fix));
  }
  // undici cannot read what follows.
  const unasked = UNASKED.get(cause.message);
  if (code === 'UND_ERR_SOCKET' && unasked !== undefined) {
    const off = 'ask the administrators of the server, or of a proxy before it, to stop sending it';
    return badAnswer(`${origin} sent an unexpected ${unasked}`, advice(off));
  }
  if (cause.name !== 'HTTPParserError') return undefined;
  const message = `${origin} did not send a valid HTTP response${code && `: ${code}`}`;
  // As an alert of TLS begins.
  const isAlert = mayBeTls && 'data' in cause && `${cause.data}`.startsWith('\x15\x03');
  return badAnswer(message, isAlert ? { kind: 'needs-tls', of } : check('host and port')(of));
}

function badAnswer(message: string, facts: Facts | undefined): Failure {
  return { code: 'bad-answer', message, facts };
}

function connectionFailure(
  { origin }: URL,
  cause: NodeJS.ErrnoException,
  { of, route }: Endpoint,
  { sent, mayBeTls }: { readonly sent: boolean; readonly mayBeTls: boolean },
): Failure {
  const known = NETWORK_ERRORS.get(cause.code ?? '');
  const { factsOf, isLasting = false } = known ?? { factsOf: askAdministrators };
  const failure = { code: 'unreachable', transient: !isLasting } as const;
  if (known === CLOSED) {
    const message = `${origin} closed the connection without a complete response`;
    const facts: Facts | undefined = mayBeTls
      ? { kind: 'needs-tls', of, otherwise: ASK }
      : factsOf(of);
    return { ...failure, message, facts };
  }
  const message = `cannot reach ${origin}: ${reasonOf(cause)}`;
  // Once there was a connection, the route was right.
  const facts = sent || route === undefined ? factsOf(of) : advice(route);
  return { ...failure, message, facts };
}

const UNASKED = new Map([
  ['bad response', '100 Continue'],
  ['bad upgrade', '101 Switching Protocols'],
]);

/** True if the network failed, so that a retry may succeed. */
export function isTransient({ code = '' }: NodeJS.ErrnoException): boolean {
  const known = NETWORK_ERRORS.get(code);
  return known !== undefined && !known.isLasting;
}

export function reasonOf(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  const { code = '', name, message, reason } = error;
  if (name === 'HTTPParserError' || /^HPE_/.test(code)) return 'its response is not HTTP';
  // Some versions of Node append advice on how to start Node.
  const [problem = message] = message.split('; if the root CA');
  if (isCertificateError(code)) return readTlsError(error).reason ?? reason ?? problem;
  const known = NETWORK_ERRORS.get(code);
  if (known !== undefined) return known.reason;
  return code === '' ? 'the connection failed' : code;
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
