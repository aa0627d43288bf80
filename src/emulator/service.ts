// Serves a request: finds the resource and its handler, waits, applies faults, sends the response.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createFaultPicker, deliver, substitute } from './faults.ts';
import type { Settings } from './options.ts';
import { type ApiRequest, toApiRequest } from './request.ts';
import { type Answer, errorAnswer, Refusal } from './responses.ts';

/** A listener for node:http that answers for these resources. */
export function createService(settings: Settings, resources: readonly Resource[]): RequestListener {
  const { host, latency, log, onRequest } = settings;
  const pickFault = createFaultPicker(settings.faults);

  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '', headers } = incoming;
    onRequest?.({ method, target, headers });
    const request = toApiRequest(incoming, host);
    const fault = pickFault(request.method, request.path);
    if (latency > 0) await setTimeout(latency, undefined, { ref: false });
    const answer = (fault && substitute(fault)) ?? route(resources, request);
    deliver(response, answer, fault?.type);
  };

  return (incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      if (!(error instanceof Refusal))
        log(`defect: ${error instanceof Error ? error.stack : error}`);
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'The service failed.');
      deliver(response, errorAnswer(refusal), undefined);
    });
  };
}

/** Answers a request; the id is what the path has where the resource's pattern has a group. */
export type Handler = (request: ApiRequest, id: string) => Answer;

export interface Resource {
  /** Matches the whole path. */
  readonly path: RegExp;
  readonly methods: ReadonlyMap<string, Handler>;
}

/** The answer of the resource that the request addresses; 404 where there is none. */
export function route(resources: readonly Resource[], request: ApiRequest): Answer {
  for (const resource of resources) {
    const match = resource.path.exec(request.path);
    if (match !== null) return answerOf(resource, request, match[1] ?? '');
  }
  return errorAnswer(new Refusal(404, 'There is nothing at this address.'));
}

/** Every answer of a resource, a refusal too, lists its methods (section 7). */
function answerOf(resource: Resource, request: ApiRequest, id: string): Answer {
  const allow = { Allow: allowedMethods(resource) };
  if (request.method === 'OPTIONS') return { status: 204, headers: allow, body: undefined };
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const answer = handle(resource.methods.get(method), request, id);
  return { ...answer, headers: { ...allow, ...answer.headers } };
}

function handle(handler: Handler | undefined, request: ApiRequest, id: string): Answer {
  try {
    if (handler !== undefined) return handler(request, id);
    throw new Refusal(405, `The method ${request.method} is not allowed here.`);
  } catch (error) {
    if (error instanceof Refusal) return errorAnswer(error);
    throw error;
  }
}

/** GET brings HEAD with it, and every resource answers OPTIONS. */
function allowedMethods({ methods }: Resource): string {
  const names = [...methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  return [...names, 'OPTIONS'].join(', ');
}
