// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import fs from 'node:fs';
import { hasCode, ImgctlError, tryOr } from '../errors.ts';
import { readOwnFile } from '../files/atomic-file.ts';
import { TransportError } from '../http/errors.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { basicPair } from '../http/url.ts';
import { filesOf, withElements } from './dav-responses.ts';
import { readBack } from './read-back.ts';
import {
  createRequests,
  REFUSALS,
  type StorageRequest,
  type StorageRequests,
  streamBody,
  textBody,
} from './requests.ts';
import { CHECK_URL, requireLength, storageError } from './responses.ts';
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
  replacedError,
  type Storage,
  type StorageOptions,
} from './storage.ts';
import { SETTLED, type UploadSource } from './upload-file.ts';

/** File systems take names of 255 bytes. */
const MAX_NAME = 255;

const CHECK_HIDDEN =
  'check the permissions of the user, and that the server accepts names that begin with a dot';
const PASS_HOST =
  'a proxy in front of the server must pass Host on; nginx: proxy_set_header Host $http_host';
const NEEDED =
  'the server must allow PROPFIND, PUT, MOVE and DELETE; nginx needs its module dav-ext';

const PROPFIND = textBody(
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getcontentlength/><getetag/><getlastmodified/><resourcetype/></prop></propfind>',
);

interface Dav extends Pick<StorageOptions, 'clock' | 'limit' | 'partsFile'> {
  readonly requests: StorageRequests;
  readonly address: string;
  /** With a slash at its end. */
  readonly folder: URL;
  readonly urlOf: (name: string) => URL;
  readonly place: string;
  /** Parts of failed attempts, which the server may still be writing. */
  readonly failed: Set<string>;
  /** What was found out about the server: which form of Destination it takes. */
  readonly found: { destination: number };
}

type DavFile = NonNullable<Awaited<ReturnType<typeof findStored>>>;

async function compare(
  dav: Dav,
  name: string,
  file: UploadSource,
  proved: string | undefined,
): Promise<Comparison> {
  if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, dav.address);
  const stored = await findStored(dav, name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  if (stored.text === proved) return { state: 'same', stored: { text: proved, isProof: true } };
  const url = dav.urlOf(name);
  return readBack(file, stored, (rules) => sendChecked(dav, { method: 'GET', url, ...rules }));
}

/** Uploads under a new name each time: the server may still be writing what it got before. */
async function put(dav: Dav, name: string, file: UploadSource, onProgress: OnBytes) {
  const { clock, folder, failed, limit, partsFile } = dav;
  let part = '';
  const nextUrl = () => {
    part = partName(name, clock.system);
    failed.add(part);
    // nginx does not list hidden files. Without this file, a killed push may leave one.
    if (partsFile)
      tryOr(() => fs.appendFileSync(partsFile, `${part}\n`, { mode: 0o600 }), undefined);
    return dav.urlOf(part);
  };
  try {
    const body = streamBody(file.size, () => limit(file.readAll()), onProgress);
    const headers = { 'content-type': 'application/octet-stream' };
    const request = { method: 'PUT', url: folder, nextUrl, headers, body, idempotent: true };
    await sendChecked(dav, request);
    const sent = await requireSize(dav, part, name, file.size);
    failed.delete(part);
    return {
      publish: (replace: boolean) => publish(dav, part, name, sent, replace),
      discard: () => remove(dav, part),
    };
  } catch (error) {
    // A server that is away would only delay the error; a later run removes the parts.
    if (!(error instanceof TransportError)) await removeFailed(dav);
    // Web servers often deny hidden files.
    const mayBeHidden = error instanceof ImgctlError && [403, 404].includes(error.status ?? 0);
    throw mayBeHidden ? error.with({ facts: CHECK_HIDDEN }) : error;
  }
}

/**
 * A server behind a proxy may refuse the scheme of its users in Destination: the path alone and http are tried too.
 * @throws ImgctlError of the first form
 */
async function move(dav: Dav, part: string, name: string, replace: boolean): Promise<void> {
  const { href, pathname } = dav.urlOf(name);
  const forms = [...new Set([href, pathname, href.replace(/^https:/, 'http:')])];
  const overwrite = replace ? 'T' : 'F';
  let first: ImgctlError | undefined;
  for (const [index, destination] of forms.entries()) {
    if (index < dav.found.destination) continue;
    const refusal = await tryMove(dav, part, { destination, overwrite });
    if (!refusal) {
      dav.found.destination = index;
      return;
    }
    if (refusal.status === 404) throw first ?? refusal;
    first ??= refusal;
  }
  throw first;
}

/** Returns the refusal of a form of Destination, or of a file that is not found. @throws any other error */
async function tryMove(dav: Dav, part: string, headers: Record<string, string>) {
  try {
    await sendChecked(dav, { method: 'MOVE', url: dav.urlOf(part), headers, refusals: REFUSALS });
    return undefined;
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    const isRefused = error.status === 400 || error.status === 502;
    if (!isRefused && error.status !== 404) throw error;
    return error.status === 502 ? error.with({ facts: PASS_HOST }) : error;
  }
}

