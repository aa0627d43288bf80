// Errors of a request that got no usable response: the network's error codes in plain words.

import { type ErrorCode, type ErrorDetails, ImgctlError } from '../errors.ts';
import type { Endpoint, HttpRequest } from './message.ts';

interface TransportErrorDetails extends ErrorDetails {
  /** The request may have reached the server. */
  readonly sent: boolean;
  /** The network failed, so a retry may succeed [false]. */
  readonly transient?: boolean;
}

/** A request that got no usable response. */
export class TransportError extends ImgctlError {
  readonly sent: boolean;
  readonly transient: boolean;

  constructor(code: ErrorCode, message: string, details: TransportErrorDetails) {
    super(code, message, details);
    this.sent = details.sent;
    this.transient = details.transient ?? false;
  }
}

/** The other side closed the connection before it was open. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the connection was closed while it was being opened');
  }
}

interface NetworkError {
  readonly reason: string;
  readonly hint: (endpoint: Endpoint) => string | undefined;
  /** A retry would fail in the same way. */
  readonly lasting?: true;
}

const checkHost = ({ name, show }: Endpoint) => `check the host of ${name}: ${show}`;
const checkPort = ({ name, show }: Endpoint) => `check the port of ${name}: ${show}`;
const checkNetwork = () => 'check the network of this machine: firewall, VPN, proxy';
const askAdministrators = () => 'try again later, or ask the administrators of the service';

const CLOSED = { reason: 'the connection was closed', hint: askAdministrators };
const NOT_HTTP = { reason: 'its response is not HTTP', hint: checkPort, lasting: true } as const;
const CLIENT_CLOSED = {
  reason: 'the client is closed',
  hint: () => undefined,
  lasting: true,
} as const;

const NETWORK_ERRORS: ReadonlyMap<string, NetworkError> = new Map<string, NetworkError>([
  ['ECONNREFUSED', { reason: 'the connection was refused', hint: checkPort }],
  ['ENOTFOUND', { reason: 'unknown host name', hint: checkHost, lasting: true }],
  [
    'EAI_AGAIN',
    {
      reason: 'the host name lookup failed',
      hint: () => 'check the network and the name servers of this machine',
    },
  ],
  ['EHOSTUNREACH', { reason: 'the host is unreachable', hint: checkNetwork }],
  ['ENETUNREACH', { reason: 'the network is unreachable', hint: checkNetwork }],
  ['ETIMEDOUT', { reason: 'the connection timed out', hint: checkNetwork }],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  [
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    { reason: 'the response is incomplete', hint: askAdministrators },
  ],
  ['UND_ERR_CLOSED', CLIENT_CLOSED],
  ['UND_ERR_DESTROYED', CLIENT_CLOSED],
]);

const CERTIFICATE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;

export const RENEW_CERTIFICATE =
  'check the clock of this machine, or ask the administrators of the service to renew the certificate';

const HTTP_1 = 'the service must support HTTP/1.1: ask its administrators';

/** Certificate errors that another certificate authority would not fix. */
const CERTIFICATE_HINTS: readonly (readonly [RegExp, (endpoint: Endpoint) => string])[] = [
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH/, checkHost],
  [/EXPIRED|NOT_YET_VALID/, () => RENEW_CERTIFICATE],
  [/NO_APPLICATION_PROTOCOL/, () => HTTP_1],
  [/PROTOCOL/, () => 'the service must support TLS 1.2 or later: ask its administrators'],
];

export function isCertificateError(code: string): boolean {
  return CERTIFICATE.test(code);
}

