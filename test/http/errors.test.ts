// Tests the errors and hints for error codes of the network, TLS and the client itself.

import { expect, it } from 'vitest';
import { advice } from '../../src/facts.ts';
import { isTransient, timeoutError, toTransportError } from '../../src/http/errors.ts';
import type { Endpoint } from '../../src/http/message.ts';
import { redirectError } from '../../src/http/redirects.ts';
import { ENDPOINT } from '../support/client.ts';
import { hintOf } from '../support/errors.ts';

const url = new URL('https://images.example/v2');

/** As Node 24 says it. */
const MESSAGE =
  'by the system; if the root CA is installed locally, try running Node.js with --use-system-ca';

function errorOf(
  systemCode: string,
  sent = false,
  endpoint: Endpoint = ENDPOINT,
  message = MESSAGE,
) {
  const thrown = Object.assign(new Error(message), { code: systemCode });
  const attempt = { ...endpoint, url, sent, hasCa: false, hasResponded: false };
  return toTransportError(thrown, attempt);
}

it('a defect of imgctl is no error of the network, and is not retried', () => {
  const attempt = { ...ENDPOINT, url, sent: false, hasCa: false, hasResponded: false };
  const defect = new TypeError('x is not a function');
  const expected = {
    code: 'failed',
    message: `unexpected error: ${defect.message}`,
    facts: advice('run the command again with --debug to see the stack trace'),
    transient: false,
  };
  expect(toTransportError(defect, attempt)).toMatchObject(expected);
  expect(isTransient(defect)).toBe(false);
});

const HOST = 'check the host of the base URL: imgctl config get base-url';
const NETWORK = 'check the network of this machine: firewall, VPN, proxy';
const LATER = 'try again later, or ask the administrators of the server';
const DOWN =
  'check the port of the base URL: imgctl config get base-url; the server may also be down';

it.each([
  ['ECONNREFUSED', 'the connection was refused', DOWN, true],
  ['ENOTFOUND', 'unknown host name', HOST, false],
  [
    'EAI_AGAIN',
    'the host name lookup failed',
    'check the network and the name servers of this machine',
    true,
  ],
  ['EHOSTUNREACH', 'the host is unreachable', NETWORK, true],
  ['ENETUNREACH', 'the network is unreachable', NETWORK, true],
  ['ETIMEDOUT', 'the connection timed out', NETWORK, true],
  ['constructor', 'constructor', LATER, true],
  ['', 'the connection failed', LATER, true],
  ['UND_ERR_CLOSED', 'the client is closed', undefined, false],
  ['UND_ERR_DESTROYED', 'the client is closed', undefined, false],
])('the network error %j has the reason "%s" and a hint', (code, reason, hint, transient) => {
  const message = `cannot reach https://images.example: ${reason}`;
  expect(errorOf(code)).toMatchObject({ code: 'unreachable', message, transient });
  // Through a proxy too.
  expect(isTransient(Object.assign(new Error(), { code }))).toBe(transient);
  expect(hintOf(errorOf(code))).toBe(hint);
});

const LOST = 'https://images.example closed the connection without a complete response';
it.each([
  [
    'UND_ERR_INVALID_ARG',
    'usage',
    'not a valid HTTP request: by the system',
    'check the method, the path and the token for invalid characters',
  ],
  [
    'UND_ERR_HEADERS_OVERFLOW',
    'bad-answer',
    'https://images.example sent headers of more than 16 KiB',
    'ask the administrators of the server for shorter headers, such as cookies',
  ],
  [
    'HPE_INVALID_VERSION',
    'bad-answer',
    'https://images.example did not send a valid HTTP response: HPE_INVALID_VERSION',
    'check the host and port of the base URL: imgctl config get base-url',
  ],
  ['ECONNRESET', 'unreachable', LOST, LATER],
  ['EPIPE', 'unreachable', LOST, LATER],
  ['UND_ERR_SOCKET', 'unreachable', LOST, LATER],
])('the error %s of HTTP is %s: %s', (systemCode, code, message, hint) => {
  const error = errorOf(systemCode, true, ENDPOINT, 'by the system');
  expect(error).toMatchObject({ code, message, sent: true, cause: { code: systemCode } });
  expect(hintOf(error)).toBe(hint);
});

