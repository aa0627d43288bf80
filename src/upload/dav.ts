// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import fs from 'node:fs';
import { ImgctlError, tryOr } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { httpDate, isSuccess } from '../http/retry.ts';
import { basicPair } from '../http/url.ts';
import { findAll, textOf, type XmlElement } from '../ovf/xml.ts';
import { isSettled, readBack } from './read-back.ts';
import {
  CHECK_URL,
  createRequests,
  type StorageRequest,
  storageError,
  streamBody,
  textBody,
  xmlOf,
} from './requests.ts';
import {
  arrivedWrong,
  type Comparison,
  conflict,
  isDeadPart,
  isHidden,
  isRival,
  nameTooLong,
  notAFile,
  type OnBytes,
  partName,
  type Storage,
  type StorageOptions,
} from './storage.ts';
import { SETTLED, type UploadFile } from './upload-file.ts';

/** File systems take names of 255 bytes. */
const MAX_NAME = 255;
/** Maximum number of unlisted parts to remove. */
const MAX_PARTS = 1_000;

// The file of parts: follow no link and wait for no pipe. Windows has neither flag.
const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const READ = O_NOFOLLOW | O_NONBLOCK;
// Node takes numbers, although its types say less.
const APPEND = (O_WRONLY | O_APPEND | O_CREAT | READ) as unknown as string;

const PROPFIND = textBody(
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getcontentlength/><getetag/><getlastmodified/><resourcetype/></prop></propfind>',
);

/** A folder on a server. */
interface Dav extends Pick<StorageOptions, 'clock' | 'partsFile'> {
  readonly requests: ReturnType<typeof createRequests>;
  readonly address: string;
  /** With a slash at its end. */
  readonly folder: URL;
  readonly urlOf: (name: string) => URL;
  /** The folder, for messages. */
  readonly place: string;
  /** Parts of failed attempts, which the server may still be writing. */
  readonly failed: Set<string>;
}

type StoredFile = ReturnType<typeof filesOf>[number];

async function compare(
  dav: Dav,
  name: string,
  file: UploadFile,
  proved: string | undefined,
): Promise<Comparison> {
  if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, dav.address);
  const stored = await findStored(dav, name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  if (proved !== undefined && stored.state === proved) return { state: 'same', stored: proved };
  return readBack(file, stored, async (headers) => {
    const request = { method: 'GET', url: dav.urlOf(name), headers };
    return requireSuccess(dav, await dav.requests.send(request));
  });
}

/** Uploads under a new name each time: the server may still be writing what it got before. */
async function put(dav: Dav, name: string, file: UploadFile, onProgress: OnBytes) {
  const { clock, folder, failed, partsFile, requests } = dav;
  let part = '';
  const nextUrl = () => {
    part = partName(name, clock.system);
    failed.add(part);
    // nginx does not list hidden files. Without this file, a killed push may leave one.
    if (partsFile)
      tryOr(
        () => fs.appendFileSync(partsFile, `${part}\n`, { flag: APPEND, mode: 0o600 }),
        undefined,
      );
    return dav.urlOf(part);
  };
  try {
    const body = streamBody(file.size, file.readAll, onProgress);
    const headers = { 'content-type': 'application/octet-stream' };
    const request = { method: 'PUT', url: folder, headers, body, idempotent: true };
    requireSuccess(dav, await requests.send(request, nextUrl));
    const sent = await requireSize(dav, part, name, file.size);
    failed.delete(part);
    return {
      publish: (replace: boolean) => publish(dav, part, name, sent, replace),
      discard: () => remove(dav, part),
    };
  } catch (error) {
    // A server that is away would only delay the error; a later run removes the parts.
    if (!(error instanceof TransportError)) await removeFailed(dav);
    throw error;
  }
}

