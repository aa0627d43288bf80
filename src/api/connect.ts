// Opens the connections of the pool, so that each can be given up at once and a proxy fails just once.

import net from 'node:net';
import type tls from 'node:tls';
import { Attempt, type CertificateFacts } from './attempt.ts';

export interface ConnectOptions {
  /** Extra trusted certificates, PEM. */
  readonly ca?: string | undefined;
  /** The proxy's URL, where one stands between. */
  readonly proxy?: URL | undefined;
  /** Keeps what a certificate says of itself, which takes time to read. */
  readonly keepCertificate?: boolean;
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
  /** The connection that was begun last. */
  latest(): Attempt | undefined;
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

  let latest: Attempt | undefined;

  const open = async (target: Target): Promise<net.Socket> => {
    const { hostname } = target;
    const { proxy, ca } = options;
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
    const attempt = new Attempt(hostAndPort(hostname, port), proxy);
    latest = attempt;
    const tunnel = proxy
      ? await import('./proxy.ts').then(({ openTunnel }) =>
          openTunnel(proxy, hostname, port, { attempt, track, ca }),
        )
      : undefined;
    if (target.protocol === 'https:') return openTls(target, port, attempt, tunnel);
    const socket = tunnel ?? track(net.connect({ host: hostname, port, noDelay: true }));
    if (!tunnel) {
      attempt.follow(socket, hostname);
      await settled(socket, 'connect');
    }
    attempt.stage = 'open';
    return socket;
  };

  const openTls = async (
    target: Target,
    port: number,
    attempt: Attempt,
    tunnel: net.Socket | undefined,
  ): Promise<net.Socket> => {
    const tls = await import('node:tls');
    const { hostname } = target;
    const socket = track(
      tls.connect({
        // The name that the certificate is checked for, through a tunnel, too.
        host: hostname,
        port,
        ...(tunnel ? { socket: tunnel } : {}),
        ...(net.isIP(hostname) ? {} : { servername: target.servername ?? hostname }),
        ...trust(tls, options.ca),
        ALPNProtocols: ['http/1.1'],
      }),
    );
    const negotiate = () => {
      attempt.stage = 'tls';
    };
    if (tunnel) negotiate();
    else attempt.follow(socket.once('connect', negotiate), hostname);
    if (options.keepCertificate) {
      // Node looks at the certificate in its own listener, and drops one that it refuses.
      socket.prependOnceListener('secure', () => {
        attempt.protocol = socket.getProtocol() ?? undefined;
        attempt.certificate = certificateFacts(socket.getPeerCertificate());
      });
    }
    await settled(socket, 'secureConnect');
    attempt.stage = 'open';
    return socket;
  };

  return {
    connect(target, done) {
      open(target).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null),
      );
    },
    latest: () => latest,
    close() {
      closed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** As a URL and a CONNECT request have it. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What is trusted, for every TLS connection; whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
export function trust(
  module: Pick<typeof tls, 'rootCertificates'>,
  ca: string | undefined,
): tls.ConnectionOptions {
  return {
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    // Node parses its root certificates at the first look at them.
    ...(ca === undefined ? {} : { ca: [...module.rootCertificates, ca] }),
  };
}

function certificateFacts(certificate: tls.PeerCertificate): CertificateFacts | undefined {
  const { subject, issuer, valid_to: validTo } = certificate;
  // An object without properties stands for none.
  if (!subject || !issuer) return undefined;
  const name = ({ CN, O }: tls.Certificate) => String(CN ?? O ?? 'nobody');
  return { subject: name(subject), issuer: name(issuer), validUntil: Date.parse(validTo) };
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
