// One exchange over a real socket: encodings, sizes, deadlines, what is not HTTP, and the end.

import net from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createConnector } from '../../src/http/connect.ts';
import { ConnectionClosed } from '../../src/http/errors.ts';
import { bytes, CHUNKED, clientOf, GET, LENGTH_10, PATCH, start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { STALL } from '../support/scripted-server.ts';
import { listen, unusedPort } from '../support/sockets.ts';

describe('bodies', () => {
  const json = JSON.stringify({ name: 'grüße', filler: 'x'.repeat(5_000) });

  it.each([
    ['as they are', json, {}],
    ['identity', json, { 'content-encoding': 'identity' }],
    ['gzip', gzipSync(json), { 'content-encoding': 'gzip' }],
    ['x-gzip in capitals', gzipSync(json), { 'content-encoding': 'X-GZIP' }],
    ['br', brotliCompressSync(json), { 'content-encoding': 'br' }],
  ])('%s', async (_, body, headers) => {
    const { client, server } = await start({ 'GET /v2': { body, headers } });
    const answer = await client.send(GET);
    expect(answer.body.toString()).toBe(json);
    expect(answer.wireBytes).toBe(Buffer.byteLength(body));
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip, br');
  });

  it.each([
    ['empty although it is called gzip', 200, ''],
    ['without content', 204, undefined],
  ])('%s', async (_, status, body) => {
    const headers = { 'content-encoding': 'gzip' };
    const { client } = await start({
      'GET /v2': { status, headers, ...(body === undefined ? {} : { body }) },
    });
    expect((await client.send(GET)).body).toHaveLength(0);
  });

  it.each([
    ['no gzip at all', 'text', 'gzip'],
    ['gzip that breaks off', gzipSync(json).subarray(0, 30), 'gzip'],
    ['an unknown encoding', 'text', 'zstd'],
  ])('%s: one attempt, one clear error', async (_, body, encoding) => {
    const { client, server } = await start({
      'GET /v2': { body, headers: { 'content-encoding': encoding } },
    });
    const error = await failure(client.send(GET));
    expect([error.code, error.status]).toEqual(['bad-answer', 200]);
    expect(error.message).toContain(`${server.baseUrl}/v2`);
    expect(server.requests).toHaveLength(1);
  });

  const MAX = 64 * 1024;
  const bomb = Buffer.alloc(64 * 2 ** 20);

  it.each([
    ['a gzip bomb', { body: gzipSync(bomb), headers: { 'content-encoding': 'gzip' } }],
    ['a br bomb', { body: brotliCompressSync(bomb), headers: { 'content-encoding': 'br' } }],
    ['one byte too many', { body: Buffer.alloc(MAX + 1) }],
    [
      'a body without end',
      {
        raw: (socket: net.Socket) => {
          const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
          const more = () => {
            while (!socket.destroyed && socket.write(chunk));
          };
          socket.on('drain', more).write(CHUNKED);
          more();
        },
      },
    ],
  ])('%s is over the cap', async (_, answer) => {
    const { client, server } = await start({ 'GET /v2': answer }, { maxBytes: MAX });
    const error = await failure(client.send(GET));
    expect([error.code, error.exitCode]).toEqual(['bad-answer', 1]);
    expect(error.message).toContain('larger than 0.0625 MiB');
    expect(server.requests).toHaveLength(1);
  });

  it('of just the cap are taken', async () => {
    const { client } = await start({ 'GET /v2': { body: Buffer.alloc(MAX) } }, { maxBytes: MAX });
    expect((await client.send(GET)).body).toHaveLength(MAX);
  });
});

describe('the deadline', () => {
  it.each([
    ['never answers', STALL],
    ['stops in the headers', bytes('HTTP/1.1 200 OK\r\ncontent-')],
    ['stops in the body', bytes(`${LENGTH_10}123`)],
    [
      'drips',
      {
        raw: (socket: net.Socket) => {
          socket.write(CHUNKED);
          const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5);
          socket.once('close', () => clearInterval(drip));
        },
      },
    ],
  ])('ends a request that %s, once', async (_, answer) => {
    const { client, server } = await start({ 'GET /v2': answer }, { timeout: 60 });
    const error = await failure(client.send(GET));
    expect([error.code, error.exitCode]).toEqual(['timeout', 3]);
    expect(error.message).toContain('within 0.06 s');
    expect(server.requests).toHaveLength(1);
  });

  it('leaves the next request its own', async () => {
    const { client } = await start(
      { 'GET /v2': [STALL, { json: 1 }] },
      { timeout: 60, connections: 1 },
    );
    await failure(client.send(GET));
    expect((await client.send(GET)).body.toString()).toBe('1');
  });

  it('makes the fate of a write unknown', async () => {
    const { client, server } = await start({ 'PATCH /v2/user/image/vm': STALL }, { timeout: 60 });
    expect((await failure(client.send(PATCH))).code).toBe('outcome-unknown');
    expect(server.requests).toHaveLength(1);
  });
});

