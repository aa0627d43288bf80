// Opens the pool's connections: each can be aborted at once, and a failing proxy fails once.

import net from 'node:net';
import type tls from 'node:tls';
import type { HttpProxy } from './proxy-env.ts';
import { type CertificateFacts, ConnectStage, untilEvent } from './stages.ts';
import { hostAndPort } from './url.ts';

export interface ConnectOptions {
  /** Extra trusted certificates, PEM. */
  readonly ca?: string | undefined;
  readonly proxy?: HttpProxy | undefined;
  /** Records the certificate of the host, which takes time to read. */
  readonly recordCertificate?: boolean;
}

/** A connection that the pool asks for, in undici's shape. */
export interface Target {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
  readonly servername?: string | null;
}

type Done = (error: Error | null, socket: net.Socket | null) => void;

interface Connector {
  connect(target: Target, done: Done): void;
  /** Returns the stage of the newest connection. */
  latest(): ConnectStage | undefined;
  /** Ends every connection, including those being opened. */
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

  let latest: ConnectStage | undefined;

  let trusted: tls.ConnectionOptions | undefined;
  const trust = async () => {
    trusted ??= trustOptions(await import('node:tls'), options.ca);
    return trusted;
  };

  const open = async (target: Target): Promise<net.Socket> => {
    const { hostname } = target;
    const { proxy } = options;
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
    const address = hostAndPort(hostname, port);
    const stage = new ConnectStage(address, proxy?.url);
    latest = stage;
    if (target.protocol === 'https:') {
      const tunnel = proxy
        ? await import('./tunnel.ts').then(({ openTunnel }) =>
            openTunnel(proxy, address, { stage, track, trust }),
          )
        : undefined;
      return openTls(target, port, stage, tunnel);
    }
    const socket = await openPlain(hostname, port, stage);
    stage.name = 'open';
    return socket;
  };

  /** Connects to the host, or to the proxy that forwards its requests. */
  const openPlain = async (
    host: string,
    port: number,
    stage: ConnectStage,
  ): Promise<net.Socket> => {
    const { proxy } = options;
    if (proxy) {
      const { connectToProxy } = await import('./proxy-connection.ts');
      return connectToProxy(proxy, { stage, track, trust });
    }
    const socket = track(net.connect({ host, port, noDelay: true }));
    stage.follow(socket, host);
    return untilEvent(socket, 'connect');
  };

  const openTls = async (
    target: Target,
    port: number,
    stage: ConnectStage,
    tunnel: net.Socket | undefined,
  ): Promise<net.Socket> => {
    const tls = await import('node:tls');
    const { hostname } = target;
    const socket = track(
      tls.connect({
        // The certificate is checked for this name, through a tunnel too.
        host: hostname,
        port,
        ...(tunnel ? { socket: tunnel } : {}),
        ...(net.isIP(hostname) ? {} : { servername: target.servername ?? hostname }),
        ...(await trust()),
        ALPNProtocols: ['http/1.1'],
      }),
    );
    const negotiate = () => {
      stage.name = 'tls';
    };
    if (tunnel) negotiate();
    else stage.follow(socket.once('connect', negotiate), hostname);
    if (options.recordCertificate) {
      // Node reads the certificate in its own listener, and drops one that it refuses.
      socket.prependOnceListener('secure', () => {
        stage.protocol = socket.getProtocol() ?? undefined;
        stage.certificate = certificateFacts(socket.getPeerCertificate());
      });
    }
    await untilEvent(socket, 'secureConnect');
    stage.name = 'open';
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

/**
 * Returns the trust options of every TLS connection, whatever NODE_TLS_REJECT_UNAUTHORIZED says. Connections share
 * them: with `ca`, Node reads all root certificates for each context, which takes long.
 */
export function trustOptions(
  { createSecureContext, rootCertificates }: typeof tls,
  ca: string | undefined,
): tls.ConnectionOptions {
  const minVersion = 'TLSv1.2';
  if (ca === undefined) return { rejectUnauthorized: true, minVersion };
  const secureContext = createSecureContext({ minVersion, ca: [...rootCertificates, ca] });
  return { rejectUnauthorized: true, secureContext };
}

function certificateFacts(certificate: tls.PeerCertificate): CertificateFacts | undefined {
  const { subject, issuer, valid_to: validTo } = certificate;
  // Node gives an empty object if there is no certificate.
  if (!subject || !issuer) return undefined;
  const name = ({ CN, O }: tls.Certificate) => String(CN ?? O ?? 'unknown');
  return { subject: name(subject), issuer: name(issuer), validUntil: Date.parse(validTo) };
}
