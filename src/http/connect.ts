// Opens connections, directly or through a proxy, and knows how far the newest one has come.

import http from 'node:http';
import net from 'node:net';
import type tls from 'node:tls';
import { ConnectionClosed } from './errors.ts';
import { type HttpProxy, proxyAuthorization, proxyFailure, proxyRefusal } from './proxies.ts';
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
}

type Done = (error: Error | null, socket: net.Socket | null) => void;

export class Connector {
  /** The newest connection. */
  latest: ConnectStage | undefined;
  readonly #options: ConnectOptions;
  readonly #sockets = new Set<net.Socket>();
  #closed = false;
  #trusted: tls.ConnectionOptions | undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  connect(target: Target, done: Done): void {
    this.#open(target).then(
      (socket) => withQuickParser(() => done(null, socket)),
      (error: Error) => done(error, null),
    );
  }

  /** Ends every connection, including those being opened. */
  close(): void {
    this.#closed = true;
    // TLS before the connection that carries it, which would wait for it.
    for (const socket of [...this.#sockets].reverse()) socket.destroy();
  }

  async #open({ hostname, protocol, port }: Target): Promise<net.Socket> {
    const { proxy, recordCertificate } = this.#options;
    const isSecure = protocol === 'https:';
    const portNumber = Number(port || (isSecure ? 443 : 80));
    const address = hostAndPort(hostname, portNumber);
    const stage = new ConnectStage(address, proxy?.url);
    this.latest = stage;
    const socket = proxy
      ? await this.#connectToProxy(proxy, stage)
      : await this.#connectTo(hostname, portNumber, stage);
    if (isSecure && proxy) {
      stage.name = 'tunnel';
      await openTunnel(socket, proxy, address);
    }
    if (isSecure) {
      stage.name = 'tls';
      const secure = await this.#startTls(socket, hostname);
      if (recordCertificate) stage.record(secure);
      await untilEvent(secure, 'secureConnect');
      stage.name = 'open';
      return secure;
    }
    stage.name = 'open';
    return socket;
  }

  async #connectTo(host: string, port: number, stage: ConnectStage): Promise<net.Socket> {
    const socket = this.#track(net.connect({ host, port, noDelay: true }));
    stage.follow(socket, host);
    return untilEvent(socket, 'connect');
  }

  /** @throws TransportError proxy: the connection failed */
  async #connectToProxy(proxy: HttpProxy, stage: ConnectStage): Promise<net.Socket> {
    const { protocol, hostname, port } = proxy.url;
    const isSecure = protocol === 'https:';
    const host = hostname.replace(/^\[|\]$/g, '');
    try {
      const socket = await this.#connectTo(host, Number(port || (isSecure ? 443 : 80)), stage);
      if (!isSecure) return socket;
      stage.name = 'proxy-tls';
      return await untilEvent(await this.#startTls(socket, host), 'secureConnect');
    } catch (cause) {
      throw proxyFailure(proxy, cause as Error, { sent: false });
    }
  }

  /** Starts TLS on an open connection; the certificate is checked for this host, through a tunnel too. */
  async #startTls(socket: net.Socket, host: string): Promise<tls.TLSSocket> {
    const tls = await import('node:tls');
    this.#trusted ??= trustOptions(tls, this.#options.ca);
    const servername = net.isIP(host) ? {} : { servername: host };
    const options = { socket, host, ...servername, ...this.#trusted, ALPNProtocols: ['http/1.1'] };
    return this.#track(tls.connect(options));
  }

  #track<Socket extends net.Socket>(socket: Socket): Socket {
    // Between two steps nobody else listens; the next step finds the socket closed.
    socket.on('error', () => {});
    if (this.#closed) socket.destroy();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
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

/**
 * Makes the proxy connect the socket to a target, given as host:port.
 * @throws TransportError proxy: it refused (407 and others), with its status; or its connection failed
 */
function openTunnel(socket: net.Socket, proxy: HttpProxy, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      createConnection: () => socket,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
    });
    request.once('connect', (response, _socket, head) => {
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300 && head.length === 0) return resolve();
      socket.destroy();
      reject(proxyRefusal(proxy, target, status, false));
    });
    request.once('error', (cause) => reject(proxyFailure(proxy, cause, { sent: false })));
    request.once('close', () => reject(new ConnectionClosed()));
    request.end();
  });
}

/** Resolves with the socket at the event, rejects with its error. */
function untilEvent<Socket extends net.Socket>(socket: Socket, event: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(new ConnectionClosed()));
  });
}

// Node 20 only, until the line below: V8 there optimises undici's parser at once, which takes 80 ms of CPU time. undici
// compiles it when it gets its first socket: meanwhile V8 has to compile without optimising. `liftoff-only` also turns
// off the last two flags. While any flag differs, V8 refuses stored code.
const QUICK = ['--no-wasm-lazy-compilation', '--liftoff-only'];
const NORMAL = ['--wasm-lazy-compilation', '--no-liftoff-only'];
NORMAL.push('--wasm-tier-up', '--wasm-dynamic-tiering');
let isParserCompiled = !process.versions.node.startsWith('20.');

function withQuickParser(handOver: () => void): void {
  const [before, after] = isParserCompiled ? [[], []] : [QUICK, NORMAL];
  isParserCompiled = true;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of before) setFlagsFromString(flag);
  try {
    handOver();
  } finally {
    for (const flag of after) setFlagsFromString(flag);
  }
}
// ---

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
interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly validUntil: number;
}

/** How far a connection has come, for timeout messages and diagnosis. */
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
    const found = (address: string) => {
      this.name = this.#proxy ? 'proxy-connect' : 'connect';
      if (!this.addresses.includes(address)) this.addresses.push(address);
    };
    if (net.isIP(host)) found(host);
    socket.on('lookup', (error: Error | null, address: string) => {
      if (!error) found(address);
    });
  }

  record(socket: tls.TLSSocket): void {
    // Node reads the certificate in its own listener, and drops one that it refuses.
    socket.prependOnceListener('secure', () => {
      this.protocol = socket.getProtocol() ?? undefined;
      const { subject, issuer, valid_to: validTo } = socket.getPeerCertificate();
      // Node gives an empty object if there is no certificate.
      if (!subject || !issuer) return;
      const name = ({ CN, O }: tls.Certificate) => String(CN ?? O ?? 'unknown');
      const validUntil = Date.parse(validTo);
      this.certificate = { subject: name(subject), issuer: name(issuer), validUntil };
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
