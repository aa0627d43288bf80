// The embedded service: a real HTTP server that answers as service-api.md says, with state, limits and faults.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuth } from './auth.ts';
import { buildCatalog } from './catalog.ts';
import { indexCatalog } from './catalog-index.ts';
import { type EmulatorOptions, settingsOf } from './options.ts';
import { urlHost } from './request.ts';
import { createResources } from './resources.ts';
import { createService } from './service.ts';
import { createSync } from './sync.ts';

/** Longer than a client waits between two polls, so that it finds its connection still open. */
const KEEP_ALIVE = 60_000;

/** Where a service can be reached that listens on every address. */
const REACHABLE = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export interface Emulator {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly port: number;
  /** Takes the permission to use the API from a user, whose tokens live on. */
  withdraw(user: string): void;
  /** Gives that permission back. */
  reinstate(user: string): void;
  /** Lets all tokens expire now. */
  expireTokens(): void;
  /** Stops listening and ends all connections, also those in the middle of a request. */
  close(): Promise<void>;
}

/**
 * Starts the service; resolves once it can be reached. Rejects with a plain Error for options that can't be
 * used, and with that of node:net (EADDRINUSE, EACCES...) when it can't listen.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = settingsOf(options);
  const closing = new AbortController();
  const auth = createAuth(settings);
  const catalog = indexCatalog(buildCatalog(settings.images, settings.seed));
  const sync = createSync(settings, closing.signal);
  const serve = createService(settings, createResources(auth, catalog, sync, settings.log));

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, serve);
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const { address, port } = listeningAddress(server);
  void catalog.warm(closing.signal);

  return {
    baseUrl: `http://${urlHost(REACHABLE.get(address) ?? address)}:${port}`,
    port,
    withdraw: auth.withdraw,
    reinstate: auth.reinstate,
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
