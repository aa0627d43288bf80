// The client of the service: one typed method per operation.

import type { HttpResponse } from '../http/message.ts';
import { createTransport, type TransportOptions } from '../http/transport.ts';
import { type AuthOptions, createSender, type ServiceRequest } from './auth.ts';
import {
  getImage,
  type ImagePage,
  type ImageQuery,
  listImages,
  listUserImages,
  type UserImages,
} from './images.ts';
import { readJson } from './responses.ts';
import {
  getSyncRequest,
  type SubmittedSync,
  type SyncId,
  type SyncRequest,
  submitSync,
} from './sync.ts';
import { type IssuedToken, requestToken, type TokenLimit } from './token.ts';
import type { ReceivedImage } from './types.ts';

/** Maximum size of a decoded response, in bytes. */
export const MAX_BYTES = 64 * 2 ** 20;

/** How hints name the service. */
export const SERVICE = {
  name: 'the base URL',
  show: 'imgctl config list',
  trust: 'imgctl config set ca-file /path/to/ca.pem',
  reduce: 'reduce the page size, for example: --per-page 10',
};

export type ClientOptions = Omit<TransportOptions, 'origin' | 'endpoint' | 'onEvent'> & AuthOptions;

/** See the functions behind it for requests, results and errors. */
export interface Client {
  requestToken(
    username: string,
    password: string,
    onLimit?: (limit: TokenLimit) => void,
  ): Promise<IssuedToken>;
  /** GET /v2, section 4.2: checks the token; the body is the service's own. */
  serviceRoot(): Promise<unknown>;
  listImages(query: ImageQuery, page: number, signal?: AbortSignal): Promise<ImagePage>;
  getImage(id: number): Promise<ReceivedImage>;
  listUserImages(): Promise<UserImages>;
  submitSync(): Promise<SubmittedSync>;
  getSyncRequest(id: SyncId, signal?: AbortSignal): Promise<SyncRequest>;
  /** Any request to the service's origin; returns responses of every status but 401 and 429. */
  send(request: ServiceRequest): Promise<HttpResponse>;
  /** Closes its connections. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const { origin } = options.baseUrl;
  const transport = createTransport({ ...options, origin, endpoint: SERVICE });
  const { send, sendWithPassword } = createSender(transport, options);
  return {
    requestToken: (username, password, onLimit) =>
      requestToken(sendWithPassword, username, password, onLimit),
    serviceRoot: async () => readJson(await send({ method: 'GET', path: '/v2' })),
    listImages: (query, page, signal) => listImages(send, query, page, signal),
    getImage: (id) => getImage(send, id),
    listUserImages: () => listUserImages(send),
    submitSync: () => submitSync(send),
    getSyncRequest: (id, signal) => getSyncRequest(send, id, signal),
    send,
    close: transport.close,
  };
}