/** Converts what undici, Node or the connector threw. The cause is kept for --debug and never shown. */
export function networkError(
  { url }: HttpRequest,
  cause: Error,
  sent: boolean,
  endpoint: Endpoint,
): TransportError {
  // A proxy's refusal is complete already.
  if (cause instanceof TransportError) return cause;
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  if (code === 'UND_ERR_INVALID_ARG') {
    const hint = 'check the method, the path and the token for invalid characters';
    return new TransportError('usage', `not a valid HTTP request: ${cause.message}`, {
      hint,
      cause,
      sent,
    });
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    const hint = `check the scheme and the port of ${endpoint.name}: ${endpoint.show}`;
    return new TransportError('tls', `${url.host} does not speak TLS`, { hint, cause, sent });
  }
  if (isCertificateError(code)) {
    const known = CERTIFICATE_HINTS.find(([codes]) => codes.test(code))?.[1];
    const hint = known?.(endpoint) ?? trustHint(endpoint);
    const message = code.endsWith('NO_APPLICATION_PROTOCOL')
      ? `${url.host} speaks only HTTP/2: ALPN failed (${code})`
      : `no trusted TLS connection to ${url.host}: ${code}`;
    return new TransportError('tls', message, { hint, cause, sent });
  }
  if (speaksHttp2(cause)) {
    const message = `${url.host} speaks only HTTP/2`;
    return new TransportError('bad-answer', message, { hint: HTTP_1, cause, sent });
  }
  const overflow = code === 'UND_ERR_HEADERS_OVERFLOW';
  if (cause.name === 'HTTPParserError' || overflow) {
    const detail = overflow ? ': too many headers' : code === '' ? '' : `: ${code}`;
    const hint = `check the host and the port of ${endpoint.name}: ${endpoint.show}`;
    const message = `${url.origin} did not send a valid HTTP response${detail}`;
    return new TransportError('bad-answer', message, { hint, cause, sent });
  }
  const { reason, hint, lasting = false } = describe(cause);
  return new TransportError('unreachable', `cannot reach ${url.origin}: ${reason}`, {
    hint: hint(endpoint),
    cause,
    sent,
    transient: !lasting,
  });
}

/** True if the response begins with a SETTINGS or GOAWAY frame of HTTP/2 (RFC 9113, section 4.1). */
function speaksHttp2(error: Error & { data?: unknown }): boolean {
  return error.name === 'HTTPParserError' && /^\0\0.[\x04\x07]\0{5}/s.test(`${error.data}`);
}

export function trustHint({ trust }: Endpoint): string {
  return `for a private certificate authority: ${trust}`;
}

function describe(error: NodeJS.ErrnoException): NetworkError {
  if (error instanceof ConnectionClosed) return CLOSED;
  const { code = '', name } = error;
  if (name === 'HTTPParserError' || /^HPE_/.test(code)) return NOT_HTTP;
  const reason = code || 'the connection failed';
  return NETWORK_ERRORS.get(code) ?? { reason, hint: askAdministrators };
}

/** Describes a network error in words, or by its code if it is unknown. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  return describe(error).reason;
}

/** @param waitingFor what the request was waiting for */
export function timeoutError(
  { method, url, timeout, body }: HttpRequest,
  waitingFor: string,
  sent: boolean,
  { name, show }: Endpoint,
): TransportError {
  const request = `${method} ${url.origin}${url.pathname}`;
  const missing = body ? 'no progress' : 'no complete response';
  const message = `${request}: ${missing} within ${timeout / 1000} s, still ${waitingFor}`;
  const hint = `allow more time with --timeout 60s, or check ${name}: ${show}`;
  return new TransportError('timeout', message, { hint, sent });
}

/** @param excess the limit, and whether this response alone exceeds it */
export function tooLargeError(
  { url }: HttpRequest,
  status: number,
  { maxBytes, isAlone }: { readonly maxBytes: number; readonly isAlone: boolean },
  { reduce: hint }: Endpoint,
): TransportError {
  const limit = `${maxBytes / 2 ** 20} MiB`;
  const message = isAlone
    ? `the response of ${url.origin}${url.pathname} is larger than ${limit}`
    : `responses from ${url.origin} are larger than ${limit} together`;
  return new TransportError('bad-answer', message, { hint, status, sent: true });
}

export function decodeError(
  { url }: HttpRequest,
  status: number,
  cause: Error,
  { name, show }: Endpoint,
): TransportError {
  const message = `cannot decode the response of ${url.origin}${url.pathname}`;
  const hint = `check that ${name} is correct: ${show}`;
  return new TransportError('bad-answer', message, { hint, status, cause, sent: true });
}
