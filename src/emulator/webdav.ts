// The storage of the emulator: WebDAV at /upload/ with one folder per user, files only (RFC 4918).

import { randomUUID } from 'node:crypto';
import { link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { tryOr } from '../errors.ts';
import { escapeXml } from '../xml.ts';
import { basicCredentials } from './access-tokens.ts';
import { type ApiRequest, type ApiResponse, HttpError } from './api-request.ts';
import type { FaultKind } from './faults.ts';
import type { EmulatorSettings } from './settings.ts';

const ROOT = '/upload/';
/** File systems take names of 255 bytes. */
const MAX_NAME = 255;
const FULL = ['ENOSPC', 'EDQUOT'];
const METHODS = 'OPTIONS, PROPFIND, GET, HEAD, PUT, MOVE, DELETE';

/** The connection ended before the body did, so nobody waits for a response. */
export class BrokenUpload extends Error {}

/** Returns the function that serves the storage, and returns undefined for other addresses. */
export function createStorage({ uploads, users }: EmulatorSettings) {
  const passwords = new Map(users.map(({ name, password }) => [name, password]));
  return async (request: ApiRequest, incoming: IncomingMessage, fault?: FaultKind) => {
    const { authorization, method, path } = request;
    if (uploads === undefined || (path !== '/upload' && !path.startsWith(ROOT))) return undefined;
    const user = basicCredentials(authorization);
    if (user === undefined || passwords.get(user.name) !== user.password) {
      // Closed, as the body of an upload would otherwise be read to its end.
      const headers = { 'WWW-Authenticate': 'Basic realm="uploads"', Connection: 'close' };
      throw new HttpError(401, 'Wrong user name or password.', headers);
    }
    if (method === 'OPTIONS') return { status: 204, headers: { DAV: '1', Allow: METHODS } };
    const folder = join(uploads, user.name);
    // A user may have no file yet.
    await mkdir(folder, { recursive: true }).catch(() => undefined);
    const stats = await lstat(folder).catch(() => undefined);
    if (!stats?.isDirectory()) throw new HttpError(403, 'The upload folder is not a folder.');
    const name = path.slice(ROOT.length);
    if (name !== '') return serveFile(join(folder, fileName(name)), incoming, fault);
    if (method !== 'PROPFIND') throw notAllowed(method);
    return listFolder(folder, incoming.headers.depth !== '0');
  };
}

function fileName(encoded: string): string {
  const name = tryOr(() => decodeURIComponent(encoded), undefined);
  if (name === undefined) throw new HttpError(400, 'The name is not properly encoded.');
  if (name === '.' || name === '..' || /[/\\\0]/.test(name)) {
    throw new HttpError(409, 'The storage has no folders.');
  }
  if (Buffer.byteLength(name) > MAX_NAME) throw new HttpError(414, 'The name is too long.');
  return name;
}

async function serveFile(path: string, incoming: IncomingMessage, fault?: FaultKind) {
  const { method = '', headers } = incoming;
  if (!METHODS.split(', ').includes(method)) throw notAllowed(method);
  const file = await factsOf(path);
  if (method === 'PUT') {
    // Stored as the whole file, a part would replace it (RFC 9110, section 14.5).
    if ('content-range' in headers) throw new HttpError(400, 'Parts are not supported.');
    if (file && headers['if-none-match'] === '*') {
      throw new HttpError(412, `There is a file ${basename(path)}.`);
    }
    await receiveBody(path, incoming, fault);
    return { status: file ? 204 : 201 };
  }
  if (!file) throw new HttpError(404, `There is no file ${basename(path)}.`);
  if (method === 'PROPFIND') return multistatus([entryOf(file)]);
  if (method === 'DELETE') {
    await rm(path);
    return { status: 204 };
  }
  if (method === 'MOVE') {
    const target = join(dirname(path), destinationOf(headers));
    if (headers.overwrite === 'F') {
      // Unlike a rename, a link never replaces the file of a request that came meanwhile.
      await link(path, target).catch(() => {
        throw new HttpError(412, `There is a file ${basename(target)}.`);
      });
      await rm(path);
      return { status: 201 };
    }
    const existing = await factsOf(target);
    await rename(path, target);
    return { status: existing ? 204 : 201 };
  }
  return sendFile(path, file, headers.range);
}

/** Returns the whole file or one range of it; ignores lists of ranges (RFC 9110, section 14.2). */
function sendFile(path: string, { size, etag }: UploadedFile, range = ''): ApiResponse {
  const [, first = '', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  const bound = last === '' ? size : Math.min(Number(last) + 1, size);
  const isRange = first !== '' && Number(first) < bound;
  const [start, end] = isRange ? [Number(first), bound] : [0, size];
  const headers = {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Content-Length': String(end - start),
    ...(isRange && { 'Content-Range': `bytes ${start}-${end - 1}/${size}` }),
  };
  const file = end === 0 ? undefined : { path, start, end: end - 1 };
  return { status: isRange ? 206 : 200, headers, ...(file && { file }) };
}

function notAllowed(method: string): HttpError {
  return new HttpError(405, `The method ${method} is not allowed here.`, { Allow: METHODS });
}

/** Returns the name that a MOVE gives. Behind a program with TLS, only the host is the same. */
function destinationOf({ destination, host }: IncomingHttpHeaders): string {
  const [, target = host, name] =
    /^(?:https?:\/\/([^/]+))?\/upload\/([^?#]+)$/.exec(String(destination)) ?? [];
  if (name === undefined) throw new HttpError(400, 'The destination is not a file of the storage.');
  if (target !== host) throw new HttpError(502, 'The destination is another server.');
  return fileName(name);
}

/** Replaces a file by the body, all at once; with some faults, by what arrives, as it does. */
async function receiveBody(path: string, incoming: IncomingMessage, fault?: FaultKind) {
  const isVisible = fault?.type === 'partial' || fault?.type === 'drop-after';
  const target = isVisible ? path : join(dirname(path), `.${randomUUID()}`);
  const handle = await open(target, 'w');
  let received = 0;
  try {
    // Left open, as the response of a full disk still needs the connection.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      await handle.writeFile(chunk);
      received += chunk.length;
      if (fault?.type === 'drop-after' && received >= fault.bytes) incoming.socket.destroy();
    }
    await handle.close();
    if (fault?.type === 'late') throw new HttpError(fault.status, 'Fault injected after the body.');
    if (!isVisible) await rename(target, path);
  } catch (error) {
    await handle.close();
    if (!isVisible) await rm(target, { force: true });
    if (FULL.includes(String((error as NodeJS.ErrnoException).code)))
      throw new HttpError(507, 'The storage is full.', { Connection: 'close' });
    throw incoming.complete ? error : new BrokenUpload();
  }
}

interface UploadedFile {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
  readonly etag: string;
}

/**
 * Returns undefined if there is no such file.
 * @throws HttpError 403: a link, which is never followed
 */
async function factsOf(path: string): Promise<UploadedFile | undefined> {
  const name = basename(path);
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new HttpError(403, `${name} is not a regular file.`);
  const { size, mtime: modified } = stats;
  return {
    name,
    size,
    modified,
    etag: `"${size.toString(16)}-${modified.getTime().toString(16)}"`,
  };
}

async function listFolder(folder: string, withFiles: boolean): Promise<ApiResponse> {
  const names = withFiles ? await readdir(folder) : [];
  const read = names.sort().map((name) => factsOf(join(folder, name)).catch(() => undefined));
  const files = await Promise.all(read);
  const own = responseOf(ROOT, '<D:resourcetype><D:collection/></D:resourcetype>');
  return multistatus([own, ...files.filter((file) => file !== undefined).map(entryOf)]);
}

function entryOf({ name, size, modified, etag }: UploadedFile): string {
  const properties = `<D:resourcetype/><D:getcontentlength>${size}</D:getcontentlength><D:getlastmodified>${modified.toUTCString()}</D:getlastmodified><D:getetag>${escapeXml(etag)}</D:getetag>`;
  return responseOf(`${ROOT}${encodeURIComponent(name)}`, properties);
}

function responseOf(href: string, properties: string): string {
  return `<D:response><D:href>${escapeXml(href)}</D:href><D:propstat><D:prop>${properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
}

function multistatus(responses: readonly string[]): ApiResponse {
  const headers = { 'Content-Type': 'application/xml; charset=utf-8' };
  const body = `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">${responses.join('')}</D:multistatus>`;
  return { status: 207, headers, body };
}
