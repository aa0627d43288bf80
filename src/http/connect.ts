// Opens connections, directly or through a proxy, and knows how far the newest one has come.

import http from 'node:http';
import net, { type Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { withoutOptimising } from './compile-parser.ts';
import { CLIENT_CERTIFICATE } from './errors.ts';
import { type HttpProxy, proxyAuthorization, proxyFailure, proxyRefusal } from './proxies.ts';

export interface ConnectOptions {
  /** Extra trusted certificates, PEM. */
  readonly ca?: string | undefined;
  readonly proxy?: HttpProxy | undefined;
}

/** How far a connection has come; follows the word "still" in the message of a timeout. */
type Stage = { waitingFor: string };

export class Connector {
  /** The stage of the newest connection. */
  stage: Stage = { waitingFor: 'connecting' };
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
  connect(
    { hostname, protocol, port }: Readonly<Record<'hostname' | 'protocol' | 'port', string>>,
    done: (error: Error | null, socket: Socket | null) => void,
  ): void {
    this.#open(hostname, protocol === 'https:', port).then(
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
    // TLS before the connection that carries it, which would wait for it.
    for (const socket of [...this.#sockets].reverse()) socket.destroy();
  }

  async #open(hostname: string, isSecure: boolean, port: string): Promise<Socket> {
    const { proxy } = this.#options;
    const portNumber = Number(port || (isSecure ? 443 : 80));
    const target = `${net.isIPv6(hostname) ? `[${hostname}]` : hostname}:${portNumber}`;
    const stage: Stage = { waitingFor: 'connecting' };
    this.stage = stage;
    let socket = proxy
      ? await this.#connectToProxy(proxy, stage)
      : await this.#connectTo(hostname, portNumber, target, stage);
    if (isSecure && proxy) {
      stage.waitingFor = `waiting for the proxy ${proxy.url.host} to connect to ${target}`;
      await openTunnel(socket, proxy, target);
    }
    if (isSecure) {
      stage.waitingFor = `negotiating TLS with ${target}`;
      socket = await this.#startTls(socket, hostname);
    }
    stage.waitingFor = 'waiting for a free connection';
    return socket;
  }

  #connectTo(host: string, port: number, name: string, stage: Stage): Promise<Socket> {
    const socket = this.#track(net.connect({ host, port, noDelay: true }));
    const isAddress = net.isIP(host) !== 0;
    stage.waitingFor = isAddress ? `connecting to ${name}` : `looking up the address of ${name}`;
    socket.once('lookup', (error: Error | null) => {
      if (!error) stage.waitingFor = `connecting to ${name}`;
    });
    return untilEvent(socket, 'connect');
  }

  /** @throws TransportError proxy: the connection failed */
  async #connectToProxy(proxy: HttpProxy, stage: Stage): Promise<Socket> {
    const { protocol, hostname, port, host } = proxy.url;
    const isSecure = protocol === 'https:';
    const name = `the proxy ${host}`;
    const address = hostname.replace(/^\[|\]$/g, '');
    try {
      const portNumber = Number(port || (isSecure ? 443 : 80));
      const socket = await this.#connectTo(address, portNumber, name, stage);
      if (!isSecure) return socket;
      stage.waitingFor = `negotiating TLS with ${name}`;
      return await this.#startTls(socket, address);
    } catch (cause) {
      throw proxyFailure(proxy, cause as Error, false);
    }
  }

  /** Starts TLS on a connection or tunnel. The certificate has to be for this host. */
  async #startTls(socket: Socket, host: string): Promise<TLSSocket> {
    const tls = await import('node:tls');
    this.#trusted ??= trustOptions(tls, this.#options.ca);
    const servername = net.isIP(host) ? {} : { servername: host };
    const options = { socket, host, ...servername, ...this.#trusted, ALPNProtocols: ['http/1.1'] };
    const secured = this.#track(tls.connect(options));
    secured.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === CLIENT_CERTIFICATE) this.#alert = error;
    });
    return untilEvent(secured, 'secureConnect').catch((error: NodeJS.ErrnoException) => {
      // TLS 1.2 has one alert for ciphers and for a client certificate. A server that has already
      // sent its own certificate agrees on the cipher.
      const hasCipher = Object.keys(secured.getPeerCertificate() ?? {}).length > 0;
      if (!hasCipher || !/ALERT_HANDSHAKE_FAILURE/.test(error.code ?? '')) throw error;
      throw Object.assign(error, { code: CLIENT_CERTIFICATE });
    });
  }

  #track<Kind extends Socket>(socket: Kind): Kind {
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
      reject(proxyRefusal(proxy, target, { status, headers: response.headers }, false));
    });
    request.once('error', (cause) => reject(proxyFailure(proxy, cause, false)));
    request.once('close', () => reject(closedError()));
    request.end();
  });
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
