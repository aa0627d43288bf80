// TCP servers and proxies for the running test.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificate.ts';

/** Starts a server on a free port; `close` closes it and every connection at once. */
export async function start(server: net.Server, address = '127.0.0.1') {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    // Some tests abort their requests.
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const scheme = server instanceof tls.Server ? 'https' : 'http';
  const baseUrl = `${scheme}://${address}:${(server.address() as net.AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { baseUrl, close };
}

/** Starts a server for the running test. */
export async function listen(...options: Parameters<typeof start>): Promise<{ baseUrl: string }> {
  const { baseUrl, close } = await start(...options);
  onTestFinished(close);
  return { baseUrl };
}

/**
 * Returns the URL of a port that refuses connections while the test runs: that of the client of a connection. A port that
 * was just closed may be given to the server of another test.
 */
export async function unusedPort(): Promise<{ baseUrl: string }> {
  const { baseUrl } = await listen(net.createServer());
  const client = net.connect(Number(new URL(baseUrl).port), '127.0.0.1');
  client.on('error', () => {});
  onTestFinished(() => void client.destroy());
  await once(client, 'connect');
  return { baseUrl: `http://127.0.0.1:${client.localPort}` };
}

/**
 * Returns a free port for a program, which starts later: none that the system picks for the servers and connections of
 * other tests meanwhile.
 */
export async function freePort(): Promise<string> {
  for (;;) {
    const server = net.createServer();
    server.listen(randomInt(20_000, 30_000), '127.0.0.1');
    const isFree = await once(server, 'listening').catch(() => undefined);
    if (!isFree) continue;
    const { port } = server.address() as net.AddressInfo;
    server.close();
    await once(server, 'close');
    return `${port}`;
  }
}

/**
 * Starts a proxy that answers CONNECT with these bytes, in turn if they are several, or hangs up if there are none.
 * After 200 it connects the client to the `target`. It speaks TLS if it has a key and a certificate (PEM).
 */
export async function tunnelTo(
  responses: string | undefined | readonly (string | undefined)[],
  target?: string,
  identity?: Identity,
) {
  const heads: string[] = [];
  const open = new Set<net.Socket>();
  const serve = (socket: net.Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.once('data', (head) => {
      const response = Array.isArray(responses)
        ? responses[Math.min(heads.length, responses.length - 1)]
        : responses;
      heads.push(head.toString());
      if (response === undefined) {
        socket.destroy();
        return;
      }
      socket.write(response);
      if (target !== undefined && / 200 /.test(response)) forward(socket, target);
    });
  };
  const server = identity ? tls.createServer(identity, serve) : net.createServer(serve);
  return { ...(await listen(server)), heads, open };
}

/** Starts a TLS server that passes everything on to the target in plain text. */
export function tlsTo(target: string, identity: Identity): Promise<{ baseUrl: string }> {
  return listen(tls.createServer(identity, (socket) => forward(socket, target)));
}

function forward(socket: net.Socket, target: string): void {
  const upstream = net.connect(Number(new URL(target).port), '127.0.0.1');
  upstream.on('error', () => socket.resetAndDestroy());
  socket.on('error', () => {}).once('close', () => upstream.destroy());
  socket.pipe(upstream).pipe(socket);
}
