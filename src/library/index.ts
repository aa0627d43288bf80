// The package as a library: a client of the service that keeps its token in memory and needs no settings.

import type { ServiceRequest } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import type { SubmittedSync, SyncRequest } from '../api/sync.ts';
import type { Image } from '../api/types.ts';
import type { HttpResponse } from '../http/message.ts';
import { systemClock } from '../io.ts';
import { type ClientOptions, connectionOf, type ImageQuery } from './options.ts';

export type { ServiceRequest } from '../api/auth.ts';
export type { SubmittedSync, SyncRequest, SyncState } from '../api/sync.ts';
export type { Image } from '../api/types.ts';
export { type ErrorCode, ImgctlError } from '../errors.ts';
export type { HttpResponse } from '../http/message.ts';
export type { ClientOptions, Credentials, ImageQuery } from './options.ts';

/** The service's operations. All of them throw ImgctlError, or the reason of the signal that ended them. */
export interface ImageClient {
  /**
   * The images of the public catalogue that match, as their pages arrive; every one of them, or an error.
   * A token, if one is needed, is requested by the first step. Leave the loop whenever you like.
   * @throws ImgctlError usage (a query that cannot be read), incomplete-list, and those of a request
   */
  images(query?: ImageQuery): AsyncGenerator<Image, void, void>;
  /** @throws ImgctlError not-found, and those of a request */
  getImage(id: number): Promise<Image>;
  /** The user's own images that match. */
  myImages(query?: ImageQuery): Promise<Image[]>;
  /** Submits an image sync request, once. @throws ImgctlError outcome-unknown: it may have been submitted */
  submitSync(): Promise<SubmittedSync>;
  /** How far a sync request is. @throws ImgctlError not-found */
  getSyncRequest(id: number | string, signal?: AbortSignal): Promise<SyncRequest>;
  /** Any request with the token; gives the answer whatever its status, but for 401 and 429. */
  send(request: Omit<ServiceRequest, 'credentials'>): Promise<HttpResponse>;
  /** Ends all connections, and with them what is under way. */
  close(): Promise<void>;
}

/**
 * A client; it connects with the first request.
 * @throws ImgctlError config or usage: options that cannot be used
 */
export function createClient(options: ClientOptions): ImageClient {
  const connection = connectionOf(options);
  // A signal of the client's own may have many listeners without a warning; the caller's is left as it is.
  const clock = systemClock(AbortSignal.any(options.signal ? [options.signal] : []));
  let opened: Promise<Client> | undefined;
  const open = (): Promise<Client> => {
    opened ??= import('./open.ts').then(({ openClient }) => openClient(options, connection, clock));
    return opened;
  };
  return {
    async *images(query = {}) {
      const { listImages } = await import('./listing.ts');
      yield* listImages(await open(), query, {
        concurrency: connection.concurrency,
        onWarning: options.onWarning,
      });
    },
    getImage: async (id) => (await (await open()).getImage(id)) as Image,
    async myImages(query = {}) {
      const { listMyImages } = await import('./listing.ts');
      return listMyImages(await open(), query);
    },
    submitSync: async () => (await open()).submitSync(),
    getSyncRequest: async (id, signal) => (await open()).getSyncRequest(id, signal),
    send: async (request) => (await open()).send(request),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
