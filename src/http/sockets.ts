// Waits for events of sockets.

import type net from 'node:net';
import { ConnectionClosed } from './errors.ts';

/** Resolves with the socket at the event, rejects with its error. */
export function untilEvent<Socket extends net.Socket>(
  socket: Socket,
  event: string,
): Promise<Socket> {
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