describe('what is not HTTP', () => {
  it.each([
    ['another protocol', bytes('220 mail.example.com ESMTP\r\n')],
    ['headers without end', bytes(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(2 ** 17)}\r\n\r\n`)],
  ])('%s: one attempt, bad-answer', async (_, answer) => {
    const { client, server } = await start({ 'GET /v2': answer });
    const error = await failure(client.send(GET));
    expect([error.code, error.exitCode]).toEqual(['bad-answer', 1]);
    expect(error.message).toMatch(/did not send a valid HTTP response(: too many headers)?$/);
    expect(server.requests).toHaveLength(1);
  });

  it('a method that cannot be sent is a usage error', async () => {
    const { client, sleeps } = clientOf((await unusedPort()).baseUrl);
    expect((await failure(client.send({ method: 'GE T', path: '/v2' }))).code).toBe('usage');
    expect(sleeps).toEqual([]);
  });

  it('does not show the token that cannot be sent', async () => {
    const { baseUrl } = await unusedPort();
    const tokens = { current: async () => 'secret\nx', renew: async () => undefined, remedy: '' };
    const error = await failure(clientOf(baseUrl, { tokens }).client.send(GET));
    expect(error.code).toBe('usage');
    expect(error.message).not.toContain('secret');
  });

  it('passes over early hints', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
    const { client } = await start({
      'GET /v2': bytes(`${hints}HTTP/1.1 200 OK\r\nx-a: 1\r\nx-a: 2\r\ncontent-length: 1\r\n\r\n7`),
    });
    const { status, headers, body } = await client.send(GET);
    expect([status, headers['x-a'], headers.link, body.toString()]).toEqual([
      200,
      '1, 2',
      undefined,
      '7',
    ]);
  });
});

describe('close', () => {
  it('ends a connection that is still being opened', async () => {
    // A TLS server that never speaks: the handshake stays under way.
    const silent = net.createServer();
    const accepted = new Promise<net.Socket>((resolve) => silent.once('connection', resolve));
    const { baseUrl } = await listen(silent);
    const abort = new AbortController();
    const { client } = clientOf(baseUrl.replace('http:', 'https:'), { signal: abort.signal });
    const sent = failure(client.send(GET)).catch((error: Error) => error.message);
    const socket = await accepted;
    const closed = new Promise((resolve) =>
      socket
        .on('error', () => {})
        .on('close', resolve)
        .resume(),
    );
    abort.abort(new Error('stop'));
    expect(await sent).toBe('stop');
    await client.close();
    await closed;
  });

  it('reaches a connection that is only about to be opened', async () => {
    const { baseUrl } = await listen(net.createServer());
    const connector = createConnector({});
    const target = { hostname: '127.0.0.1', protocol: 'https:', port: new URL(baseUrl).port };
    // node:tls is loaded first, so that the end comes before the socket.
    const opened = new Promise((resolve) => connector.connect(target, resolve));
    connector.close();
    expect(await opened).toBeInstanceOf(ConnectionClosed);
  });

  it('leaves nothing to be sent any more', async () => {
    const { client, server, sleeps } = await start({ 'GET /v2': { json: 1 } });
    await client.send(GET);
    await client.close();
    expect((await failure(client.send(GET))).code).toBe('unreachable');
    expect(sleeps).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });
});
