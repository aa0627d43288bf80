// Tests that --timeout ends a stuck request and that its message names the step.

import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServiceRequest } from '../../src/api/auth.ts';
import type { ImgctlError } from '../../src/errors.ts';
import type { HttpEvent, HttpRequest } from '../../src/http/message.ts';
import { createTransport, type TransportOptions } from '../../src/http/transport.ts';
import { selfSigned } from '../support/certificate.ts';
import {
  bytes,
  CHUNKED,
  clientOf,
  ENDPOINT,
  GET,
  LENGTH_10,
  PATCH,
  proxyFor,
} from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { DROP, STALL, scriptedServer } from '../support/scripted-server.ts';
import { listen, tunnelTo } from '../support/sockets.ts';

/**
 * Returns the error of a request that is stuck at this step; it is not retried. A busy machine gets more time, as it may
 * take long until the request is stuck.
 */
async function timedOut(
  step: RegExp,
  baseUrl: string,
  proxy?: string,
  request: ServiceRequest = PATCH,
  timeout = 100,
): Promise<ImgctlError> {
  const options = proxy === undefined ? {} : { proxy: proxyFor(baseUrl, proxy) };
  const { client, sleeps } = clientOf(baseUrl, { timeout, ...options });
  const error = await failure(client.send(request));
  expect({ exitCode: error.exitCode, sleeps }).toEqual({ exitCode: 3, sleeps: [] });
  const [, stuck = ''] = error.message.split(
    `no complete response within ${timeout / 1000} s, still `,
  );
  if (!step.test(stuck) && timeout < 10_000)
    return timedOut(step, baseUrl, proxy, request, 10 * timeout);
  expect(stuck).toMatch(step);
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

const UNKNOWN = 'http://images.invalid';

describe('the timeout names the step', () => {
  const needsPipes = unixOnly('named pipes are Unix');
  needsPipes('if the lookup of the host or of the proxy is stuck', async () => {
    await blockLookups();
    const direct = await timedOut(/^looking up the address of images.invalid:80$/, UNKNOWN);
    expect(direct.code).toBe('timeout');
    const start = `PATCH ${UNKNOWN}/v2/user/image/vm: no complete response within `;
    expect(direct.message).toContain(start);
    const step = /^looking up the address of the proxy proxy.invalid:8$/;
    await timedOut(step, 'http://images.example.com', 'http://u:p@proxy.invalid:8');
  });

  const [SERVICE, FORWARDED] = ['https://images.example.com', 'http://images.example.com'];
  const tunnel = async () =>
    (await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', (await silent()).baseUrl)).baseUrl;
  const CONNECTING = /waiting for the proxy 127[.:\d]+ to connect to images.example.com:443$/;

  it.each<[string, () => Promise<[service: string, proxy?: string]>, RegExp]>([
    ['TLS', async () => [overTls(await silent())], /negotiating TLS with 127/],
    ['CONNECT', async () => [SERVICE, (await tunnelTo('')).baseUrl], CONNECTING],
    ['TLS to a proxy', async () => [FORWARDED, overTls(await silent())], /TLS with the proxy 127/],
    ['TLS in a tunnel', async () => [SERVICE, await tunnel()], /TLS with images.example.com:443$/],
  ])('if %s is stuck', async (_, start, step) => {
    expect((await timedOut(step, ...(await start()))).code).toBe('timeout');
  });

  const dripping = (socket: net.Socket) => {
    socket.write(CHUNKED);
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 5);
    socket.once('close', () => clearInterval(drip));
  };

  it.each([
    ['does not respond', STALL, /^waiting for the response/],
    ['only says 102', bytes('HTTP/1.1 102 Processing\r\n\r\n'), /^waiting for the response/],
    ['stops in the headers', bytes('HTTP/1.1 200 OK\r\ncontent-'), /^waiting for the response/],
    ['sends its body byte by byte', { raw: dripping }, /^reading the response/],
  ])('if the service %s, and then the outcome of PATCH is unknown', async (_, response, step) => {
    const { baseUrl } = await scriptedServer(() => response);
    const sent = [GET, PATCH].map((request) => timedOut(step, baseUrl, undefined, request));
    const errors = await Promise.all(sent);
    expect(errors.map(({ code }) => code)).toEqual(['timeout', 'outcome-unknown']);
  });
});

const USUAL = {
  ...{ endpoint: ENDPOINT, now: () => 0, elapsed: () => 0 },
  ...{ connections: 1, maxBytes: 2 ** 20, timeout: 20_000 },
};

/** Returns a function that sends requests over one connection. */
function senderTo(baseUrl: string, options: Partial<TransportOptions> = {}) {
  const { origin } = new URL(baseUrl);
  const transport = createTransport({ ...USUAL, origin, ...options });
  onTestFinished(() => transport.close());
  const { signal } = new AbortController();
  const usual = { method: 'GET', headers: {}, timeout: 20_000, signal };
  return (path: string, more: Partial<HttpRequest> = {}) =>
    transport.send({ ...usual, url: new URL(path, origin), ...more });
}

it('a connection that is not open in time leaves its place to another one', async () => {
  const service = 'https://images.example.com';
  const identity = selfSigned('images.example.com');
  const { baseUrl } = await scriptedServer({ 'GET /b': {} }, identity);
  // The first tunnel stays silent.
  const proxy = await tunnelTo(['', 'HTTP/1.1 200 OK\r\n\r\n'], baseUrl);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const send = senderTo(service, {
    ...{ proxy: proxyFor(service, proxy.baseUrl), ca: identity.cert, timeout: 1_000 },
  });
  const first = failure(send('/a', { timeout: 1 }));
  await expect.poll(() => proxy.heads).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(await first).toMatchObject({ code: 'timeout' });
  const second = send('/b');
  vi.advanceTimersByTime(1_000);
  await expect.poll(() => proxy.heads).toHaveLength(2);
  expect((await second).status).toBe(200);
});

it('a response may take as long as the timeout allows, whatever the limits of undici', async () => {
  const open: net.Socket[] = [];
  const raw = (socket: net.Socket) => void open.push(socket);
  const { baseUrl } = await scriptedServer(() => ({ raw }));
  const response = senderTo(baseUrl)('/a', { timeout: 600_000 });
  await expect.poll(() => open).toHaveLength(1);
  // Moves the clock of undici, whose limits are 5 min by default.
  const { tick } = createRequire(import.meta.url)('undici/lib/util/timers.js');
  for (const part of [`${LENGTH_10}12345`, '67890']) {
    // The first tick starts what is new.
    for (const milliseconds of [0, 400_000]) tick(milliseconds);
    open[0]?.write(part);
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  }
  expect(`${(await response).body}`).toBe('1234567890');
});

it('the timeout starts again with each chunk of a body', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { baseUrl } = await scriptedServer({ 'PUT /a': {} });
  const timeout = 250;
  // The limit of a connection is over once it is open.
  const send = senderTo(baseUrl, { timeout });
  const chunks = async function* () {
    for (const chunk of ['a', 'b', 'c']) {
      vi.advanceTimersByTime(timeout - 1);
      yield Buffer.from(chunk);
    }
  };
  const body = { length: 3, chunks };
  expect((await send('/a', { method: 'PUT', timeout, body })).status).toBe(200);
});

