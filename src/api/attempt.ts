// How far a connection has come, for the message of a deadline and for diagnosis.

import net from 'node:net';

export type Stage =
  | 'lookup'
  | 'connect'
  | 'proxy-lookup'
  | 'proxy-connect'
  | 'proxy-tls'
  | 'tunnel'
  | 'tls'
  | 'open';

/** What a certificate says of itself; nothing of it is to be believed before it was verified. */
export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
}

/** One connection on its way: directly to the service, or through a proxy. */
export class Attempt {
  stage: Stage;
  /** Of the service, or of the proxy where there is one. */
  readonly addresses: string[] = [];
  /** `TLSv1.3`, once it is negotiated with the service; kept along with the certificate. */
  protocol: string | undefined;
  /** Of the service, also one that was refused. */
  certificate: CertificateFacts | undefined;
  readonly #target: string;
  readonly #proxy: URL | undefined;

  /** `target` as host:port. */
  constructor(target: string, proxy: URL | undefined) {
    this.#target = target;
    this.#proxy = proxy;
    this.stage = proxy ? 'proxy-lookup' : 'lookup';
  }

  /** Follows a socket that is being connected to `host`, the name or address of the service or proxy. */
  follow(socket: net.Socket, host: string): void {
    const connecting = this.#proxy ? 'proxy-connect' : 'connect';
    if (net.isIP(host)) {
      this.addresses.push(host);
      this.stage = connecting;
    }
    socket.on('lookup', (error: Error | null, address: string) => {
      if (error || this.addresses.includes(address)) return;
      this.addresses.push(address);
      this.stage = connecting;
    });
  }

  /** What it is waiting for, as in "still …". */
  describe(): string {
    const proxy = `the proxy ${this.#proxy?.host}`;
    switch (this.stage) {
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
