// Tests bodies, the size limit and headers of responses, lost connections, and requests that cannot be sent.

import type net from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Client } from '../../src/api/client.ts';
import { advice } from '../../src/facts.ts';
import { bytes, CHUNKED, clientOf, connect, GET, LENGTH_10, PATCH } from '../support/client.ts';
import { failure, hintOf } from '../support/errors.ts';
import { unixOnly } from '../support/platform.ts';
import { DROP, RESET, type ScriptedResponse } from '../support/scripted-server.ts';
import { unusedPort } from '../support/sockets.ts';

const encoded = (encoding: string, body: string | Buffer): ScriptedResponse => ({
  body,
  headers: { 'content-encoding': encoding },
});

describe('a response body', () => {
  const json = JSON.stringify({ name: 'grüße', filler: 'x'.repeat(5_000) });

  it.each([
    ['no encoding', json, { body: json }],
    ['identity', json, encoded('identity', json)],
    ['gzip', gzipSync(json), encoded('gzip', gzipSync(json))],
    ['x-gzip in capitals', gzipSync(json), encoded('X-GZIP', gzipSync(json))],
    ['br', brotliCompressSync(json), encoded('br', brotliCompressSync(json))],
    ['gzip, but empty', '', encoded('gzip', '')],
    ['gzip without content', '', { ...encoded('gzip', ''), status: 204 }],
  ])('is decoded from %s', async (_, sent, response) => {
    const { client, server } = await connect({ 'GET /v2': response });
    const { body, wireBytes } = await client.send(GET);
    expect({ toString: body.toString(), wireBytes }).toEqual({
      toString: sent && json,
      wireBytes: Buffer.byteLength(sent),
    });
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip, br');
  });

  it.each([
    ['is not gzip', encoded('gzip', 'text'), 'incorrect header check'],
    ['is truncated', encoded('gzip', gzipSync(json).subarray(0, 30)), 'unexpected end of file'],
    ['has an unknown encoding', encoded('zstd', 'text'), 'unknown content encoding zstd'],
  ])('is an error without a retry if it %s', async (_, response, cause) => {
    const { client, server } = await connect({ 'GET /v2': response });
    const error = await failure(client.send(GET));
    const message = `cannot decode the response from ${server.baseUrl}/v2`;
    const details = { status: 200, message, cause: { message: cause } };
    expect(error).toMatchObject({ code: 'bad-answer', ...details });
    expect(hintOf(error)).toBe('check the base URL: imgctl config get base-url');
    expect(server.requests).toHaveLength(1);
  });

  const maxBytes = 64 * 1024;
  it.each([
    ['too large when decoded', encoded('br', brotliCompressSync(Buffer.alloc(2 ** 20)))],
    ['too large with its encoded form', encoded('gzip', gzipSync(Buffer.alloc(2 ** 16 - 50)))],
    ['one byte too large', { body: Buffer.alloc(maxBytes + 1) }],
  ])('exceeds the size limit if it is %s', async (_, response) => {
    const { client, server } = await connect({ 'GET /v2': response }, { maxBytes });
    const error = await failure(client.send(GET));
    expect(error).toMatchObject({ code: 'bad-answer', exitCode: 1 });
    const message = `the response from ${server.baseUrl}/v2 is larger than 0.0625 MiB`;
    expect(error.message).toBe(message);
    expect(server.requests).toHaveLength(1);
    const page = await failure(client.send({ method: 'GET', path: '/v2?per_page=9' }));
    expect([hintOf(error), hintOf(page)]).toEqual([
      expect.stringMatching(/^check the base URL/),
      expect.stringMatching(/^reduce the page size/),
    ]);
  });

  it('shares its size limit with others in flight, but not with those that ended', async () => {
    const half = 40_000;
    const open: net.Socket[] = [];
    const raw = (socket: net.Socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${half + 1}\r\n\r\n${'x'.repeat(half)}`);
      open.push(socket);
    };
    const body = Buffer.alloc(maxBytes);
    const script = { 'GET /v2': { body }, 'GET /v2/half': { raw } };
    const { client, server } = await connect(script, { maxBytes });
    const halves = [1, 2].map(() => client.send({ method: 'GET', path: '/v2/half' }));
    const error = await failure(Promise.race(halves));
    const message = `responses from ${server.baseUrl} are larger than 0.0625 MiB in total`;
    expect(error).toMatchObject({ code: 'bad-answer', exitCode: 1, message });
    for (const socket of open) socket.write('x');
    const [first, second] = await Promise.allSettled(halves);
    expect([first?.status, second?.status].sort()).toEqual(['fulfilled', 'rejected']);
    expect((await client.send(GET)).body).toHaveLength(maxBytes);
  });
});

const TWO_LENGTHS = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n';
const WRONG_LENGTH =
  /:\d+ sent an invalid Content-Length: it is repeated, beside Transfer-Encoding, or is wrong$/;
const CHUNKED_1 = 'transfer-encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n';

it.each([
  [
    'of another protocol',
    '220 mail.example.com ESMTP\r\n',
    /:\d+ did not send a valid HTTP response$/,
  ],
  [
    'with endless headers',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2 ** 17)}\r\n\r\n`,
    /:\d+ sent headers of more than 16 KiB$/,
  ],
  [
    'to an unasked question',
    'HTTP/1.1 100 Continue\r\n\r\n',
    /:\d+ did not send a valid HTTP response$/,
  ],
  [
    'with status 099',
    'HTTP/1.1 099 X\r\ncontent-length: 1\r\n\r\n1',
    /\d sent the invalid status 99$/,
  ],
  [
    'with status 999',
    'HTTP/1.1 999 X\r\ncontent-length: 1\r\n\r\n1',
    /\d sent the invalid status 999$/,
  ],
  ['with two lengths', `${TWO_LENGTHS}content-length: 2\r\n\r\n1`, WRONG_LENGTH],
  ['with its length twice', `${TWO_LENGTHS}content-length: 1\r\n\r\n1`, WRONG_LENGTH],
  ['with a length and chunks', `${TWO_LENGTHS}${CHUNKED_1}`, WRONG_LENGTH],
  [
    'in another protocol',
    'HTTP/1.1 101 S\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    /:\d+ did not send a valid HTTP response$/,
  ],
])(
  'a response %s is an error without a retry, and leaves the outcome of a PATCH open',
  async (_, text, message) => {
    const { client, server } = await connect(() => bytes(text));
    const error = await failure(client.send(GET));
    expect(error).toMatchObject({ code: 'bad-answer', message: expect.stringMatching(message) });
    // None that was not received.
    expect([undefined, 200]).toContain(error.status);
    const sync = await failure(client.submitSync());
    expect({ code: sync.code, message: sync.message }).toEqual({
      code: 'outcome-unknown',
      message: `the sync may have been submitted: ${error.message}`,
    });
    expect(server.requests).toHaveLength(2);
  },
);

it('informational responses are ignored and repeated headers joined, on every request of a connection', async () => {
  const informational = 'HTTP/1.1 103 Hints\r\nx-a: 9\r\n\r\nHTTP/1.1 102 P\r\n\r\n';
  const response = 'HTTP/1.1 200 OK\r\nx-a: 1\r\nx-a: 2\r\ncontent-length: 1\r\n\r\n7';
  const connections = new Set<net.Socket>();
  const raw = (socket: net.Socket) => {
    connections.add(socket);
    socket.write(`${informational}${response}`);
  };
  const { client, sleeps } = await connect(() => ({ raw }), { connections: 1 });
  for (const request of [GET, PATCH, GET]) {
    const { status, headers, body } = await client.send(request);
    expect([status, headers['x-a'], body.toString()]).toEqual([200, '1, 2', '7']);
  }
  expect({ size: connections.size, sleeps }).toEqual({ size: 1, sleeps: [] });
});

it.each([
  ['method', 'GE T', 'T1'],
  ['token', 'GET', 'secret\nx'],
])('a request with an invalid %s is a usage error that does not show it', async (...row) => {
  const [, method, token] = row;
  const tokens = {
    current: async () => token,
    renew: async () => undefined,
    isNew: () => false,
    factsIfRejected: advice(''),
  };
  const { client, sleeps } = clientOf((await unusedPort()).baseUrl, { tokens });
  const error = await failure(client.send({ method, path: '/v2' }));
  expect({ code: error.code, sleeps }).toEqual({ code: 'usage', sleeps: [] });
  expect(error.message).not.toContain('secret');
});

describe.each<[string, ScriptedResponse]>([
  ['closed before the response', DROP],
  ['reset before the response', RESET],
  ['closed in the headers', bytes('HTTP/1.1 200 OK\r\ncont', true)],
  ['closed in the body', bytes(`${LENGTH_10}123`, true)],
  ['closed in a chunk', bytes(`${CHUNKED}5\r\nab`, true)],
])('after a connection was %s', (_, loss) => {
  it('GET is retried until its retries are used up', async () => {
    const script = { 'GET /v2': [loss, loss, { json: 1 }, loss] };
    const { client, server, sleeps } = await connect(script, { retries: 2 });
    expect((await client.send(GET)).status).toBe(200);
    expect(sleeps).toEqual([250, 500]);
    const message = `${server.baseUrl} closed the connection without a complete response`;
    // The port does not expect TLS, as it has responded.
    const facts = advice('try again later, or ask the administrators of the server');
    const error = await failure(client.send(GET));
    expect(error).toMatchObject({ code: 'unreachable', exitCode: 3, message, facts });
    expect(server.requests).toHaveLength(6);
  });

  it('PATCH is not retried and its outcome is unknown', async () => {
    const { client, server } = await connect({ 'PATCH /v2/user/image/vm': loss });
    const message = `${server.baseUrl} closed the connection without a complete response`;
    const facts = advice('the PATCH may have taken effect: check before you send it again');
    const error = await failure(client.send(PATCH));
    expect(error).toMatchObject({ code: 'outcome-unknown', exitCode: 3, message, facts });
    expect(server.requests).toHaveLength(1);
  });
});

const needsReset = unixOnly('Windows drops a response before a reset');
needsReset('a connection reset after a response does not fail the next request', async () => {
  const text = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1';
  const raw = (socket: net.Socket) => socket.write(text, () => socket.resetAndDestroy());
  const { client } = await connect(() => ({ raw }));
  for (const _ of [1, 2]) expect((await client.send(GET)).body.toString()).toBe('1');
});

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['GET', (client) => client.send(GET)],
  ['PATCH', (client) => client.send(PATCH)],
  ['token request', (client) => client.requestToken('a', 'b')],
])('a %s is retried if there was no connection', async (_, request) => {
  const { baseUrl } = await unusedPort();
  const { client, sleeps } = clientOf(baseUrl);
  const message = `cannot reach ${baseUrl}: the connection was refused`;
  const error = await failure(request(client));
  expect(error).toMatchObject({ code: 'unreachable', exitCode: 3, message });
  expect(sleeps).toEqual([250, 500, 1_000, 2_000]);
});
