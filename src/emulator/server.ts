// The embedded service: a real HTTP server that follows service-api.md, with state, limits and faults.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Auth, createAuth } from './auth.ts';
import { buildCatalog } from './catalog.ts';
import { indexCatalog } from './catalog-index.ts';
import { urlHost } from './http.ts';
import { type EmulatorOptions, resolveOptions } from './options.ts';
import { createResources } from './resources.ts';
import { createRequestListener } from './service.ts';
import { createSync } from './sync.ts';

/** Longer than a client waits between two polls, so that it can reuse its connection. */
const KEEP_ALIVE = 60_000;

/** The reachable address of a service that listens on all addresses. */
const REACHABLE = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export interface Emulator extends Pick<Auth, 'revokeAccess' | 'restoreAccess' | 'expireTokens'> {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly port: number;
  /** Stops listening and closes all connections, also those with a request in progress. */
  close(): Promise<void>;
}

/**
 * Starts the service and resolves once it is reachable.
 * @throws Error for invalid options, or node:net's error (EADDRINUSE, EACCES...)
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const settings = resolveOptions(options);
  const closing = new AbortController();
  const auth = createAuth(settings);
  const catalog = indexCatalog(buildCatalog(settings.images, settings.seed));
  const sync = createSync(settings, closing.signal);
  const serve = createRequestListener(settings, createResources(auth, catalog, sync, settings.log));

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, serve);
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const { address, port } = listeningAddress(server);
  void catalog.warm(closing.signal);

  return {
    baseUrl: `http://${urlHost(REACHABLE.get(address) ?? address)}:${port}`,
    port,
    revokeAccess: auth.revokeAccess,
    restoreAccess: auth.restoreAccess,
    expireTokens: auth.expireTokens,
    close: async () => {
      if (!server.listening) return;
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function listeningAddress(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address;
}
