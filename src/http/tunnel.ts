// Opens a tunnel through an HTTP proxy with CONNECT.

import http from 'node:http';
import type net from 'node:net';
import { ConnectionClosed } from './errors.ts';
import {
  connectToProxy,
  type ProxyConnectionOptions,
  proxyFailure,
  proxyRefusal,
} from './proxy-connection.ts';
import { type HttpProxy, proxyAuthorization } from './proxy-env.ts';

/**
 * @param target as host:port
 * @throws TransportError proxy: it refused (407 and others), with its status; or its connection failed
 */
export async function openTunnel(
  proxy: HttpProxy,
  target: string,
  options: ProxyConnectionOptions,
): Promise<net.Socket> {
  const socket = await connectToProxy(proxy, options);
  options.stage.name = 'tunnel';
  return new Promise((resolve, reject) => {
    const request = http.request({
      createConnection: () => socket,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
    });
    request.once('connect', (response, _socket, head) => {
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300 && head.length === 0) return resolve(socket);
      socket.destroy();
      reject(proxyRefusal(proxy, target, status, false));
    });
    request.once('error', (cause) => reject(proxyFailure(proxy, cause, { sent: false })));
    request.once('close', () => reject(new ConnectionClosed()));
    request.end();
  });
}
