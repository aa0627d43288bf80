// The client of the service: one typed method per operation. The way of a request:
//
//   images.ts, sync-requests.ts, token-request.ts   make its path, and read the record in the JSON
//   auth.ts        sends it with a token, and with another one after a 401
//   ../http/       retries it, and sends it over a connection
//   responses.ts   parses the JSON of the response, or makes the error that its status means

import { Pace } from '../http/pace.ts';
import { createTransport, type TransportOptions } from '../http/transport.ts';
import { type AuthOptions, type Send, Sender, type ServiceRequest } from './auth.ts';
import {
  getImage,
  type ImageList,
  type ImagePage,
  listImages,
  listUserImages,
  type PageQuery,
} from './images.ts';
import { readJson } from './responses.ts';
import {
  getSyncRequest,
  type SubmittedSync,
  type SyncId,
  type SyncRequest,
  submitSync,
} from './sync-requests.ts';
import { type IssuedToken, requestToken, type TokenRequestEvents } from './token-request.ts';
import type { ReceivedImage } from './types.ts';

/** Maximum size of a decoded response, in bytes. */
export const MAX_BYTES = 64 * 2 ** 20;

export type ServiceClientOptions = Omit<TransportOptions, 'origin' | 'endpoint' | 'onEvent'> &
  AuthOptions & {
    /** Which variable to set for a proxy, if the service cannot be reached. */
    readonly proxyAdvice?: string | undefined;
  };

/** The operations of the service; their functions say what they request, return and throw. */
export interface Client {
  requestToken(
    username: string,
    password: string,
    events?: TokenRequestEvents,
  ): Promise<IssuedToken>;
  /** GET /v2, section 4.2: checks the token; the body is the service's own. */
  serviceRoot(): Promise<unknown>;
  listImages(
    query: PageQuery,
    page: number,
    options?: Pick<ServiceRequest, 'signal' | 'retries'>,
  ): Promise<ImagePage>;
  getImage(id: number | string): Promise<ReceivedImage>;
  listUserImages(): Promise<ImageList>;
  submitSync(): Promise<SubmittedSync>;
  getSyncRequest(id: SyncId, signal?: AbortSignal): Promise<SyncRequest>;
  /** Maximum number of requests at a time. */
  readonly connections: number;
  /** Any request to the service's origin; returns responses of every status but 401 and 429. */
  readonly send: Send;
  /** Returns a client with these connections and tokens that has met no limit of the service. */
  startRun(): Client;
  close(): Promise<void>;
}

export function createServiceClient(options: ServiceClientOptions): Client {
  const { origin } = options.baseUrl;
  const endpoint = { of: 'service', proxyAdvice: options.proxyAdvice } as const;
  const transport = createTransport({ ...options, origin, endpoint });
  const accepted = new Set<string | undefined>();
  const startRun = (): Client => {
    const pace = new Pace(options);
    const { send, sendWithPassword } = new Sender(transport, options, pace, accepted);
    return {
      requestToken: (username, password, events) =>
        requestToken(sendWithPassword, username, password, events),
      serviceRoot: async () => readJson(await send({ method: 'GET', path: '/v2' })),
      listImages: (query, page, more) => listImages(send, query, page, more),
      getImage: (id) => getImage(send, id),
      listUserImages: () => listUserImages(send),
      submitSync: () => submitSync(send),
      getSyncRequest: (id, signal) => getSyncRequest(send, id, signal),
      connections: options.connections,
      send: (request) => send({ asReceived: true, ...request }),
      startRun,
      close: transport.close,
    };
  };
  return startRun();
}
