// TLS: only a trusted certificate for the right host will do, directly and through a proxy.

import { expect, it, onTestFinished, vi } from 'vitest';
import { SERVICE } from '../../src/api/client.ts';
import { networkError } from '../../src/http/errors.ts';
import { selfSigned } from '../support/certificate.ts';
import { clientOf, GET, PATCH } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';

const HERE = selfSigned('127.0.0.1');
const ELSEWHERE = selfSigned('images.example.com');

it('takes a certificate of an authority that was added', async () => {
  const server = await scriptedServer({ 'GET /v2': { json: 1 } }, HERE);
  const { client } = clientOf(server.baseUrl, { ca: HERE.cert });
  expect(await client.serviceRoot()).toBe(1);
});

it.each([
  ['an unknown authority', HERE, undefined, 'ca-file'],
  ['another unknown authority', HERE, ELSEWHERE.cert, 'ca-file'],
  ['another host', ELSEWHERE, ELSEWHERE.cert, 'check the host of the base URL'],
])('sends nothing to one of %s, and tries once', async (_, identity, ca, hint) => {
  const server = await scriptedServer({}, identity);
  for (const request of [GET, PATCH]) {
    const { client, sleeps } = clientOf(server.baseUrl, { ca });
    const error = await failure(client.send(request));
    expect([error.code, error.exitCode]).toEqual(['tls', 3]);
    expect(error.message).toContain(`no trusted TLS connection to ${new URL(server.baseUrl).host}`);
    expect(error.hint).toContain(hint);
    expect(sleeps).toEqual([]);
  }
  expect(server.requests).toEqual([]);
});

it.each([
  ['CERT_HAS_EXPIRED', 'check the clock of this machine'],
  ['CERT_NOT_YET_VALID', 'check the clock of this machine'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS 1.2 or later'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'TLS 1.2 or later'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'ca-file'],
])('%s: the hint is one that helps', (code, hint) => {
  const url = new URL('https://images.example.com/v2');
  const { signal } = new AbortController();
  const request = { method: 'GET', url, headers: {}, timeout: 1, signal };
  const error = networkError(request, Object.assign(new Error(), { code }), false, SERVICE);
  expect([error.code, error.hint]).toEqual(['tls', expect.stringContaining(hint)]);
});

it('verifies whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
  const server = await scriptedServer({}, HERE);
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const { client } = clientOf(server.baseUrl);
  expect((await failure(client.send(GET))).code).toBe('tls');
  expect(server.requests).toEqual([]);
});

it('does not talk TLS with a server of plain HTTP', async () => {
  const server = await scriptedServer({});
  const { client } = clientOf(server.baseUrl.replace('http:', 'https:'));
  const error = await failure(client.send(GET));
  expect([error.code, error.message]).toEqual([
    'tls',
    expect.stringMatching(/does not speak TLS$/),
  ]);
  expect(error.hint).toContain('the port of the base URL');
});

it('checks the certificate of the service, not of the proxy', async () => {
  const server = await scriptedServer({ 'GET /v2': { json: 1 } }, ELSEWHERE);
  const proxy = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', server.baseUrl);
  const options = { proxy: new URL(proxy.baseUrl), ca: ELSEWHERE.cert };
  expect(await clientOf('https://images.example.com', options).client.serviceRoot()).toBe(1);
  expect(proxy.heads[0]).toContain('CONNECT images.example.com:443 ');
  const error = await failure(clientOf('https://images.example.org', options).client.send(GET));
  expect(error.code).toBe('tls');
  expect(server.requests).toHaveLength(1);
});

it('checks the certificate of an address behind a proxy', async () => {
  const identity = selfSigned('192.0.2.7');
  const server = await scriptedServer({ 'GET /v2': { json: 1 } }, identity);
  const proxy = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', server.baseUrl);
  const options = { proxy: new URL(proxy.baseUrl), ca: identity.cert };
  expect(await clientOf('https://192.0.2.7', options).client.serviceRoot()).toBe(1);
  const error = await failure(clientOf('https://192.0.2.8', options).client.send(GET));
  expect(error.code).toBe('tls');
  expect(server.requests).toHaveLength(1);
});
