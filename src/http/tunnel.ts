// Opens a tunnel through an HTTP proxy with CONNECT.

import http from 'node:http';
import net from 'node:net';
import type tls from 'node:tls';
import { ConnectionClosed, reasonOf, TransportError } from './errors.ts';
import { proxyPair } from './proxy-env.ts';
import type { ConnectStage } from './stages.ts';
import { hostAndPort } from './url.ts';

export interface TunnelOptions {
  readonly stage: ConnectStage;
  readonly track: (socket: net.Socket) => net.Socket;
  /** Returns the trust options, for an https proxy. */
  readonly trust: () => Promise<tls.ConnectionOptions>;
}

/** @throws TransportError proxy: it refused (407 and others), with its status; or its connection failed */
export async function openTunnel(
  proxy: URL,
  host: string,
  port: number,
  { stage, track, trust }: TunnelOptions,
): Promise<net.Socket> {
  const target = hostAndPort(host, port);
  const headers: Record<string, string> = { host: target };
  if (proxy.username !== '') headers['proxy-authorization'] = `Basic ${proxyPair(proxy)}`;
  const secure = proxy.protocol === 'https:';
  const proxyHost = proxy.hostname.replace(/^\[|\]$/g, '');
  const { request: send } = secure ? await import('node:https') : http;
  const trusted = secure ? await trust() : {};
  return new Promise((resolve, reject) => {
    const request = send({
      host: proxyHost,
      port: proxy.port || (secure ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers,
      agent: false,
      // Node would check the proxy's certificate for the name in the Host header.
      servername: net.isIP(proxyHost) ? '' : proxyHost,
      ...trusted,
    });
    request.once('socket', (socket) => {
      stage.follow(track(socket), proxyHost);
      const connected = () => {
        stage.name = 'tunnel';
      };
      if (!secure) socket.once('connect', connected);
      else {
        socket.once('secureConnect', connected).once('connect', () => {
          stage.name = 'proxy-tls';
        });
      }
    });
    request.once('connect', (response, socket, head) => {
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(refusal(proxy, target, status));
    });
    request.once('error', (cause: NodeJS.ErrnoException) => {
      const message = `the proxy ${proxy.host} failed: ${reasonOf(cause)}`;
      reject(new TransportError('proxy', message, { hint: CHECK_PROXY, cause, sent: false }));
    });
    request.once('close', () => reject(new ConnectionClosed()));
    request.end();
  });
}

const CHECK_PROXY = 'check HTTPS_PROXY, or add the host to NO_PROXY';

function refusal(proxy: URL, target: string, status: number): TransportError {
  // tinyproxy answers 401 to wrong credentials, and 407 only if there are none.
  const hint =
    status === 407 || status === 401
      ? 'add user name and password to the proxy variable: http://user:password@host:port'
      : CHECK_PROXY;
  const message = `the proxy ${proxy.host} refused to connect to ${target}: ${status}`;
  return new TransportError('proxy', message, { hint, status, sent: false });
}