async function publish(dav: Dav, part: string, name: string, sent: DavFile, replace: boolean) {
  const { address } = dav;
  let failure: unknown;
  try {
    await move(dav, part, name, replace);
  } catch (error) {
    const isConflict = error instanceof ImgctlError && error.status === 412 && !replace;
    if (isConflict && (await findStored(dav, name))) throw conflict(name, address);
    if (!mayBeMoved(error)) throw error;
    failure = error;
  }
  // The file was moved if its part is gone.
  if (await findStored(dav, part)) {
    const facts = 'ask the administrators of the storage';
    const message = `${address} did not rename ${part} to ${name}`;
    throw failure ?? new ImgctlError('bad-answer', message, { facts });
  }
  // Servers check and move in two steps, so that another push may still move its file over this one.
  if (!replace && (await mayHaveRival(dav, part))) await dav.clock.sleep(SETTLED, dav.clock.signal);
  const { etag, text } = await requireSize(dav, name, name, sent.size);
  // Only the size was checked: the next push compares the content.
  if (etag === sent.etag) return { text, isProof: false };
  // Some servers make a new ETag when a file is moved, so the content is compared before another push is blamed.
  throw replacedError(name, address, replace);
}

/** True if the response was lost, a proxy did not wait for it, or a lock came too late. */
function mayBeMoved(error: unknown): boolean {
  if (error instanceof TransportError) return error.sent;
  return hasCode(error, 'server-error', 'locked', 'not-found');
}

/** True also if the server does not list the folder, or it is too large: the file is already moved. */
async function mayHaveRival(dav: Dav, part: string): Promise<boolean> {
  const files = await propfind(dav, dav.folder, 1).catch(() => undefined);
  return files?.some(({ name }) => isRival(name, part)) ?? true;
}

function removeFailed(dav: Dav) {
  return Promise.allSettled([...dav.failed].map((part) => remove(dav, part)));
}

async function remove(dav: Dav, name: string): Promise<void> {
  const response = await send(dav, { method: 'DELETE', url: dav.urlOf(name), idempotent: true });
  if (response.status !== 404) requireSuccess(response);
}

/** Sends a request. @throws ImgctlError for a status that is no success */
async function sendChecked(dav: Dav, request: StorageRequest) {
  return requireSuccess(await send(dav, request));
}

function requireSuccess(response: HttpResponse): HttpResponse {
  if (isSuccess(response)) return response;
  const error = storageError(response);
  throw error.status === 405 || error.status === 501 ? error.with({ facts: NEEDED }) : error;
}

async function send({ requests }: Dav, request: StorageRequest) {
  return withElements(await requests.send(request));
}

/** @param at the name that the file has now @param name the name for the error */
async function requireSize(dav: Dav, at: string, name: string, size: number) {
  let file = await findStored(dav, at);
  if (file?.size === size) return file;
  // A server may show a file late, such as one whose disk is in a network.
  await dav.clock.sleep(SETTLED, dav.clock.signal);
  file = await findStored(dav, at);
  if (file?.size === size) return file;
  throw arrivedWrong(name, file ? `${file.size} of ${size} bytes` : 'it is gone');
}

async function findStored(dav: Dav, name: string) {
  const [file] = await propfind(dav, dav.urlOf(name), 0);
  if (file?.isFolder) throw notAFile(name, dav.address);
  if (!file) return undefined;
  // Some servers leave getcontentlength out.
  const head = () => sendChecked(dav, { method: 'HEAD', url: dav.urlOf(name) });
  const size = file.size ?? requireLength(await head(), name);
  return { ...file, size };
}

async function propfind(dav: Dav, url: URL, depth: 0 | 1) {
  const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
  const request = { method: 'PROPFIND', url, headers, body: PROPFIND, idempotent: true };
  const response = await send(dav, request);
  const { status, elements } = response;
  // The list of a folder leaves out what the user may not see.
  if (elements && (depth === 1 || isSuccess(response))) return filesOf(response, elements);
  if (status === 404) return [];
  if (status >= 400 && status !== 405 && status !== 501) requireSuccess(response);
  const message = `${dav.place} is not a WebDAV folder (${status})`;
  const facts = status >= 400 ? `${CHECK_URL}; ${NEEDED}` : CHECK_URL;
  throw new ImgctlError('bad-answer', message, { facts, status });
}

export function davStorage(
  url: URL,
  user: { readonly username: string; readonly password: string } | undefined,
  options: StorageOptions,
): Storage {
  const { clock, limit, partsFile } = options;
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
  const dav: Dav = {
    clock,
    limit,
    partsFile,
    requests,
    address,
    folder,
    urlOf,
    place,
    failed: new Set(),
    found: { destination: 0 },
  };
  return {
    address,
    keepsParts: false,
    async check() {
      const [file] = await propfind(dav, folder, 0);
      if (file?.isFolder) return;
      const facts = `create it, or ${CHECK_URL}`;
      throw new ImgctlError('not-found', `folder ${place} does not exist`, { facts });
    },
    async list() {
      const files = await propfind(dav, folder, 1);
      return files.flatMap(({ name, isFolder }) => (isFolder || isHidden(name) ? [] : name));
    },
    compare: (name, file, proved) => compare(dav, name, file, proved),
    look: async (name) => (await findStored(dav, name))?.text,
    put: (name, file, onProgress) => put(dav, name, file, onProgress),
    remove: (name) => remove(dav, name),
    async removeDeadParts(isLast) {
      const known = isLast ? undefined : tryOr(() => readOwnFile(partsFile ?? ''), undefined);
      // Their pushes have ended, since one runs at a time on this machine, whatever its name was then.
      for (const name of known?.split('\n') ?? []) {
        if (isDeadPart(name, Number.POSITIVE_INFINITY, clock.system)) dav.failed.add(name);
      }
      await removeFailed(dav);
      // Removes also a link or a pipe, since nothing must be added to one.
      if (partsFile) tryOr(() => fs.rmSync(partsFile, { force: true }), undefined);
      for (const { name, age } of await propfind(dav, folder, 1)) {
        if (isDeadPart(name, age, clock.system)) await remove(dav, name);
      }
    },
    close: requests.close,
  };
}
