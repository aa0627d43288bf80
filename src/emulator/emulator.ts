// The emulator: a real HTTP server that follows service.md, with state, limits and faults.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import {
  type ApiResponse,
  errorResponse,
  HttpError,
  toApiRequest,
  urlHost,
} from './api-request.ts';
import { createFaultPicker, type FaultKind, faultResponse, sendWithFault } from './faults.ts';
import { createImageSync } from './image-sync.ts';
import { createRouter } from './resources.ts';
import type { EmulatorSettings } from './settings.ts';
import { BrokenUpload, createStorage } from './webdav.ts';

/** Longer than a client waits between two polls, so that it can reuse its connection. */
const KEEP_ALIVE = 60_000;

export interface Emulator {
  readonly baseUrl: string;
  readonly uploadUrl: string | undefined;
  readonly revokeAccess: AccessTokens['revokeAccess'];
  readonly expireTokens: AccessTokens['expireTokens'];
  /** Stops listening and closes all connections, even those with a request in progress. */
  readonly close: () => Promise<void>;
}

/** Returns a clock that starts at the time of the machine, and is never set. */
export function steadyClock({ now, elapsed }: { now(): number; elapsed(): number }): () => number {
  const begun = now() - elapsed();
  return () => begun + elapsed();
}

/**
 * Starts the service and resolves once it is reachable.
 * @throws node:net's error (EADDRINUSE, EACCES...)
 */
export async function startEmulator(settings: EmulatorSettings): Promise<Emulator> {
  const closing = new AbortController();
  const tokens = createAccessTokens(settings);
  const route = createRouter(settings, tokens, createImageSync(settings, closing.signal));
  const storage = createStorage(settings);
  const pickFault = createFaultPicker(settings.faults ?? []);
  const { host, latency = 0, log, now, onRequest, uploads } = settings;

  const serve = async (incoming: IncomingMessage, stream: ServerResponse) => {
    const { method = '', url: target = '', headers } = incoming;
    await onRequest?.({ method, target, headers });
    let fault: FaultKind | undefined;
    let response: ApiResponse;
    try {
      const request = toApiRequest(incoming, host, now);
      fault = pickFault(request.method, request.path);
      if (latency > 0) await setTimeout(latency, undefined, { ref: false });
      const injected = fault && faultResponse(fault);
      response = injected ?? (await storage(request, incoming, fault)) ?? route(request);
    } catch (thrown) {
      if (thrown instanceof BrokenUpload) return void stream.destroy();
      const expected = thrown instanceof HttpError;
      if (!expected) log(`defect: ${thrown instanceof Error ? thrown.stack : thrown}`);
      response = errorResponse(expected ? thrown : new HttpError(500, 'The service failed.'));
    }
    sendWithFault(stream, response, fault);
  };

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, serve);
  server.listen(settings.port, host);
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;

  // One that listens on all addresses is reachable by the loopback's.
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address] ?? address;
  const origin = `http://${urlHost(reachable)}:${port}`;
  return {
    baseUrl: origin,
    uploadUrl: uploads === undefined ? undefined : `dav+${origin}/upload`,
    revokeAccess: tokens.revokeAccess,
    expireTokens: tokens.expireTokens,
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
