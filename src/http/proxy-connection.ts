// Connects to an HTTP proxy and describes its failures.

import net from 'node:net';
import type tls from 'node:tls';
import { reasonOf, TransportError } from './errors.ts';
import type { HttpProxy } from './proxy-env.ts';
import type { ConnectStage } from './stages.ts';
import { untilEvent } from './stages.ts';

export interface ProxyConnectionOptions {
  readonly stage: ConnectStage;
  readonly track: <Socket extends net.Socket>(socket: Socket) => Socket;
  /** Returns the trust options, for an https proxy. */
  readonly trust: () => Promise<tls.ConnectionOptions>;
}

/** @throws TransportError proxy: the connection failed */
export async function connectToProxy(
  proxy: HttpProxy,
  { stage, track, trust }: ProxyConnectionOptions,
): Promise<net.Socket> {
  const secure = proxy.url.protocol === 'https:';
  const host = proxy.url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(proxy.url.port || (secure ? 443 : 80));
  const open = async (): Promise<net.Socket> => {
    if (!secure) return net.connect({ host, port, noDelay: true });
    const servername = net.isIP(host) ? {} : { servername: host };
    const trusted = await trust();
    const { connect } = await import('node:tls');
    const socket = connect({ host, port, ...servername, ...trusted, ALPNProtocols: ['http/1.1'] });
    return socket.once('connect', () => {
      stage.name = 'proxy-tls';
    });
  };
  const socket = track(await open());
  stage.follow(socket, host);
  return untilEvent(socket, secure ? 'secureConnect' : 'connect').catch((cause: Error) => {
    throw proxyFailure(proxy, cause, { sent: false });
  });
}

/** The connection to the proxy failed, or it does not speak HTTP. */
export function proxyFailure(
  proxy: HttpProxy,
  cause: Error,
  details: { readonly sent: boolean; readonly transient?: boolean },
): TransportError {
  const message = `the proxy ${proxy.url.host} failed: ${reasonOf(cause)}`;
  return new TransportError('proxy', message, { ...details, hint: checkProxy(proxy), cause });
}

/** The proxy responded itself, with an error status. */
export function proxyRefusal(
  proxy: HttpProxy,
  target: string,
  status: number,
  sent: boolean,
): TransportError {
  // tinyproxy responds with 401 to wrong credentials, and 407 only if there are none.
  const hint =
    status === 407 || status === 401
      ? `add user name and password to ${proxy.setting}: http://user:password@host:port`
      : checkProxy(proxy);
  const refused = status < 500 ? 'refused to connect to' : 'got no response from';
  const message = `the proxy ${proxy.url.host} ${refused} ${target}: ${status}`;
  return new TransportError('proxy', message, { hint, status, sent });
}

/** Returns a hint. */
export function checkProxy({ setting, bypass }: HttpProxy): string {
  return `check ${setting}${bypass === undefined ? '' : `, or ${bypass}`}`;
}
