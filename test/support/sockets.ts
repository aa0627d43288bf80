// Servers below HTTP for the running test: a bare port, one where nothing listens, a proxy.

import net from 'node:net';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificate.ts';

/** A TCP server, ended with all its connections when the test ends. */
export async function listen(server: net.Server): Promise<{ baseUrl: string }> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const scheme = server instanceof tls.Server ? 'https' : 'http';
  return { baseUrl: `${scheme}://127.0.0.1:${(server.address() as net.AddressInfo).port}` };
}

/** Where nothing listens: a port that was just let go. */
export async function unusedPort(): Promise<{ baseUrl: string }> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { baseUrl: `http://127.0.0.1:${port}` };
}

/**
 * A proxy that answers CONNECT with these bytes, or hangs up; where it connects, with a tunnel to `target`.
 * It is spoken to over TLS where it has a key and a certificate (PEM).
 */
export async function tunnelTo(answer: string | undefined, target?: string, identity?: Identity) {
  const heads: string[] = [];
  const serve = (socket: net.Socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      heads.push(head.toString());
      if (answer === undefined) {
        socket.destroy();
        return;
      }
      socket.write(answer);
      if (target === undefined) return;
      const upstream = net.connect(Number(new URL(target).port), '127.0.0.1');
      upstream.on('error', () => socket.resetAndDestroy());
      socket.pipe(upstream).pipe(socket);
      socket.once('close', () => upstream.destroy());
    });
  };
  const server = identity ? tls.createServer(identity, serve) : net.createServer(serve);
  return { ...(await listen(server)), heads };
}
