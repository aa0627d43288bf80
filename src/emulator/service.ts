// Serves a request: applies latency and faults, finds the resource and its handler, sends the response.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createFaultPicker, faultResponse, sendWithFault } from './faults.ts';
import {
  type ApiRequest,
  type ApiResponse,
  errorResponse,
  HttpError,
  toApiRequest,
} from './http.ts';
import type { EmulatorSettings } from './options.ts';

/** Responds to a request; the id is the group that the resource's pattern captured, or empty. */
export type Handler = (request: ApiRequest, id: string) => ApiResponse;

export interface Resource {
  /** Matches the whole path. */
  readonly path: RegExp;
  readonly methods: ReadonlyMap<string, Handler>;
}

export function createRequestListener(
  settings: EmulatorSettings,
  resources: readonly Resource[],
): RequestListener {
  const { host, latency, log, now, onRequest } = settings;
  const pickFault = createFaultPicker(settings.faults);

  const serve = async (incoming: IncomingMessage, stream: ServerResponse) => {
    const { method = '', url: target = '', headers } = incoming;
    onRequest?.({ method, target, headers });
    const request = toApiRequest(incoming, host, now);
    const fault = pickFault(request.method, request.path);
    if (latency > 0) await setTimeout(latency, undefined, { ref: false });
    const response = (fault && faultResponse(fault)) ?? route(resources, request);
    sendWithFault(stream, response, fault?.type);
  };

  return (incoming, stream) => {
    serve(incoming, stream).catch((thrown: unknown) => {
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

/** Every response of a resource, an error too, lists its methods (section 7). */
function responseOf(resource: Resource, request: ApiRequest, id: string): ApiResponse {
  const allow = { Allow: allowedMethods(resource) };
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
    if (error instanceof HttpError) return errorResponse(error);
    throw error;
  }
}

function allowedMethods({ methods }: Resource): string {
  const names = [...methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  return [...names, 'OPTIONS'].join(', ');
}
