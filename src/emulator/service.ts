// The embedded service: a real HTTP server that follows service-api.md, with state, limits and faults.

import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Image } from '../api/types.ts';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import {
  type ApiRequest,
  type ApiResponse,
  errorResponse,
  type Handler,
  HttpError,
  type Resource,
  toApiRequest,
  urlHost,
} from './api-request.ts';
import { buildCatalog } from './catalog.ts';
import { createFaultPicker, faultResponse, sendWithFault } from './faults.ts';
import { createImageSync } from './image-sync.ts';
import { createResources } from './resources.ts';
import { type EmulatorOptions, type EmulatorSettings, resolveOptions } from './service-options.ts';
import { BrokenUpload, createStorage } from './webdav.ts';

/** Longer than a client waits between two polls, so that it can reuse its connection. */
const KEEP_ALIVE = 60_000;

/** The reachable address of a service that listens on all addresses. */
const REACHABLE = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

export interface Emulator
  extends Pick<AccessTokens, 'revokeAccess' | 'restoreAccess' | 'expireTokens'> {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Of its WebDAV storage; undefined without a folder for uploads. */
  readonly uploadUrl: string | undefined;
  readonly port: number;
  /** Stops listening and closes all connections, even those with a request in progress. */
  close(): Promise<void>;
}

/**
 * Starts the service and resolves once it is reachable.
 * @throws Error for invalid options, or node:net's error (EADDRINUSE, EACCES...)
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const settings = resolveOptions(options);
  const closing = new AbortController();
  const tokens = createAccessTokens(settings);
  const sync = createImageSync(settings, closing.signal);
  const resources = createResources(tokens, catalogueOf(settings), sync, settings.log);
  const serve = createRequestListener(settings, resources);

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE }, serve);
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not listening on a port');
  const { address, port } = bound;

  const origin = `http://${urlHost(REACHABLE.get(address) ?? address)}:${port}`;
  return {
    baseUrl: origin,
    uploadUrl: settings.uploads === undefined ? undefined : `dav+${origin}/upload`,
    port,
    revokeAccess: tokens.revokeAccess,
    restoreAccess: tokens.restoreAccess,
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

/** Returns the generated images, or those of a snapshot, which may lack fields, in the order of their ids. */
function catalogueOf({ catalogue, images, seed, until }: EmulatorSettings): Image[] {
  if (catalogue === undefined) return buildCatalog(images, seed, until);
  return (catalogue as Image[]).toSorted((left, right) => Number(left.id) - Number(right.id));
}

function createRequestListener(
  settings: EmulatorSettings,
  resources: readonly Resource[],
): RequestListener {
  const { host, latency, log, now, onRequest } = settings;
  const pickFault = createFaultPicker(settings.faults);
  const storage = createStorage(settings);

  const serve = async (incoming: IncomingMessage, stream: ServerResponse) => {
    const { method = '', url: target = '', headers } = incoming;
    onRequest?.({ method, target, headers });
    const request = toApiRequest(incoming, host, now);
    const fault = pickFault(request.method, request.path);
    if (latency > 0) await setTimeout(latency, undefined, { ref: false });
    let response = fault && faultResponse(fault);
    if (response === undefined && storage?.owns(request)) {
      response = await storage.serve(request, incoming, fault).catch(asErrorResponse);
    }
    sendWithFault(stream, response ?? route(resources, request), fault?.type);
  };

  return (incoming, stream) => {
    serve(incoming, stream).catch((thrown: unknown) => {
      if (thrown instanceof BrokenUpload) return void stream.destroy();
      const expected = thrown instanceof HttpError;
      if (!expected) log(`defect: ${thrown instanceof Error ? thrown.stack : thrown}`);
      const error = expected ? thrown : new HttpError(500, 'The service failed.');
      sendWithFault(stream, errorResponse(error), undefined);
    });
  };
}

function route(resources: readonly Resource[], request: ApiRequest): ApiResponse {
  for (const resource of resources) {
    const match = resource.path.exec(request.path);
    if (match !== null) return responseOf(resource, request, match[1] ?? '');
  }
  return errorResponse(new HttpError(404, 'There is nothing at this address.'));
}

/** Every response of a resource, even an error, lists its methods (section 7). */
function responseOf(resource: Resource, request: ApiRequest, id: string): ApiResponse {
  const names = [...resource.methods.keys()];
  const allowed = names.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  const allow = { Allow: [...allowed, 'OPTIONS'].join(', ') };
  if (request.method === 'OPTIONS') return { status: 204, headers: allow, body: undefined };
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const response = handle(resource.methods.get(method), request, id);
  return { ...response, headers: { ...allow, ...response.headers } };
}

function handle(handler: Handler | undefined, request: ApiRequest, id: string): ApiResponse {
  try {
    if (handler !== undefined) return handler(request, id);
    throw new HttpError(405, `The method ${request.method} is not allowed here.`);
  } catch (error) {
    return asErrorResponse(error);
  }
}

function asErrorResponse(error: unknown): ApiResponse {
  if (error instanceof HttpError) return errorResponse(error);
  throw error;
}
