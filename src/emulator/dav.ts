// The WebDAV server of the embedded service: one folder per user, files only (RFC 4918).

import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { basicCredentials } from './auth.ts';
import { HttpError } from './http.ts';
import {
  escapeXml,
  fileName,
  type StorageRequest,
  type StorageResponse,
  type StoredFile,
} from './storage-files.ts';
import { receiveBody } from './upload-body.ts';

const ROOT = '/upload/';
const METHODS = 'OPTIONS, PROPFIND, GET, HEAD, PUT, MOVE, DELETE';

export async function serveDav(
  request: StorageRequest,
  passwords: ReadonlyMap<string, string>,
): Promise<StorageResponse> {
  const { api, incoming } = request;
  const credentials = basicCredentials(api.authorization);
  if (credentials === undefined || passwords.get(credentials.name) !== credentials.password) {
    throw new HttpError(401, '', { 'WWW-Authenticate': 'Basic realm="uploads"' });
  }
  const folder = request.folderOf(credentials.name);
  const rest = api.path.slice(ROOT.length);
  if (api.method === 'OPTIONS') return { status: 204, headers: { DAV: '1', Allow: METHODS } };
  if (rest === '') return listFolder(request, folder);
  const file = join(folder, fileName(rest));
  const facts = await factsOf(file);
  switch (api.method) {
    case 'PROPFIND':
      if (!facts) throw new HttpError(404, '');
      return multistatus([entryOf(facts)]);
    case 'GET':
    case 'HEAD':
      if (!facts) throw new HttpError(404, '');
      return { status: 200, file, headers: { ETag: etagOf(facts) } };
    case 'PUT': {
      const [, from] = /^bytes (\d+)-\d+\/\d+$/.exec(incoming.headers['content-range'] ?? '') ?? [];
      const start = from === undefined ? undefined : Number(from);
      if (start !== undefined && (facts?.size ?? -1) < start) throw new HttpError(416, '');
      await receiveBody(incoming, file, { fault: request.fault, start });
      return { status: facts ? 204 : 201 };
    }
    case 'MOVE': {
      if (!facts) throw new HttpError(404, '');
      const target = join(folder, fileName(destinationOf(request)));
      const existing = await factsOf(target);
      if (existing && incoming.headers.overwrite === 'F') throw new HttpError(412, '');
      await rename(file, target);
      return { status: existing ? 204 : 201 };
    }
    case 'DELETE':
      if (!facts) throw new HttpError(404, '');
      await rm(file);
      return { status: 204 };
    default:
      throw new HttpError(405, '', { Allow: METHODS });
  }
}

function destinationOf({ api, incoming }: StorageRequest): string {
  const { destination } = incoming.headers;
  const text = typeof destination === 'string' ? destination : '';
  const url = URL.canParse(text, api.baseUrl) ? new URL(text, api.baseUrl) : undefined;
  if (!url?.pathname.startsWith(ROOT)) throw new HttpError(400, '');
  // Behind TLS of another program, only the host is the same.
  if (url.host !== incoming.headers.host) throw new HttpError(502, '');
  return url.pathname.slice(ROOT.length);
}

async function listFolder({ api, incoming }: StorageRequest, folder: string) {
  if (api.method !== 'PROPFIND') throw new HttpError(405, '', { Allow: METHODS });
  const names = incoming.headers.depth === '0' ? [] : await readdir(folder);
  const files = await Promise.all(names.sort().map((name) => factsOf(join(folder, name))));
  const own = `<D:response><D:href>${ROOT}</D:href>${properties('<D:resourcetype><D:collection/></D:resourcetype>')}</D:response>`;
  return multistatus([own, ...files.filter((file) => file !== undefined).map(entryOf)]);
}

async function factsOf(file: string): Promise<StoredFile | undefined> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  const name = file.split(/[\\/]/).at(-1) ?? '';
  return { name, size: stats.size, modified: stats.mtime };
}

function etagOf({ size, modified }: StoredFile): string {
  return `"${size.toString(16)}-${modified.getTime().toString(16)}"`;
}

function entryOf(file: StoredFile): string {
  const content = `<D:resourcetype/><D:getcontentlength>${file.size}</D:getcontentlength><D:getlastmodified>${file.modified.toUTCString()}</D:getlastmodified><D:getetag>${escapeXml(etagOf(file))}</D:getetag>`;
  const href = `${ROOT}${encodeURIComponent(file.name)}`;
  return `<D:response><D:href>${escapeXml(href)}</D:href>${properties(content)}</D:response>`;
}

function properties(content: string): string {
  return `<D:propstat><D:prop>${content}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>`;
}

function multistatus(responses: readonly string[]): StorageResponse {
  const body = `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">${responses.join('')}</D:multistatus>`;
  return { status: 207, body };
}
