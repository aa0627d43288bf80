// Opens the connections of the pool, so that each can be given up at once and a proxy fails just once.

import net from 'node:net';
import type tls from 'node:tls';

export interface ConnectOptions {
  /** Extra trusted certificates, PEM. */
  readonly ca?: string | undefined;
  /** The proxy's URL, where one stands between. */
  readonly proxy?: URL | undefined;
}

/** What the pool asks for; undici's own shape. */
export interface Target {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
  readonly servername?: string | null;
}

type Done = (error: Error | null, socket: net.Socket | null) => void;

export interface Connector {
  connect(target: Target, done: Done): void;
  /** Ends every connection, those on their way too. */
  close(): void;
}

export function createConnector(options: ConnectOptions): Connector {
  const sockets = new Set<net.Socket>();
  let closed = false;
  const track = <Socket extends net.Socket>(socket: Socket): Socket => {
    if (closed) socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  const open = async (target: Target): Promise<net.Socket> => {
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
    if (target.protocol === 'http:' && !options.proxy) {
      return settled(track(net.connect({ host: target.hostname, port, noDelay: true })), 'connect');
    }
    const tunnel = options.proxy
      ? await import('./proxy.ts').then((proxy) =>
          proxy.openTunnel(options.proxy as URL, target.hostname, port, track),
        )
      : undefined;
    if (tunnel && target.protocol === 'http:') return tunnel;
    return settled(track(await openTls(target, port, options.ca, tunnel)), 'secureConnect');
  };

  return {
    connect(target, done) {
      open(target).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null),
      );
    },
    close() {
      closed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function openTls(
  target: Target,
  port: number,
  ca: string | undefined,
  tunnel: net.Socket | undefined,
): Promise<tls.TLSSocket> {
  const tls = await import('node:tls');
  const roots = ca === undefined ? {} : { ca: [...tls.rootCertificates, ca] };
  return tls.connect({
    ...(tunnel ? { socket: tunnel } : { host: target.hostname, port }),
    ...(net.isIP(target.hostname) ? {} : { servername: target.servername ?? target.hostname }),
    ...roots,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
  });
}

/** The socket once it has the event, or its error. */
export function settled<Socket extends net.Socket>(socket: Socket, event: string): Promise<Socket> {
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

/** The other side hung up before the connection stood. */
export class ConnectionClosed extends Error {
  readonly code = 'ECONNRESET';

  constructor() {
    super('connection closed while it was being opened');
  }
}
