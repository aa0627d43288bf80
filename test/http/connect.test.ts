// Tests connections: trusted certificates, and closing.

import http2 from 'node:http2';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { clientOf, GET, PATCH, proxyFor } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { listen, tunnelTo } from '../support/sockets.ts';

const HERE = selfSigned('127.0.0.1');
const ELSEWHERE = selfSigned('images.example.com');
const SCRIPT = { 'GET /v2': { json: 1 } };

describe('a TLS connection', () => {
  it.each([
    ['an unknown authority', HERE, undefined, 'ca-file'],
    ['another authority than the added one', HERE, ELSEWHERE.cert, 'ca-file'],
    ['another host', ELSEWHERE, ELSEWHERE.cert, 'check the host of the base URL'],
  ])('fails without a request or retry if the certificate is of %s', async (...row) => {
    const [, identity, ca, hint] = row;
    const server = await scriptedServer({}, identity);
    for (const request of [GET, PATCH]) {
      const { client, sleeps } = clientOf(server.baseUrl, { ca });
      const error = await failure(client.send(request));
      expect([error.code, error.exitCode, sleeps]).toEqual(['tls', 3, []]);
      const { host } = new URL(server.baseUrl);
      expect(error.message).toContain(`no trusted TLS connection to ${host}`);
      expect(error.hint).toContain(hint);
    }
    expect(server.requests).toEqual([]);
  });

  const http2Only = () => listen(http2.createSecureServer(HERE) as unknown as net.Server);
  it.each([
    ['plain HTTP', () => scriptedServer({}), /does not speak TLS/, /the port of the base URL/],
    ['HTTP/2', http2Only, /ALERT_NO_APPLICATION_PROTOCOL/, /^the server must support HTTP\/1\.1/],
  ] as const)('fails with a hint if the server speaks only %s', async (_, start, text, advice) => {
    const url = (await start()).baseUrl.replace('http:', 'https:');
    const error = await failure(clientOf(url, { ca: HERE.cert }).client.send(GET));
    expect(error.code).toBe('tls');
    expect(error.message).toMatch(text);
    expect(error.hint).toMatch(advice);
  });

  it.each([
    ['images.example.com', 'images.example.org'],
    ['192.0.2.7', '192.0.2.8'],
  ])('through a proxy checks the certificate for %s, not %s', async (host, other) => {
    const identity = selfSigned(host);
    const server = await scriptedServer(SCRIPT, identity);
    const proxy = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', server.baseUrl);
    const options = { proxy: proxyFor(`https://${host}`, proxy.baseUrl), ca: identity.cert };
    expect(await clientOf(`https://${host}`, options).client.serviceRoot()).toBe(1);
    expect(proxy.heads[0]).toContain(`CONNECT ${host}:443 `);
    const error = await failure(clientOf(`https://${other}`, options).client.send(GET));
    expect(error.code).toBe('tls');
    expect(server.requests).toHaveLength(1);
  });
});

it('close ends a connection that is still being opened', async () => {
  // The server never speaks, so the TLS handshake does not end.
  const silent = net.createServer();
  const accepted = new Promise<net.Socket>((resolve) => silent.once('connection', resolve));
  const { baseUrl } = await listen(silent);
  const abort = new AbortController();
  const { client } = clientOf(baseUrl.replace('http:', 'https:'), { signal: abort.signal });
  const sent = client.send(GET).catch((error: Error) => error.message);
  const socket = (await accepted).on('error', () => {}).resume();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  abort.abort(new Error('stop'));
  expect(await sent).toBe('stop');
  await client.close();
  await closed;
});