/** Moves a part to its name and checks it again. */
async function publish(dav: Dav, part: string, name: string, sent: StoredFile, replace: boolean) {
  const { address } = dav;
  const headers = { destination: dav.urlOf(name).href, overwrite: replace ? 'T' : 'F' };
  try {
    await send(dav, { method: 'MOVE', url: dav.urlOf(part), headers });
  } catch (error) {
    if (error instanceof ImgctlError && error.status === 412) throw conflict(name, address);
    // The response was lost: the file was moved if the part is gone.
    const mayBeMoved = error instanceof TransportError && error.sent;
    if (!mayBeMoved || (await findStored(dav, part))) throw error;
  }
  // Without an ETag, a file of the same size that was there before looks like the part.
  if (sent.etag === '' && (await findStored(dav, part))) {
    throw new ImgctlError('bad-answer', `${address} did not rename ${part} to ${name}`, {
      hint: 'ask the administrators of the storage',
    });
  }
  // Servers check and move in two steps, so that another push may still move its file over this one.
  if (!replace && (await mayHaveRival(dav, part))) await dav.clock.sleep(SETTLED, dav.clock.signal);
  // Only the size was checked: the next push compares the content.
  if ((await requireSize(dav, name, name, sent.size)).etag === sent.etag) return undefined;
  // Some servers make a new ETag when a file is moved, so the content is compared before another push is blamed.
  throw replace
    ? arrivedWrong(name, 'another file replaced it').with({ code: 'conflict' })
    : conflict(name, address);
}

/** True also if the server does not list the folder, or it is too large: the file is already moved. */
async function mayHaveRival(dav: Dav, part: string): Promise<boolean> {
  const files = await propfind(dav, dav.folder, 1).catch(() => undefined);
  return files?.some(({ name }) => isRival(name, part)) ?? true;
}

function removeFailed(dav: Dav) {
  return Promise.allSettled([...dav.failed].map((part) => remove(dav, part)));
}

function remove(dav: Dav, name: string): Promise<void> {
  return send(dav, { method: 'DELETE', url: dav.urlOf(name), idempotent: true }, 404);
}

/** Sends a request. @throws ImgctlError, also for a status that is no success */
async function send(dav: Dav, request: StorageRequest, allowed?: number): Promise<void> {
  const response = await dav.requests.send(request);
  if (statusOf(response) !== allowed) requireSuccess(dav, response);
}

/** Returns the response. @throws ImgctlError for a status that is no success, also within a multistatus */
function requireSuccess(dav: Dav, response: HttpResponse): HttpResponse {
  const status = statusOf(response);
  if (isSuccess({ status })) return response;
  throw davError(dav, response, status);
}

function davError({ place }: Dav, response: HttpResponse, status: number): ImgctlError {
  const { host, pathname } = response.url;
  if (status === 409) return noFolder(place, status);
  if (status !== 423) return storageError({ ...response, status });
  return new ImgctlError('locked', `${host} has locked ${pathname} (423)`, {
    hint: 'wait until other programs have released it, then run the command again',
    status,
  });
}

function noFolder(place: string, status?: number): ImgctlError {
  const hint = `create it, or ${CHECK_URL}`;
  return new ImgctlError('not-found', `folder ${place} does not exist`, { hint, status });
}

/** Returns the status of a response, or of the first failure within a multistatus. */
function statusOf(response: HttpResponse, elements = responsesIn(response)): number {
  const failed = elements?.map(statusWithin).find((status) => !isSuccess({ status }));
  return failed ?? response.status;
}

/** Returns the status of a file in a multistatus: of itself, or else of its properties, of which some may be missing. */
function statusWithin(element: XmlElement): number {
  const statuses = findAll(element, 'status').map(({ text }) => {
    return Number(/ (\d{3})\b/.exec(text)?.[1] ?? 200);
  });
  return statuses.find((status) => isSuccess({ status })) ?? statuses[0] ?? 200;
}

/** Returns undefined if the response is no multistatus. */
function responsesIn(response: HttpResponse): XmlElement[] | undefined {
  const root = response.status === 207 ? xmlOf(response) : undefined;
  if (root?.name !== 'multistatus') return undefined;
  return root.children.filter(({ name }) => name === 'response');
}

/** Checks the size of a stored file, which it returns. */
async function requireSize(dav: Dav, stored: string, name: string, size: number) {
  const file = await findStored(dav, stored);
  if (file?.size === size) return file;
  throw arrivedWrong(name, file ? `${file.size} of ${size} bytes` : 'it is gone');
}

/** Returns what the server says of a stored file. */
async function findStored(dav: Dav, name: string) {
  const [file] = await propfind(dav, dav.urlOf(name), 0);
  if (file?.isFolder) throw notAFile(name, dav.address);
  return file;
}

