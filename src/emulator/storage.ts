// The storage of the embedded service: WebDAV at /upload/, in the folders that a sync reads.

import { createReadStream, mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { serveDav } from './dav.ts';
import type { FaultKind } from './faults.ts';
import { type ApiRequest, HttpError } from './http.ts';
import type { EmulatorSettings } from './options.ts';
import type { StorageRequest, StorageResponse } from './storage-files.ts';
import { BrokenUpload } from './upload-body.ts';

/** Returns the server, which knows the users by the passwords of the service. */
export function createStorage({ uploads, users }: EmulatorSettings) {
  if (uploads === undefined) return undefined;
  const passwords = new Map(users.map(({ name, password }) => [name, password]));
  const folderOf = (user: string) => {
    const folder = join(uploads, user);
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  return {
    /** True for an address of the storage. */
    owns: ({ path }: ApiRequest) => /^\/upload(\/|$)/.test(path),
    async serve(
      api: ApiRequest,
      incoming: IncomingMessage,
      stream: ServerResponse,
      fault: FaultKind | undefined,
    ): Promise<void> {
      const request = { api, incoming, fault, folderOf };
      try {
        await respond(stream, await serveDav(request, passwords), request);
      } catch (error) {
        if (error instanceof BrokenUpload) stream.destroy();
        else if (error instanceof HttpError) {
          await respond(stream, { status: error.status, headers: error.headers }, request);
        } else throw error;
      }
    },
  };
}

async function respond(
  stream: ServerResponse,
  { status, headers = {}, body = '', file }: StorageResponse,
  { api: { method }, incoming, fault }: StorageRequest,
): Promise<void> {
  if (stream.destroyed) return;
  if (fault?.type === 'drop') return void stream.destroy();
  if (fault?.type === 'stall') return;
  if (file === undefined) {
    const type = body === '' ? {} : { 'Content-Type': 'application/xml; charset=utf-8' };
    stream.writeHead(status, { ...type, 'Content-Length': Buffer.byteLength(body), ...headers });
    return void stream.end(body);
  }
  const { size } = await stat(file);
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(incoming.headers.range ?? '') ?? [];
  const start = Number(from ?? 0);
  const end = Math.min(to ? Number(to) : size - 1, size - 1);
  const range = from === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${size}` };
  const length = Math.max(0, end - start + 1);
  stream.writeHead(from === undefined ? 200 : 206, {
    'Content-Length': length,
    ...range,
    ...headers,
  });
  if (method === 'HEAD' || length === 0) return void stream.end();
  // The client may leave in the meantime.
  await pipeline(createReadStream(file, { start, end }), stream).catch(() => {});
}
