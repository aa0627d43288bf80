// Tests the errors and hints for error codes of the network, TLS and the client itself.

import { expect, it } from 'vitest';
import { SERVICE } from '../../src/api/client.ts';
import { networkError } from '../../src/http/errors.ts';

const REQUEST = {
  method: 'GET',
  url: new URL('https://images.example/v2'),
  headers: {},
  timeout: 1_000,
  signal: new AbortController().signal,
};

function errorOf(systemCode: string) {
  const thrown = Object.assign(new Error('by the system'), { code: systemCode });
  return networkError(REQUEST, thrown, false, SERVICE);
}

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
  expect(errorOf(code).hint ?? '').toMatch(hint);
});

it.each([
  ['CERT_HAS_EXPIRED', 'check the clock of this machine'],
  ['CERT_NOT_YET_VALID', 'check the clock of this machine'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS 1.2 or later'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'must support HTTP/1.1'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'TLS 1.2 or later'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'ca-file'],
])('%s is a TLS error with the hint "%s"', (code, hint) => {
  expect(errorOf(code)).toMatchObject({ code: 'tls', hint: expect.stringContaining(hint) });
});