it.each([
  ['a body that is stuck', false, 'sending'],
  ['a response that does not come', true, 'waiting for the response'],
])('the timeout of an upload names %s', async (_, isWhole, step) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { baseUrl, requests } = await scriptedServer(() => STALL);
  const timeout = 250;
  const chunks = async function* () {
    yield Buffer.from('a');
    if (!isWhole) vi.advanceTimersByTime(timeout);
  };
  const body = { length: isWhole ? 1 : 2, chunks };
  const sent = failure(senderTo(baseUrl)('/a', { method: 'PUT', timeout, body }));
  if (isWhole) {
    await expect.poll(() => requests).toHaveLength(1);
    vi.advanceTimersByTime(timeout);
  }
  expect((await sent).message).toMatch(new RegExp(` no progress within 0.25 s, still ${step}$`));
});

it('the timeout of a connection names its address', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { baseUrl } = await scriptedServer({});
  const sent = failure(senderTo(baseUrl)('/a', { timeout: 250 }));
  // The connection opens in a later turn.
  for (let turns = 0; turns < 50; turns += 1) await undefined;
  vi.advanceTimersByTime(250);
  const { message } = await sent;
  expect(message).toMatch(new RegExp(`, still connecting to ${new URL(baseUrl).host}$`));
});

it.each([
  ['succeeds', {}],
  ['fails', DROP],
])(
  'a request that %s is sent once, and leaves no timer, event or listener behind',
  async (_, response) => {
    const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;
    vi.useFakeTimers({ toFake: [...timers] });
    onTestFinished(() => void vi.useRealTimers());
    const { baseUrl } = await scriptedServer(() => response);
    const events: string[] = [];
    const options = {
      ...USUAL,
      origin: baseUrl,
      onEvent: ({ kind }: HttpEvent) => events.push(kind),
    };
    const transport = createTransport(options);
    const { signal } = new AbortController();
    const url = new URL('/a', baseUrl);
    const onSent = vi.fn();
    const request = { method: 'GET', url, headers: {}, timeout: 600_000, signal, onSent };
    await transport.send(request).catch(() => {});
    await transport.close();
    vi.advanceTimersByTime(90_000);
    expect([events.length, onSent.mock.calls.length]).toEqual([1, 1]);
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
  },
);

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\n\r\n';

it('a request that times out before there is a connection for it is not sent later', async () => {
  const open: net.Socket[] = [];
  const raw = (socket: net.Socket) => void open.push(socket);
  const { baseUrl, requests } = await scriptedServer(() => ({ raw }));
  const send = senderTo(baseUrl);
  const [first, respond] = [send('/a'), () => open.at(-1)?.write(NO_CONTENT)];
  await expect.poll(() => open).toHaveLength(1);
  const onSent = vi.fn();
  const message = expect.stringMatching(/ within 0\.001 s, still waiting for a free connection$/);
  const late = await failure(send('/b', { timeout: 1, onSent }));
  expect(late).toMatchObject({ sent: false, message });
  respond();
  await first;
  const next = send('/c');
  await expect.poll(() => open).toHaveLength(2);
  respond();
  await next;
  expect(onSent).not.toHaveBeenCalled();
  expect(requests).toHaveLength(2);
  // The connection stays open.
  expect(open[1]).toBe(open[0]);
});
