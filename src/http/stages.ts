// Follows a socket until it is connected, and tells how far it has come for timeout messages and diagnosis.

import net from 'node:net';
import { ConnectionClosed } from './errors.ts';

export type StageName =
  | 'lookup'
  | 'connect'
  | 'proxy-lookup'
  | 'proxy-connect'
  | 'proxy-tls'
  | 'tunnel'
  | 'tls'
  | 'open';

/** What a certificate says about itself; not to be trusted before it was verified. */
export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
}

/** One connection being opened, directly or through a proxy. */
export class ConnectStage {
  name: StageName;
  /** Addresses of the host, or of the proxy if there is one. */
  readonly addresses: string[] = [];
  /** TLS version, such as `TLSv1.3`; recorded together with the certificate. */
  protocol: string | undefined;
  /** Certificate of the host, even if it was refused. */
  certificate: CertificateFacts | undefined;
  readonly #target: string;
  readonly #proxy: URL | undefined;

  /** @param target as host:port */
  constructor(target: string, proxy: URL | undefined) {
    this.#target = target;
    this.#proxy = proxy;
    this.name = proxy ? 'proxy-lookup' : 'lookup';
  }

  /** Follows a socket that is connecting to `host`, a name or address. */
  follow(socket: net.Socket, host: string): void {
    const connecting = this.#proxy ? 'proxy-connect' : 'connect';
    if (net.isIP(host)) {
      this.addresses.push(host);
      this.name = connecting;
    }
    socket.on('lookup', (error: Error | null, address: string) => {
      if (error || this.addresses.includes(address)) return;
      this.addresses.push(address);
      this.name = connecting;
    });
  }

  /** Describes what the connection waits for, to follow the word "still". */
  describe(): string {
    const proxy = `the proxy ${this.#proxy?.host}`;
    switch (this.name) {
      case 'lookup':
        return `looking up the address of ${this.#target}`;
      case 'connect':
        return `connecting to ${this.#target}`;
      case 'proxy-lookup':
        return `looking up the address of ${proxy}`;
      case 'proxy-connect':
        return `connecting to ${proxy}`;
      case 'proxy-tls':
        return `negotiating TLS with ${proxy}`;
      case 'tunnel':
        return `waiting for ${proxy} to connect to ${this.#target}`;
      case 'tls':
        return `negotiating TLS with ${this.#target}`;
      case 'open':
        return 'waiting for a free connection';
    }
  }
}

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
