// Finds what a request addresses: the resource by its path, the handler by its method.

import { type Answer, errorAnswer, Refusal } from './answers.ts';

/** A request as the handlers see it. */
export interface ApiRequest {
  readonly method: string;
  /** Scheme, host and port as the client addressed them. */
  readonly baseUrl: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly remoteAddress: string;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
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
