// Tests the errors and hints for error codes of the network, TLS and the client itself.

import { expect, it } from 'vitest';
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
    transient: false,
  };
  expect(toTransportError(defect, attempt)).toMatchObject(expected);
  expect(isTransient(defect)).toBe(false);
});

it.each([
  ['ECONNREFUSED', 'the connection was refused', /port of the base URL/, true],
  ['ENOTFOUND', 'unknown host name', /host of the base URL/, false],
  ['EAI_AGAIN', 'the host name lookup failed', /name servers/, true],
  ['EHOSTUNREACH', 'the host is unreachable', /firewall/, true],
  ['ENETUNREACH', 'the network is unreachable', /firewall/, true],
  ['ETIMEDOUT', 'the connection timed out', /firewall/, true],
  ['constructor', 'constructor', /try again later/, true],
  ['', 'the connection failed', /try again later/, true],
  ['UND_ERR_CLOSED', 'the client is closed', /^$/, false],
  ['UND_ERR_DESTROYED', 'the client is closed', /^$/, false],
])('the network error %j has the reason "%s" and a hint', (code, reason, hint, transient) => {
  const message = `cannot reach https://images.example: ${reason}`;
  expect(errorOf(code)).toMatchObject({ code: 'unreachable', message, transient });
  // Through a proxy too.
  expect(isTransient(Object.assign(new Error(), { code }))).toBe(transient);
  expect(hintOf(errorOf(code)) ?? '').toMatch(hint);
});

it.each([
  [false, /^set HTTPS_PROXY$/, /^set HTTPS_PROXY$/],
  [true, /firewall/, /--timeout/],
])('a timeout (request sent: %s) has the hint %s, and one of imgctl itself %s', (...row) => {
  const [sent, hint, ownHint] = row;
  const endpoint = { ...ENDPOINT, proxyAdvice: 'set HTTPS_PROXY' };
  expect(hintOf(errorOf('ETIMEDOUT', sent, endpoint))).toMatch(hint);
  const { signal } = new AbortController();
  const request = { method: 'GET', url, headers: {}, timeout: 1_000, signal };
  expect(hintOf(timeoutError(request, endpoint, 'waiting', sent))).toMatch(ownHint);
});

it.each([
  ['CERT_HAS_EXPIRED', 'by the system', 'check the clock of this machine'],
  ['CERT_NOT_YET_VALID', 'by the system', 'check the clock of this machine'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'by the system', 'TLS 1.2 or later'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'by the system', 'HTTP/1.1'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'by the system', 'TLS 1.2 or later'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another host name', 'check the host'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'by the system', 'ca-file'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'unknown certificate authority', 'ca-file'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'unknown certificate authority', 'ca-file'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unknown certificate authority', 'ca-file'],
  ['CERT_REVOKED', 'by the system', 'another certificate'],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'by the system', 'check the host'],
  ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'by the system', 'try again later'],
  ['CERT_SIGNATURE_FAILURE', 'by the system', 'ca-file'],
])('%s is the TLS error "%s" with the hint "%s"', (code, reason, hint) => {
  const message = `no trusted TLS connection to images.example: ${reason}`;
  expect(errorOf(code)).toMatchObject({ code: 'tls', message });
  expect(hintOf(errorOf(code))).toContain(hint);
});

it('EPROTO is the TLS error that its message names', () => {
  const message =
    'write EPROTO 00:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:';
  const error = errorOf('EPROTO', false, ENDPOINT, message);
  expect(error.message).toMatch(/: the port does not speak TLS$/);
  expect(hintOf(error)).toContain('check the scheme and port');
});

it.each([
  ['/v2', 'https://other.example/svc/v2/', 'moved'],
  ['/v2', '/svc/v2', 'moved'],
  ['/v2', '/v2/?next=1', 'advice'],
  ['/v2', 'https://other.example/', 'check-address'],
  ['/', 'https://other.example/', 'moved'],
  ['/', 'https://portal.example/login', 'check-address'],
])('a redirect of %s to %s has the facts %s', (from, location, kind) => {
  const request = { method: 'GET', url: new URL(from, url), endpoint: ENDPOINT };
  const received = { status: 302, headers: { location }, body: Buffer.of() };
  const error = redirectError({ ...request, ...received, wireBytes: 0, receivedAt: 0 });
  expect(error.facts).toMatchObject({ kind });
});
