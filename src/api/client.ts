// The client of the service: one typed method per operation.

import { createTransport, type TransportOptions } from '../http/transport.ts';
import { type AuthOptions, createSender } from './auth.ts';
import { getImage, listImages, listUserImages, type PageQuery } from './images.ts';
import { readJson } from './responses.ts';
import { getSyncRequest, type SyncId, submitSync } from './sync-requests.ts';
import { requestToken, type TokenLimit } from './token-request.ts';

/** Maximum size of a decoded response, in bytes. */
export const MAX_BYTES = 64 * 2 ** 20;

/** How hints name the service. */
export const SERVICE = {
  name: 'the base URL',
  show: 'imgctl config list',
  trust: 'imgctl config set ca-file /path/to/ca.pem',
  reduce: 'reduce the page size, for example: --per-page 10',
};

export type ServiceClientOptions = Omit<TransportOptions, 'origin' | 'endpoint' | 'onEvent'> &
  AuthOptions & {
    /** Where the base URL was typed, if it is not stored. */
    readonly typed?: string | undefined;
  };

export type Client = ReturnType<typeof createServiceClient>;

/** Creates a client; the functions behind its methods say what they request, return and throw. */
export function createServiceClient(options: ServiceClientOptions) {
  const { origin } = options.baseUrl;
  const endpoint = { ...SERVICE, show: options.typed ?? SERVICE.show };
  const transport = createTransport({ ...options, origin, endpoint });
  const { send, sendWithPassword } = createSender(transport, options);
  return {
    requestToken: (username: string, password: string, onLimit?: (limit: TokenLimit) => void) =>
      requestToken(sendWithPassword, username, password, onLimit),
    /** GET /v2, section 4.2: checks the token; the body is the service's own. */
    serviceRoot: async () => readJson(await send({ method: 'GET', path: '/v2' })),
    listImages: (query: PageQuery, page: number, signal?: AbortSignal) =>
      listImages(send, query, page, signal),
    getImage: (id: number | string) => getImage(send, id),
    listUserImages: () => listUserImages(send),
    submitSync: () => submitSync(send),
    getSyncRequest: (id: SyncId, signal?: AbortSignal) => getSyncRequest(send, id, signal),
    /** Maximum number of requests at a time. */
    connections: options.connections,
    /** Any request to the service's origin; returns responses of every status but 401 and 429. */
    send,
    /** Closes its connections. */
    close: transport.close,
  };
}
