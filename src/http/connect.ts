// Opens connections, directly or through a proxy, and knows how far the newest one has come.

import http from 'node:http';
import net, { type Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { withoutOptimising } from './compile-parser.ts';
import { CLIENT_CERTIFICATE } from './errors.ts';
import { proxyFailure, proxyRefusal } from './proxies.ts';
import { type HttpProxy, proxyAuthorization } from './proxy-route.ts';
import { withoutBrackets } from './url.ts';

export interface ConnectOptions {
  /** Extra trusted certificates, PEM. */
  readonly ca?: string | undefined;
  readonly proxy?: HttpProxy | undefined;
  /** Milliseconds to open a connection. A request that waits for it ends by itself. */
  readonly timeout: number;
}

type Origin = Readonly<Record<'hostname' | 'protocol' | 'port', string>>;

/** A connection that is being opened. */
interface Opening {
  /** How far it has come; follows the word "still" in the message of a timeout. */
  waitingFor: string;
  /** The connection, then the TLS connections that it carries. */
  readonly sockets: Socket[];
}

/**
 * Opens the connections of one pool. A request that times out, or whose connection is lost, asks
 * here for `newest` and for the alert; with several connections, these may be of another request.
 */
export class Connector {
  newest: Pick<Opening, 'waitingFor'> = { waitingFor: 'connecting' };
  readonly #options: ConnectOptions;
  readonly #sockets = new Set<Socket>();
  #closed = false;
  /** The error of a server that wants a client certificate, and says so after the handshake. */
  #alert: Error | undefined;
  #trusted: ConnectionOptions | undefined;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  /** Opens a connection that the pool asks for, in undici's shape. */
  connect(origin: Origin, done: (error: Error | null, socket: Socket | null) => void): void {
    this.#open(origin).then(
      (socket) => withoutOptimising(() => done(null, socket)),
      (error: Error) => done(error, null),
    );
  }

  /** Returns the alert once: the next lost connection may have another reason. */
  takeAlert(): Error | undefined {
    const alert = this.#alert;
    this.#alert = undefined;
    return alert;
  }

  close(): void {
    this.#closed = true;
    destroyAll([...this.#sockets]);
  }

  /** Ends a connection that is not open in time: it would keep its place in the pool for ever. */
  async #open(origin: Origin): Promise<Socket> {
    const opening: Opening = { waitingFor: 'connecting', sockets: [] };
    this.newest = opening;
    const end = () => {
      const message = 'the connection was not open in time';
      destroyAll(opening.sockets, Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
    };
    const timer = setTimeout(end, this.#options.timeout);
    try {
      return await this.#connectAndSecure(origin, opening);
    } finally {
      clearTimeout(timer);
    }
  }

  async #connectAndSecure({ hostname, protocol, port }: Origin, opening: Opening): Promise<Socket> {
    const { proxy } = this.#options;
    const isSecure = protocol === 'https:';
    const portNumber = Number(port || (isSecure ? 443 : 80));
    const target = `${net.isIPv6(hostname) ? `[${hostname}]` : hostname}:${portNumber}`;
    let socket = proxy
      ? await this.#connectToProxy(proxy, opening)
      : await this.#connectTo(hostname, portNumber, target, opening);
    if (isSecure && proxy) {
      opening.waitingFor = `waiting for the proxy ${proxy.url.host} to connect to ${target}`;
      await openTunnel(socket, proxy, target);
    }
    if (isSecure) {
      opening.waitingFor = `negotiating TLS with ${target}`;
      socket = await this.#startTls(socket, hostname, opening);
    }
    opening.waitingFor = 'waiting for a free connection';
    return socket;
  }

  #connectTo(host: string, port: number, name: string, opening: Opening): Promise<Socket> {
    const socket = this.#track(net.connect({ host, port, noDelay: true }), opening);
    const isAddress = net.isIP(host) !== 0;
    opening.waitingFor = isAddress ? `connecting to ${name}` : `looking up the address of ${name}`;
    socket.once('lookup', (error: Error | null) => {
      if (!error) opening.waitingFor = `connecting to ${name}`;
    });
    return untilEvent(socket, 'connect');
  }

  /** @throws TransportError proxy: the connection failed */
  async #connectToProxy(proxy: HttpProxy, opening: Opening): Promise<Socket> {
    const { protocol, hostname, port, host } = proxy.url;
    const isSecure = protocol === 'https:';
    const name = `the proxy ${host}`;
    const address = withoutBrackets(hostname);
    try {
      const portNumber = Number(port || (isSecure ? 443 : 80));
      const socket = await this.#connectTo(address, portNumber, name, opening);
      if (!isSecure) return socket;
      opening.waitingFor = `negotiating TLS with ${name}`;
      return await this.#startTls(socket, address, opening);
    } catch (cause) {
      throw proxyFailure(proxy, cause as Error, { sent: false });
    }
  }

  /** Starts TLS on a connection or tunnel. The certificate has to be for this host. */
  async #startTls(socket: Socket, host: string, opening: Opening): Promise<TLSSocket> {
    const tls = await import('node:tls');
    this.#trusted ??= trustOptions(tls, this.#options.ca);
    const servername = net.isIP(host) ? {} : { servername: host };
    const options = { socket, host, ...servername, ...this.#trusted, ALPNProtocols: ['http/1.1'] };
    const secured = this.#track(tls.connect(options), opening);
    secured.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === CLIENT_CERTIFICATE) this.#alert = error;
    });
    return untilEvent(secured, 'secureConnect').catch((error: NodeJS.ErrnoException) => {
      // TLS 1.2 has one alert for ciphers and for a client certificate. A server that has already
      // sent its own certificate agrees on the cipher.
      const hasCertificate = Object.keys(secured.getPeerCertificate() ?? {}).length > 0;
      if (!hasCertificate || !/ALERT_HANDSHAKE_FAILURE/.test(error.code ?? '')) throw error;
      throw Object.assign(error, { code: CLIENT_CERTIFICATE });
    });
  }

  #track<Kind extends Socket>(socket: Kind, opening: Opening): Kind {
    opening.sockets.push(socket);
    // Between two steps nobody else listens; the next step finds the socket closed.
    socket.on('error', () => {});
    if (this.#closed) socket.destroy();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

type Trust = Pick<typeof import('node:tls'), 'createSecureContext' | 'rootCertificates'> & {
  getCACertificates?(type: 'default'): string[];
};

/**
 * Returns the trust options of every TLS connection, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
 * Connections share them: with `ca`, Node reads all root certificates for each, which takes long.
 */
export function trustOptions(
  { createSecureContext, rootCertificates, getCACertificates }: Trust,
  ca: string | undefined,
): ConnectionOptions {
  const minVersion = 'TLSv1.2';
  if (ca === undefined) return { rejectUnauthorized: true, minVersion };
  // Also those of the system or of NODE_EXTRA_CA_CERTS, as without `ca`; from Node 22.15 and 24.
  const known = getCACertificates?.('default') ?? rootCertificates;
  const secureContext = createSecureContext({ minVersion, ca: [...known, ca] });
  return { rejectUnauthorized: true, secureContext };
}

/**
 * Makes the proxy connect the socket to a target, given as host:port.
 * @throws TransportError proxy: it refused, with its status; or the connection failed
 */
function openTunnel(socket: Socket, proxy: HttpProxy, target: string): Promise<void> {
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
      reject(proxyRefusal(proxy, target, { status, headers: response.headers }, { sent: false }));
    });
    request.once('error', (cause) => reject(proxyFailure(proxy, cause, { sent: false })));
    request.end();
  });
}

/** Ends TLS before the connection that carries it, which would wait for it. */
function destroyAll(sockets: readonly Socket[], reason?: Error): void {
  for (const socket of [...sockets].reverse()) socket.destroy(reason);
}

function untilEvent<Kind extends Socket>(socket: Kind, event: string): Promise<Kind> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(closedError()));
  });
}

function closedError(): Error {
  const message = 'the connection was closed while it was being opened';
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
