// Tests connections: trusted certificates, and closing.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Connector, trustOptions } from '../../src/http/connect.ts';
import { selfSigned } from '../support/certificate.ts';
import { clientOf, GET, PATCH, proxyFor } from '../support/client.ts';
import { failure, hintOf } from '../support/errors.ts';
import { temporaryDirectory } from '../support/io.ts';
import { missing, skipped } from '../support/requirements.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { listen, start, tunnelTo } from '../support/sockets.ts';

const NO_OPENSSL = missing('openssl');
/** Made in a millisecond; one of RSA may take a second. */
const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';

/** Makes an authority, and certificates for 127.0.0.1 that it or its intermediate one signs, with openssl. */
function authority() {
  const directory = temporaryDirectory();
  const openssl = (line: string) =>
    execFileSync('openssl', line.split(' '), { cwd: directory, stdio: 'ignore' });
  const file = (name: string) => readFileSync(path.join(directory, name), 'utf8');
  const issue = (name: string, issuer: string, digest = 'sha256', extensions = '') => {
    const names = `subjectAltName=IP:127.0.0.1\n${extensions}`;
    writeFileSync(path.join(directory, `${name}.ext`), names);
    openssl(`req ${NEW_KEY} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
    openssl(
      `x509 -req -in ${name}.csr -CA ${issuer}.pem -CAkey ${issuer}.key -CAcreateserial -out ${name}.pem -days 2 -${digest} -extfile ${name}.ext`,
    );
    return { key: file(`${name}.key`), cert: file(`${name}.pem`) };
  };
  const root = (name: string, more = '') => {
    openssl(
      `req -x509 ${NEW_KEY} -keyout ${name}.key -out ${name}.pem -days 2 -subj /CN=${name} -addext basicConstraints=critical,CA:TRUE${more}`,
    );
    return file(`${name}.pem`);
  };
  return { issue, root };
}

const HERE = selfSigned('127.0.0.1');
const ELSEWHERE = selfSigned('images.example.com');
const SCRIPT = { 'GET /v2': { json: 1 } };

it.each([
  ['localhost', 'localhost'],
  ['127.0.0.1', false],
])('a connection to %s is sent the server name %j over TLS', async (host, expected) => {
  const identity = selfSigned('localhost', '127.0.0.1');
  const names: unknown[] = [];
  const server = tls.createServer(identity, (socket) => {
    names.push(socket.servername);
    socket.destroy();
  });
  const { baseUrl } = await listen(server);
  const url = baseUrl.replace('127.0.0.1', host);
  const { client } = clientOf(url, { ca: identity.cert, retries: 0 });
  expect((await failure(client.send(GET))).code).toBe('unreachable');
  expect(names).toEqual([expected]);
});

describe('a TLS connection', () => {
  it.each([
    ['an unknown authority', HERE, undefined, 'ca-file'],
    ['another authority than the added one', HERE, ELSEWHERE.cert, 'ca-file'],
    ['another host', ELSEWHERE, ELSEWHERE.cert, 'check the host of the base URL'],
  ])('fails without a request or retry if the certificate is of %s', async (...row) => {
    const [, identity, ca, hint] = row;
    // The program removes it, but a program that uses the library may have it.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await scriptedServer({}, identity);
    for (const request of [GET, PATCH]) {
      const { client, sleeps } = clientOf(server.baseUrl, { ca });
      const error = await failure(client.send(request));
      expect({ code: error.code, exitCode: error.exitCode, sleeps }).toEqual({
        code: 'tls',
        exitCode: 3,
        sleeps: [],
      });
      const { host } = new URL(server.baseUrl);
      expect(error.message).toContain(`no trusted TLS connection to ${host}`);
      expect(hintOf(error)).toContain(hint);
    }
    expect(server.requests).toEqual([]);
  });

  it.skipIf(NO_OPENSSL)(
    `says in its own words what is wrong, and does not retry${skipped(NO_OPENSSL)}`,
    async () => {
      const { issue, root } = authority();
      const ca = root('root');
      const narrow = root(
        'narrow',
        ' -addext nameConstraints=critical,permitted;IP:10.0.0.0/255.0.0.0',
      );
      const good = issue('good', 'root');
      issue('middle', 'root', 'sha256', 'basicConstraints=critical,CA:TRUE\n');
      const wanting = { ...good, ca, requestCert: true };
      const sha1 = { ...issue('sha1', 'root', 'sha1'), ciphers: 'DEFAULT:@SECLEVEL=0' };
      const mail = issue('mail', 'root', 'sha256', 'extendedKeyUsage=clientAuth\n');
      const old = { ciphers: 'CAMELLIA256-SHA', maxVersion: 'TLSv1.2' } as const;
      const cases: readonly (readonly [string, tls.TlsOptions, RegExp, RegExp, string?])[] = [
        [
          'client 1.2',
          { ...wanting, maxVersion: 'TLSv1.2' },
          /client certificate/,
          /without client certificates$/,
        ],
        [
          'client 1.3',
          { ...wanting, minVersion: 'TLSv1.3' },
          /client certificate/,
          /without client certificates$/,
        ],
        ['cipher', { ...good, ...old }, /no cipher in common/, /AES-GCM/],
        ['SHA-1', sha1, /signature digest algorithm too weak$/, /another certificate/],
        ['purpose', mail, /purpose/, /another certificate/],
        ['name', issue('name', 'narrow'), /subtree/, /ask the administrators/, narrow],
        [
          'middle',
          issue('below', 'middle'),
          /unknown certificate authority/,
          /perhaps an intermediate one/,
        ],
      ];
      for (const [name, options, message, hint, trusted = ca] of cases) {
        let connections = 0;
        const server = https.createServer(options, (_, response) => response.end('1'));
        server.on('connection', () => {
          connections += 1;
        });
        const { baseUrl, close } = await start(server);
        onTestFinished(close);
        const { client, sleeps } = clientOf(baseUrl, { ca: trusted });
        const error = await failure(client.send(GET));
        expect({ name, error, connections, sleeps }).toMatchObject({
          error: { code: 'tls', message: expect.stringMatching(message) },
          ...{ name, connections: 1, sleeps: [] },
        });
        expect(hintOf(error)).toMatch(hint);
        await close();
        const { code } = await failure(client.send(GET));
        expect({ name, code }).toEqual({ name, code: 'unreachable' });
      }
    },
  );

  const http2Only = () => listen(http2.createSecureServer(HERE) as unknown as net.Server);
  const ALERT = Buffer.from('15030100020246', 'hex');
  it.each([
    ['closes the connection', () => listen(https.createServer(HERE))],
    ['sends an alert', () => listen(net.createServer((socket) => socket.write(ALERT)))],
  ])('is advised if a server that is sent plain HTTP %s', async (_, serve) => {
    const { baseUrl } = await serve();
    const { client } = clientOf(baseUrl.replace('https:', 'http:'), { retries: 0 });
    const error = await failure(client.send(GET));
    expect(hintOf(error)).toMatch(
      /^if the port expects TLS, use https in the base URL: imgctl config get/,
    );
  });

  it.each([
    ['plain HTTP', () => scriptedServer({}), /does not speak TLS/, /port of the base URL/],
    [
      'HTTP/2',
      http2Only,
      /: tlsv1 alert no application protocol$/,
      /^the server must support HTTP\/1\.1/,
    ],
  ] as const)('fails with a hint if the server speaks only %s', async (_, serve, text, advice) => {
    const url = (await serve()).baseUrl.replace('http:', 'https:');
    const error = await failure(clientOf(url, { ca: HERE.cert }).client.send(GET));
    expect(error.code).toBe('tls');
    expect(error.message).toMatch(text);
    expect(hintOf(error)).toMatch(advice);
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
  const { signal } = abort;
  // Longer than the test may take: only close ends it.
  const options = { signal, timeout: 600_000 };
  const { client } = clientOf(baseUrl.replace('http:', 'https:'), options);
  const sent = client.send(GET).catch((error: Error) => error.message);
  const socket = (await accepted).on('error', () => {}).resume();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  abort.abort(new Error('stop'));
  expect(await sent).toBe('stop');
  await client.close();
  await closed;
});

it('nothing is connected after close', async () => {
  const { baseUrl } = await listen(net.createServer());
  const connector = new Connector({ timeout: 600_000 });
  connector.close();
  const error = await new Promise((resolve) => connector.connect(new URL(baseUrl), resolve));
  const message = 'the connection was closed while it was being opened';
  expect(error).toMatchObject({ code: 'ECONNRESET', message });
});

it('a connection that is not open in time ends with an error', async () => {
  // The server never speaks, so the TLS handshake does not end.
  const { baseUrl } = await listen(net.createServer());
  const connector = new Connector({ timeout: 1 });
  const origin = new URL(baseUrl.replace('http:', 'https:'));
  const error = await new Promise((resolve) => connector.connect(origin, resolve));
  expect(error).toMatchObject({
    code: 'ETIMEDOUT',
    message: 'the connection was not open in time',
  });
});

it.each([
  ['by default, also of the system', { getCACertificates: (type: 'default') => [type] }, 'default'],
  ['as it comes, before 22.15', {}, 'bundled'],
])('an own certificate authority is added to those that Node trusts %s', (_, changes, known) => {
  const contexts: (tls.SecureContextOptions | undefined)[] = [];
  const createSecureContext: typeof tls.createSecureContext = (options) => {
    contexts.push(options);
    return tls.createSecureContext();
  };
  const node = { createSecureContext, rootCertificates: ['bundled'], ...changes };
  expect(trustOptions(node, 'own')).toMatchObject({ rejectUnauthorized: true });
  expect(contexts).toEqual([{ minVersion: 'TLSv1.2', ca: [known, 'own'] }]);
  const usual = { rejectUnauthorized: true, minVersion: 'TLSv1.2' };
  expect(trustOptions(node, undefined)).toEqual(usual);
});
