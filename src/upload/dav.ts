// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import fs from 'node:fs';
import { hasCode, ImgctlError, valueOr } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { backoff, httpDate, isRetryableStatus, isSuccess } from '../http/retry.ts';
import { basicPair } from '../http/url.ts';
import { findAll, textOf } from '../ovf/xml.ts';
import {
  CHECK_URL,
  createRequests,
  PIECE,
  type StorageRequest,
  storageError,
  streamBody,
  textBody,
  xmlOf,
} from './requests.ts';
import type { Source } from './source.ts';
import {
  arrivedWrong,
  conflict,
  isDeadPart,
  isHidden,
  nameTooLong,
  partName,
  type Storage,
  type StorageOptions,
} from './storage.ts';

/** File systems take names of 255 bytes. */
const MAX_NAME = 255;
/** Maximum number of unlisted parts to remove. */
const MAX_PARTS = 1_000;

const PROPFIND = textBody(
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getcontentlength/><getetag/><getlastmodified/><resourcetype/></prop></propfind>',
);

/** @param user undefined if the storage needs none */
export function davStorage(
  url: URL,
  user: { readonly username: string; readonly password: string } | undefined,
  options: StorageOptions,
): Storage {
  const { clock, retries, partsFile } = options;
  const address = url.host;
  const folder = new URL(`${url.href.replace(/\/$/, '')}/`);
  const place = `${folder.origin}${folder.pathname.slice(0, -1)}`;
  /** Parts of failed attempts, which the server may still be writing. */
  const failed = new Set<string>();
  const pair = user && basicPair(user.username, user.password);
  if (pair) options.onSecret(pair);
  const authorization: Record<string, string> = pair ? { authorization: `Basic ${pair}` } : {};
  const requests = createRequests(url, options, async ({ headers }) => {
    return { ...headers, ...authorization };
  });
  const urlOf = (name: string) => new URL(encodeURIComponent(name), folder);

  /** Sends a request. @throws ImgctlError, also for a status that is no success */
  async function send(request: StorageRequest, allowed?: number): Promise<void> {
    const response = await requests.send(request);
    if (!isSuccess(response) && response.status !== allowed) throw storageError(response);
  }

  /** Returns nothing if there is no such file or folder. */
  async function propfind(url: URL, depth: 0 | 1) {
    const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
    const request = { method: 'PROPFIND', url, headers, body: PROPFIND, idempotent: true };
    const response = await requests.send(request);
    const { status } = response;
    if (status === 404) return [];
    const files = status === 207 ? filesOf(response) : undefined;
    if (files) return files;
    if (status >= 400 && status !== 405 && status !== 501) throw storageError(response);
    const message = `${place} is not a WebDAV folder (${status})`;
    throw new ImgctlError('bad-answer', message, { hint: CHECK_URL, status });
  }

  async function stat(name: string) {
    const [file] = await propfind(urlOf(name), 0);
    if (file?.isFolder) throw conflict(name, address);
    return file;
  }

  /** Returns the ETag of the stored file. */
  async function requireSize(stored: string, name: string, { size }: Source): Promise<string> {
    const file = await stat(stored);
    if (file?.size === size) return file.etag;
    throw arrivedWrong(name, `${file?.size ?? 'none'} of ${size} bytes`);
  }

  /** Returns undefined if the server does not send just this piece. */
  async function readPiece(name: string, start: number, end: number): Promise<Buffer | undefined> {
    const headers = { range: `bytes=${start}-${end - 1}`, 'accept-encoding': 'identity' };
    const request = { method: 'GET', url: urlOf(name), headers };
    const response = await requests.send(request).catch((error: unknown) => {
      // A server without ranges sends the whole file, which is too large.
      if (!hasCode(error, 'bad-answer')) throw error;
      return undefined;
    });
    if (response && isRetryableStatus(response.status)) throw storageError(response);
    const isPiece = response?.status === 206 || (response?.status === 200 && start === 0);
    return isPiece && response.body.length === end - start ? response.body : undefined;
  }

  const remove = (name: string) =>
    send({ method: 'DELETE', url: urlOf(name), idempotent: true }, 404);
  const removeFailed = () => Promise.allSettled([...failed].map(remove));

  /** Moves a part to its name and checks it again. */
  async function finish(
    part: string,
    name: string,
    source: Source,
    etag: string,
    replace: boolean,
  ) {
    const headers = { destination: urlOf(name).href, overwrite: replace ? 'T' : 'F' };
    try {
      await send({ method: 'MOVE', url: urlOf(part), headers });
    } catch (error) {
      if (error instanceof ImgctlError && error.status === 412) throw conflict(name, address);
      // The response was lost: the file was moved if the part is gone.
      const mayBeMoved = error instanceof TransportError && error.sent;
      if (!mayBeMoved || (await stat(part))) throw error;
    }
    // Without an ETag, a file of the same size that was there before looks like the part.
    if (etag === '' && (await stat(part))) {
      throw new ImgctlError('bad-answer', `${address} did not rename ${part} to ${name}`, {
        hint: 'ask the administrators of the storage',
      });
    }
    // Servers check and move in two steps, so that another push may have moved its file over this one.
    if ((await requireSize(name, name, source)) === etag) return;
    throw replace ? arrivedWrong(name, 'another file replaced it') : conflict(name, address);
  }

  return {
    address,
    async check() {
      const [own] = await propfind(folder, 0);
      if (own?.isFolder) return;
      throw new ImgctlError('not-found', `folder ${place} does not exist`, {
        hint: `create it, or ${CHECK_URL}`,
      });
    },
    async list() {
      const files = await propfind(folder, 1);
      return files.flatMap(({ name, isFolder }) => (isFolder || isHidden(name) ? [] : name));
    },
    async compare(name, source) {
      if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, address);
      const stored = await stat(name);
      if (!stored) return { state: 'absent' };
      if (stored.size !== source.size) return { state: 'different' };
      for (let start = 0; start < source.size; start += PIECE) {
        const end = Math.min(start + PIECE, source.size);
        const piece = await readPiece(name, start, end);
        if (!piece) {
          const note = 'imgctl cannot compare them: the server does not return parts of files';
          return { state: 'different', note };
        }
        let position = 0;
        for await (const chunk of source.read(start, end)) {
          if (!chunk.equals(piece.subarray(position, position + chunk.length)))
            return { state: 'different' };
          position += chunk.length;
        }
      }
      return { state: 'same' };
    },

    /** Uploads under a new name each time: the server may still be writing what it got before. */
    async put(name, source, onProgress) {
      for (let count = 1; ; count += 1) {
        const part = partName(name, clock.system);
        // nginx does not list hidden files. Without this file, a killed push may leave one.
        if (partsFile)
          valueOr(() => fs.appendFileSync(partsFile, `${part}\n`, { mode: 0o600 }), undefined);
        try {
          const body = streamBody(source.size, source.readAll, onProgress);
          const headers = { 'content-type': 'application/octet-stream' };
          await send({ method: 'PUT', url: urlOf(part), headers, body });
          const etag = await requireSize(part, name, source);
          return {
            finish: (replace) => finish(part, name, source, etag, replace),
            discard: () => remove(part),
          };
        } catch (error) {
          failed.add(part);
          const isLost = error instanceof TransportError;
          const mayPass = isLost ? error.transient && error.sent : hasCode(error, 'server-error');
          if (!mayPass || count > retries) {
            // A server that is away would only delay the error; a later run removes the parts.
            if (!isLost) await removeFailed();
            throw error;
          }
          await clock.sleep(backoff(count, clock.random()), clock.signal);
        }
      }
    },
    async sweep(isLast) {
      const known = partsFile
        ? valueOr(() => fs.readFileSync(partsFile, 'utf8').split('\n'), [])
        : [];
      const ages = new Map(known.slice(-MAX_PARTS).map((name) => [name, 0]));
      for (const { name, age } of await propfind(folder, 1)) ages.set(name, age);
      for (const [name, age] of ages) if (isDeadPart(name, age, clock.system)) await remove(name);
      await removeFailed();
      if (partsFile && isLast) valueOr(() => fs.rmSync(partsFile, { force: true }), undefined);
    },
    close: requests.close,
  };
}

/** Returns undefined if the body is no multistatus. */
function filesOf(response: HttpResponse) {
  const root = xmlOf(response);
  if (root?.name !== 'multistatus') return undefined;
  const now = httpDate(response.headers.date ?? '') ?? response.receivedAt;
  return root.children
    .filter(({ name }) => name === 'response')
    .map((file) => ({
      name: nameOf(textOf(file, 'href') ?? ''),
      isFolder: findAll(file, 'collection').length > 0,
      // A property that a file does not have comes with a status of its own, and empty.
      size: Number(textOf(file, 'getcontentlength') || 0),
      /** Empty if the server has none. */
      etag: textOf(file, 'getetag') ?? '',
      /** Milliseconds since the last change, by the clock of the server. */
      age: now - (httpDate(textOf(file, 'getlastmodified') ?? '') ?? now),
    }));
}

function nameOf(href: string): string {
  const name = href.replace(/\/$/, '').split('/').at(-1) ?? '';
  return valueOr(() => decodeURIComponent(name), name);
}
