// The package as a library: a client that keeps its token in memory and reads no settings.

import type { ServiceRequest } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import type { SubmittedSync, SyncId, SyncRequest } from '../api/sync.ts';
import type { Image } from '../api/types.ts';
import type { HttpResponse } from '../http/message.ts';
import { systemClock } from '../io.ts';
import {
  type ClientOptions,
  checkedImageId,
  checkedSyncId,
  connectionOf,
  type ImageQuery,
} from './options.ts';

export type { ServiceRequest } from '../api/auth.ts';
export type { SubmittedSync, SyncId, SyncRequest, SyncState } from '../api/sync.ts';
export type { Image } from '../api/types.ts';
export { type ErrorCode, ImgctlError } from '../errors.ts';
export type { HttpResponse } from '../http/message.ts';
export type { ClientOptions, Credentials, ImageQuery } from './options.ts';

/** Every method throws ImgctlError, or the reason of the signal that aborted it. */
export interface ImageClient {
  /** Yields every matching image of the public catalogue as its pages arrive, or throws incomplete-list. */
  images(query?: ImageQuery): AsyncGenerator<Image, void, void>;
  getImage(id: number): Promise<Image>;
  myImages(query?: ImageQuery): Promise<Image[]>;
  /** Submits an image sync request, once. If it throws outcome-unknown, it may have been submitted. */
  submitSync(): Promise<SubmittedSync>;
  getSyncRequest(id: SyncId, signal?: AbortSignal): Promise<SyncRequest>;
  /** Sends any request with the token; returns a response of every status but 401 and 429. */
  send(request: ServiceRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** Creates a client, which connects with its first request. @throws ImgctlError config or usage */
export function createClient(options: ClientOptions): ImageClient {
  const connection = connectionOf(options);
  // systemClock changes the listener limit of its signal, so it gets one that is not the caller's.
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
        now: clock.now(),
        concurrency: connection.concurrency,
        onWarning: options.onWarning,
      });
    },
    getImage: async (id) => {
      const checked = checkedImageId(id);
      return (await (await open()).getImage(checked)) as Image;
    },
    async myImages(query = {}) {
      const { listMyImages } = await import('./listing.ts');
      return listMyImages(await open(), query, clock.now());
    },
    submitSync: async () => (await open()).submitSync(),
    getSyncRequest: async (id, signal) => {
      const checked = checkedSyncId(id);
      return (await open()).getSyncRequest(checked, signal);
    },
    send: async (request) => (await open()).send(request),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
