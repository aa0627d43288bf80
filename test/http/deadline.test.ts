// Deadlines: wherever a request gets stuck, it ends in time, and the message names the place.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createConnector } from '../../src/http/connect.ts';
import { selfSigned } from '../support/certificate.ts';
import { bytes, clientOf, LENGTH_10, PATCH } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { temporaryDirectory } from '../support/io.ts';
import { STALL, scriptedServer } from '../support/scripted-server.ts';
import { listen, tunnelTo } from '../support/sockets.ts';

const TIMEOUT = 60;

/** What a write fails with in that time; nothing of it may have been sent, unless that is so. */
async function stuck(baseUrl: string, proxy?: string) {
  const options = proxy === undefined ? {} : { proxy: new URL(proxy) };
  const { client, sleeps } = clientOf(baseUrl, { timeout: TIMEOUT, ...options });
  const error = await failure(client.send(PATCH));
  expect(sleeps).toEqual([]);
  expect(error.exitCode).toBe(3);
  return error;
}

const silent = () => listen(net.createServer());
const overTls = (baseUrl: string) => baseUrl.replace('http:', 'https:');

/** Blocks every thread that Node has for files and names; nothing is looked up until the test ends. */
async function blockLookups(): Promise<void> {
  const pipe = path.join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const opened = Array.from({ length: threads }, () => fs.promises.open(pipe, 'r'));
  onTestFinished(async () => {
    // With a writer each of the waiting readers goes on.
    const writer = fs.openSync(pipe, fs.constants.O_RDWR);
    for (const handle of await Promise.all(opened)) await handle.close();
    fs.closeSync(writer);
  });
}

/** A port whose server is stopped and has as many connections waiting as the system lets wait. */
async function fullPort(): Promise<string> {
  const script = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    process.stdout.write(String(this.address().port), () => process.kill(process.pid, 'SIGSTOP'));
  })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [port] = await once(child.stdout, 'data');
  // A backlog of one lets two connections wait on Linux.
  for (let count = 0; count < 2; count += 1) {
    const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => {
      socket.destroy();
    });
    await once(socket, 'connect');
  }
  return `http://127.0.0.1:${port}`;
}

it('a name that is never looked up', async () => {
  await blockLookups();
  const error = await stuck('http://images.invalid');
  expect(error.message).toBe(
    'PATCH http://images.invalid/v2/user/image/vm: no complete response within 0.06 s, still looking up the address of images.invalid:80',
  );
});

it('the name of a proxy that is never looked up', async () => {
  await blockLookups();
  const { message } = await stuck('http://images.example.com', 'http://user:pass@proxy.invalid:8');
  expect(message).toMatch(/, still looking up the address of the proxy proxy\.invalid:8$/);
});

it.runIf(process.platform === 'linux')(
  'a connection that is never accepted (the length of a queue is as Linux has it)',
  async () => {
    const baseUrl = await fullPort();
    const { message } = await stuck(baseUrl);
    expect(message).toMatch(/, still connecting to 127\.0\.0\.1:\d+$/);
    const through = await stuck('https://images.example.com', baseUrl);
    expect(through.message).toMatch(/, still connecting to the proxy 127\.0\.0\.1:\d+$/);
  },
);

it('a TLS handshake that is never answered', async () => {
  const { message } = await stuck(overTls((await silent()).baseUrl));
  expect(message).toMatch(/, still negotiating TLS with 127\.0\.0\.1:\d+$/);
});

it('a proxy that never answers CONNECT', async () => {
  const { baseUrl, heads } = await tunnelTo('');
  const { message } = await stuck('https://images.example.com', baseUrl);
  expect(message).toMatch(
    /, still waiting for the proxy 127\.0\.0\.1:\d+ to connect to images\.example\.com:443$/,
  );
  expect(heads).toHaveLength(1);
});

it('a proxy that never answers a TLS handshake', async () => {
  const { message } = await stuck('http://images.example.com', overTls((await silent()).baseUrl));
  expect(message).toMatch(/, still negotiating TLS with the proxy 127\.0\.0\.1:\d+$/);
});

it('a TLS handshake that is never answered behind a proxy', async () => {
  const { baseUrl } = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', (await silent()).baseUrl);
  const { message } = await stuck('https://images.example.com', baseUrl);
  expect(message).toMatch(/, still negotiating TLS with images\.example\.com:443$/);
});

it.each([
  ['never answers', STALL, 'waiting for the response'],
  ['stops in the body', bytes(`${LENGTH_10}123`), 'reading the response'],
])('a service that %s: the fate of a write is unknown', async (_, answer, place) => {
  const { baseUrl } = await scriptedServer({ 'PATCH /v2/user/image/vm': answer });
  const error = await stuck(baseUrl);
  expect(error.code).toBe('outcome-unknown');
  expect(error.message).toMatch(new RegExp(`within 0\\.06 s, still ${place}$`));
});

it('what a connection learned on its way is kept, also of a certificate that was refused', async () => {
  const identity = selfSigned('127.0.0.1');
  const { baseUrl } = await scriptedServer({}, identity);
  const target = { hostname: '127.0.0.1', protocol: 'https:', port: new URL(baseUrl).port };
  const connector = createConnector({ recordCertificate: true });
  const error = await new Promise((resolve) => connector.connect(target, resolve));
  expect(error).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  expect(connector.latest()).toMatchObject({
    name: 'tls',
    addresses: ['127.0.0.1'],
    protocol: 'TLSv1.3',
    certificate: {
      subject: 'imgctl test',
      issuer: 'imgctl test',
      validUntil: Date.UTC(2049, 11, 31, 23, 59, 59),
    },
  });
});
