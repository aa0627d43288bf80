// Tests that --timeout ends a stuck request and that its message names the step.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServiceRequest } from '../../src/api/auth.ts';
import {
  bytes,
  CHUNKED,
  clientOf,
  connect,
  GET,
  LENGTH_10,
  PATCH,
  proxyFor,
} from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { STALL, scriptedServer } from '../support/scripted-server.ts';
import { listen, tunnelTo } from '../support/sockets.ts';

const timeout = 250;

/** Returns the error of a request that is stuck; it is not retried. */
async function timedOut(baseUrl: string, proxy?: string, request: ServiceRequest = PATCH) {
  const options = proxy === undefined ? {} : { proxy: proxyFor(baseUrl, proxy) };
  const { client, sleeps } = clientOf(baseUrl, { timeout, ...options });
  const error = await failure(client.send(request));
  expect([error.exitCode, sleeps]).toEqual([3, []]);
  return error;
}

const silent = () => listen(net.createServer());
const overTls = ({ baseUrl }: { baseUrl: string }) => baseUrl.replace('http:', 'https:');

/** Blocks the threads of all name lookups until the test ends. */
async function blockLookups(): Promise<void> {
  const pipe = path.join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const opened = Array.from({ length: threads }, () => fs.promises.open(pipe, 'r'));
  onTestFinished(async () => {
    // The readers wait for a writer.
    const writer = fs.openSync(pipe, fs.constants.O_RDWR);
    for (const handle of await Promise.all(opened)) await handle.close();
    fs.closeSync(writer);
  });
}

describe('the timeout names the step', () => {
  unixOnly('named pipes are Unix')(
    'if the lookup of the host or of the proxy is stuck',
    async () => {
      await blockLookups();
      const error = await timedOut('http://images.invalid');
      expect(error.code).toBe('timeout');
      expect(error.message).toBe(
        'PATCH http://images.invalid/v2/user/image/vm: no complete response within 0.25 s, still looking up the address of images.invalid:80',
      );
      const { message } = await timedOut('http://images.example.com', 'http://u:p@proxy.invalid:8');
      expect(message).toMatch(/, still looking up the address of the proxy proxy\.invalid:8$/);
    },
  );

  const SERVICE = 'https://images.example.com';
  const TUNNEL = 'HTTP/1.1 200 OK\r\n\r\n';

  it.each<[string, () => Promise<[service: string, proxy?: string]>, string]>([
    ['the TLS handshake', async () => [overTls(await silent())], 'negotiating TLS with 127'],
    [
      'CONNECT',
      async () => [SERVICE, (await tunnelTo('')).baseUrl],
      'waiting for the proxy 127[.:\\d]+ to connect to images.example.com:443$',
    ],
    [
      'the TLS handshake with the proxy',
      async () => ['http://images.example.com', overTls(await silent())],
      'negotiating TLS with the proxy 127',
    ],
    [
      'the TLS handshake through the proxy',
      async () => [SERVICE, (await tunnelTo(TUNNEL, (await silent()).baseUrl)).baseUrl],
      'negotiating TLS with images.example.com:443$',
    ],
  ])('if %s is stuck', async (_, start, step) => {
    const { code, message } = await timedOut(...(await start()));
    expect(code).toBe('timeout');
    expect(message).toMatch(new RegExp(`, still ${step}`));
  });

  const dripping = (socket: net.Socket) => {
    socket.write(CHUNKED);
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5);
    socket.once('close', () => clearInterval(drip));
  };

  it.each([
    ['does not respond', STALL, 'waiting for the response'],
    ['only says 102', bytes('HTTP/1.1 102 Processing\r\n\r\n'), 'waiting for the response'],
    ['stops in the headers', bytes('HTTP/1.1 200 OK\r\ncontent-'), 'waiting for the response'],
    ['stops in the body', bytes(`${LENGTH_10}123`), 'reading the response'],
    ['sends its body byte by byte', { raw: dripping }, 'reading the response'],
  ])('if the service %s, and then the outcome of PATCH is unknown', async (_, response, step) => {
    const { baseUrl, requests } = await scriptedServer(() => response);
    const get = await timedOut(baseUrl, undefined, GET);
    const patch = await timedOut(baseUrl, undefined, PATCH);
    expect([get.code, patch.code]).toEqual(['timeout', 'outcome-unknown']);
    for (const { message } of [get, patch]) {
      expect(message).toMatch(new RegExp(`within 0\\.25 s, still ${step}$`));
    }
    expect(requests).toHaveLength(2);
  });
});

it('a request after a timeout has the full time again', async () => {
  const script = { 'GET /v2': [STALL, { json: 1 }] };
  const { client } = await connect(script, { timeout: 500, connections: 1 });
  await failure(client.send(GET));
  expect((await client.send(GET)).body.toString()).toBe('1');
});
