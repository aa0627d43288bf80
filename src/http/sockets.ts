// What direct and tunnelled connections share: waiting for a socket, and which certificates are trusted.

import type net from 'node:net';
import type tls from 'node:tls';

/** The other side closed the connection before it was open. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the connection was closed while it was being opened');
  }
}

/** Resolves with the socket at the event, rejects with its error. */
export function untilEvent(socket: net.Socket, event: string): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new ConnectionClosed());
    socket.once('error', reject);
    socket.once('close', closed);
    socket.once(event, () => {
      socket.off('error', reject);
      socket.off('close', closed);
      resolve(socket);
    });
  });
}

/** Returns the trust options of every TLS connection, whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
export function trustOptions(
  module: Pick<typeof tls, 'rootCertificates'>,
  ca: string | undefined,
): tls.ConnectionOptions {
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    // Node parses its root certificates when they are first read.
    ...(ca === undefined ? {} : { ca: [...module.rootCertificates, ca] }),
  };
}