/** Returns nothing if there is no such file or folder. */
async function propfind(dav: Dav, url: URL, depth: 0 | 1) {
  const { requests, place } = dav;
  const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
  const request = { method: 'PROPFIND', url, headers, body: PROPFIND, idempotent: true };
  const response = await requests.send(request);
  const elements = responsesIn(response);
  // Of a folder, what may not be seen is left out.
  const status = depth === 0 ? statusOf(response, elements) : response.status;
  if (status === 404) return [];
  if (status >= 400 && status !== 405 && status !== 501) throw davError(dav, response, status);
  if (elements) return filesOf(response, elements);
  const message = `${place} is not a WebDAV folder (${status})`;
  throw new ImgctlError('bad-answer', message, { hint: CHECK_URL, status });
}

function filesOf(response: HttpResponse, elements: readonly XmlElement[]) {
  const { date = '' } = response.headers;
  return elements
    .filter((element) => isSuccess({ status: statusWithin(element) }))
    .map((element) => {
      // A property that a file does not have comes with a status of its own, and empty.
      const size = Number(textOf(element, 'getcontentlength') || 0);
      const etag = textOf(element, 'getetag') ?? '';
      const modified = textOf(element, 'getlastmodified') ?? '';
      const time = httpDate(modified);
      const now = httpDate(date) ?? response.receivedAt;
      return {
        name: nameOf(textOf(element, 'href') ?? ''),
        isFolder: findAll(element, 'collection').length > 0,
        size,
        /** Empty if the server has none. Without W/, which Apache drops a second after the last change. */
        etag: etag.replace(/^W\//, ''),
        state: [etag, modified, size].join(' '),
        isSettled: isSettled(etag, modified, date),
        /** Milliseconds since the last change, by the clock of the server. */
        age: now - (time ?? now),
      };
    });
}

function nameOf(href: string): string {
  const name = href.replace(/\/$/, '').split('/').at(-1) ?? '';
  return tryOr(() => decodeURIComponent(name), name);
}

/** @param user undefined if the storage needs none */
export function davStorage(
  url: URL,
  user: { readonly username: string; readonly password: string } | undefined,
  options: StorageOptions,
): Storage {
  const { clock, partsFile } = options;
  const pair = user && basicPair(user.username, user.password);
  if (pair) options.onSecret(pair);
  const authorization: Record<string, string> = pair ? { authorization: `Basic ${pair}` } : {};
  const requests = createRequests(url, options, async ({ headers }) => {
    return { ...headers, ...authorization };
  });
  const address = url.host;
  const folder = new URL(`${url.href.replace(/\/$/, '')}/`);
  const place = `${folder.origin}${folder.pathname.slice(0, -1)}`;
  const urlOf = (name: string) => new URL(encodeURIComponent(name), folder);
  const own = { address, folder, urlOf, place, failed: new Set<string>() };
  const dav: Dav = { clock, partsFile, requests, ...own };
  return {
    address,
    async check() {
      const [own] = await propfind(dav, folder, 0);
      if (own?.isFolder) return;
      throw noFolder(place);
    },
    async list() {
      const files = await propfind(dav, folder, 1);
      return files.flatMap(({ name, isFolder }) => (isFolder || isHidden(name) ? [] : name));
    },
    compare: (name, file, proved) => compare(dav, name, file, proved),
    put: (name, file, onProgress) => put(dav, name, file, onProgress),
    async removeDeadParts(isLast) {
      const file = isLast ? '' : (partsFile ?? '');
      const reading = fs.promises.readFile(file, { encoding: 'utf8', flag: READ });
      // Their pushes have ended, since one runs at a time on this machine, whatever its host name was then.
      for (const name of (await reading.catch(() => '')).split('\n').slice(-MAX_PARTS))
        if (isDeadPart(name, Number.POSITIVE_INFINITY, clock.system)) dav.failed.add(name);
      await removeFailed(dav);
      for (const { name, age } of await propfind(dav, folder, 1))
        if (isDeadPart(name, age, clock.system)) await remove(dav, name);
      if (partsFile && isLast) tryOr(() => fs.rmSync(partsFile, { force: true }), undefined);
    },
    close: requests.close,
  };
}
