// The typed client of the service, usable alone.

import type { Received } from './answers.ts';
import { createHttp, type HttpOptions, type Request } from './http.ts';
import {
  getImage,
  type ImagePage,
  type ImageQuery,
  listImages,
  myImages,
  type UserImages,
} from './images.ts';
import type { JsonObject } from './json.ts';
import { allImages, type PageOfAll, type PagingOptions } from './paging.ts';
import { serviceRoot } from './service.ts';
import { getSyncRequest, type SubmittedSync, type SyncRequest, submitSync } from './sync.ts';
import { type IssuedToken, requestToken, type TokenLimit } from './token.ts';

/** The service's operations, one method each; see the functions for what they send, return and throw. */
export interface Client {
  requestToken(
    username: string,
    password: string,
    onLimit?: (limit: TokenLimit) => void,
  ): Promise<IssuedToken>;
  serviceRoot(): Promise<unknown>;
  listImages(query: ImageQuery, page: number): Promise<ImagePage>;
  allImages(query: ImageQuery, options: PagingOptions): AsyncGenerator<PageOfAll, void, void>;
  getImage(id: number): Promise<JsonObject>;
  myImages(): Promise<UserImages>;
  submitSync(): Promise<SubmittedSync>;
  getSyncRequest(id: number | string, signal?: AbortSignal): Promise<SyncRequest>;
  /** Any request of the service's origin; answers of every status but 401 and 429 are given back. */
  send(request: Request): Promise<Received>;
  /** Ends its connections. */
  close(): Promise<void>;
}

export function createClient(options: HttpOptions): Client {
  const http = createHttp(options);
  return {
    requestToken: (username, password, onLimit) => requestToken(http, username, password, onLimit),
    serviceRoot: () => serviceRoot(http),
    listImages: (query, page) => listImages(http, query, page),
    allImages: (query, paging) => allImages(http, query, paging),
    getImage: (id) => getImage(http, id),
    myImages: () => myImages(http),
    submitSync: () => submitSync(http),
    getSyncRequest: (id, signal) => getSyncRequest(http, id, signal),
    send: http.send,
    close: http.close,
  };
}