it.each([
  [false, 'set HTTPS_PROXY', 'set HTTPS_PROXY'],
  [
    true,
    NETWORK,
    'allow more time with --timeout 3s, or check the base URL: imgctl config get base-url',
  ],
])('a timeout (request sent: %s) has the hint %s, and one of imgctl itself %s', (...row) => {
  const [sent, hint, ownHint] = row;
  const endpoint = { ...ENDPOINT, proxyAdvice: 'set HTTPS_PROXY' };
  expect(hintOf(errorOf('ETIMEDOUT', sent, endpoint))).toBe(hint);
  const { signal } = new AbortController();
  const request = { method: 'GET', url, headers: {}, timeout: 1_500, signal };
  const error = timeoutError(request, endpoint, 'waiting', sent);
  const message = 'GET https://images.example/v2: no complete response within 1.5 s, still waiting';
  expect(error).toMatchObject({ code: 'timeout', message, sent });
  expect(hintOf(error)).toBe(ownHint);
  const body = { length: 1, chunks: async function* () {} };
  const upload = timeoutError({ ...request, body }, endpoint, 'sending', sent);
  expect(upload.message).toContain(': no progress within 1.5 s, still sending');
});

const CLOCK =
  'check the clock of this machine, or ask the administrators of the server to renew the certificate';
const OLD_TLS = 'the server must support TLS 1.2 or later: ask its administrators';
const CIPHERS = 'ask the administrators of the server to allow ECDHE with AES-GCM';
const CLIENT_ONLY = 'the server requires a client certificate, which imgctl cannot send';
const NO_CLIENT = 'ask the administrators of the server for an address without client certificates';
const ANOTHER = 'ask the administrators of the server for another certificate';
const AUTHORITY = 'for a private certificate authority: imgctl config set ca-file /path/to/ca.pem';

it.each([
  ['ERR_SSL_NO_SHARED_CIPHER', 'no cipher in common', CIPHERS],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', CLIENT_ONLY, NO_CLIENT],
  ['CERT_HAS_EXPIRED', 'by the system', CLOCK],
  ['CERT_NOT_YET_VALID', 'by the system', CLOCK],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'by the system', OLD_TLS],
  [
    'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
    'by the system',
    'the server must support HTTP/1.1: ask its administrators',
  ],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'by the system', OLD_TLS],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another host name', HOST],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'by the system', AUTHORITY],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'unknown certificate authority', AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unknown certificate authority', AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unknown certificate authority', AUTHORITY],
  ['CERT_REVOKED', 'by the system', ANOTHER],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'by the system', HOST],
  ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'by the system', LATER],
  ['CERT_SIGNATURE_FAILURE', 'by the system', AUTHORITY],
  ['CERT_UNTRUSTED', 'by the system', AUTHORITY],
  ['HOSTNAME_MISMATCH', 'the certificate is for another host name', HOST],
  ['ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY', 'no cipher in common', CIPHERS],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'no cipher in common', CIPHERS],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', CLIENT_ONLY, NO_CLIENT],
  ['ERR_SSL_CA_KEY_TOO_SMALL', 'by the system', ANOTHER],
  ['ERR_SSL_CA_MD_TOO_WEAK', 'by the system', ANOTHER],
  ['INVALID_PURPOSE', 'by the system', ANOTHER],
  ['INVALID_CA', 'by the system', ANOTHER],
])('%s is the TLS error "%s" with the hint "%s"', (code, reason, hint) => {
  const message = `no trusted TLS connection to images.example: ${reason}`;
  expect(errorOf(code)).toMatchObject({ code: 'tls', message });
  expect(hintOf(errorOf(code))).toBe(hint);
});

it('EPROTO is the TLS error that its message names', () => {
  const message =
    'write EPROTO 00:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:';
  const error = errorOf('EPROTO', false, ENDPOINT, message);
  expect(error.message).toMatch(/: the port does not speak TLS$/);
  expect(hintOf(error)).toBe(
    'check the scheme and port of the base URL: imgctl config get base-url',
  );
});

const MOVED = 'if the service has moved: imgctl config set base-url URL';
const PORTAL =
  'check the base URL: imgctl config get base-url; a portal may have responded instead';

it.each([
  ['/v2', 'https://other.example/svc/v2/', MOVED],
  ['/v2', '/svc/v2', MOVED],
  ['/v2', '/v2/?next=1', 'ask the administrators of the service to accept /v2 without a redirect'],
  ['/v2', 'https://other.example/', PORTAL],
  ['/', 'https://other.example/', MOVED],
  ['/', 'https://portal.example/login', PORTAL],
])('a redirect of %s to %s has the hint %s', (from, location, hint) => {
  const request = { method: 'GET', url: new URL(from, url), endpoint: ENDPOINT };
  const received = { status: 302, headers: { location }, body: Buffer.of() };
  const error = redirectError({ ...request, ...received, wireBytes: 0, receivedAt: 0 });
  const { origin, pathname } = new URL(location, url);
  const message = `GET https://images.example${from} was redirected to ${origin}${pathname} (302); redirects are not followed`;
  expect(error).toMatchObject({ code: 'failed', status: 302, message });
  expect(hintOf(error)).toBe(hint);
});
