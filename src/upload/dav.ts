// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import fs from 'node:fs';
import { ImgctlError, valueOr } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { backoff, httpDate, isSuccess } from '../http/retry.ts';
import { basicPair } from '../http/url.ts';
import { findAll, textOf } from '../ovf/xml.ts';
import {
  CHECK_URL,
  createRequests,
  PIECE,
  type Requests,
  type StorageRequest,
  statusError,
  streamBody,
  textBody,
  xmlOf,
} from './requests.ts';
import type { Source } from './source.ts';
import {
  arrivedWrong,
  type Comparison,
  conflict,
  isDeadPart,
  isHidden,
  nameTooLong,
  partName,
  type Staged,
  type Storage,
  type StorageOptions,
} from './storage.ts';

/** File systems take names of 255 bytes. */
const MAX_NAME = 255;
/** Names of parts to remove that the server does not list. */
const MAX_PARTS = 1_000;

const PROPFIND = textBody(
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getcontentlength/><getetag/><getlastmodified/><resourcetype/></prop></propfind>',
);

export class DavStorage implements Storage {
  readonly address: string;
  readonly #folder: URL;
  readonly #options: StorageOptions;
  readonly #requests: Requests;
  /** Parts of failed attempts, which the server may still be writing. */
  readonly #failed = new Set<string>();

  /** @param user undefined if the storage needs none */
  constructor(
    url: URL,
    user: { readonly username: string; readonly password: string } | undefined,
    options: StorageOptions,
  ) {
    const pair = user && basicPair(user.username, user.password);
    if (pair) options.onSecret(pair);
    const authorization: Record<string, string> = pair ? { authorization: `Basic ${pair}` } : {};
    this.address = url.host;
    this.#folder = new URL(`${url.href.replace(/\/$/, '')}/`);
    this.#options = options;
    this.#requests = createRequests(url, options, async ({ headers }) => {
      return { ...headers, ...authorization };
    });
  }

  async check(): Promise<void> {
    const [own] = (await this.#propfind(this.#folder, 0)) ?? [];
    if (own?.isFolder) return;
    throw new ImgctlError('not-found', `folder ${this.#place} does not exist`, {
      hint: `create it, or ${CHECK_URL}`,
    });
  }

  async list(): Promise<string[]> {
    const files = (await this.#propfind(this.#folder, 1)) ?? [];
    return files.flatMap(({ name, isFolder }) => (isFolder || isHidden(name) ? [] : name));
  }

  async compare(name: string, source: Source): Promise<Comparison> {
    if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, this.address);
    const stored = await this.#stat(name);
    if (!stored) return { state: 'absent' };
    if (stored.size !== source.size) return { state: 'different' };
    for (let start = 0; start < source.size; start += PIECE) {
      const end = Math.min(start + PIECE, source.size);
      const piece = await this.#readPiece(name, start, end);
      if (!piece) {
        const note = 'imgctl cannot compare them: the server sends no parts of files';
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
  }

  /** Uploads under a new name each time: the server may still be writing what it got before. */
  async put(name: string, source: Source, onProgress: (bytes: number) => void): Promise<Staged> {
    const { clock, retries, partsFile } = this.#options;
    for (let count = 1; ; count += 1) {
      const part = partName(name, clock.system);
      // nginx does not list hidden files. Without this file, a killed push may leave one.
      if (partsFile)
        valueOr(() => fs.appendFileSync(partsFile, `${part}\n`, { mode: 0o600 }), undefined);
      try {
        const body = streamBody(source.size, source.readAll, onProgress);
        const headers = { 'content-type': 'application/octet-stream' };
        await this.#do({ method: 'PUT', url: this.#urlOf(part), headers, body });
        const etag = await this.#requireSize(part, name, source);
        return {
          finish: (replace) => this.#finish(part, name, source, etag, replace),
          discard: () => this.#remove(part),
        };
      } catch (error) {
        this.#failed.add(part);
        const isLost = error instanceof TransportError;
        const mayPass = isLost
          ? error.transient && error.sent
          : error instanceof ImgctlError && error.code === 'server-error';
        if (!mayPass || count > retries) {
          // A server that is away would only delay the error; a later run removes the parts.
          if (!isLost) await this.#removeFailed();
          throw error;
        }
        await clock.sleep(backoff(count, clock.random()), clock.signal);
      }
    }
  }

  async sweep(isLast: boolean): Promise<void> {
    const { partsFile, clock } = this.#options;
    const known = partsFile
      ? valueOr(() => fs.readFileSync(partsFile, 'utf8').split('\n'), [])
      : [];
    const ages = new Map(known.slice(-MAX_PARTS).map((name) => [name, 0]));
    for (const { name, age } of (await this.#propfind(this.#folder, 1)) ?? []) ages.set(name, age);
    for (const [name, age] of ages)
      if (isDeadPart(name, age, clock.system)) await this.#remove(name);
    await this.#removeFailed();
    if (partsFile && isLast) valueOr(() => fs.rmSync(partsFile, { force: true }), undefined);
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  get #place(): string {
    return `${this.#folder.origin}${this.#folder.pathname.slice(0, -1)}`;
  }

  #urlOf(name: string): URL {
    return new URL(encodeURIComponent(name), this.#folder);
  }

  /** Sends a request. @throws ImgctlError, also for a status that is no success */
  async #do(request: StorageRequest): Promise<void> {
    const response = await this.#requests.send(request);
    if (!isSuccess(response)) throw statusError(response);
  }

  /** Returns undefined if there is no such file or folder. */
  async #propfind(url: URL, depth: 0 | 1) {
    const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
    const request = { method: 'PROPFIND', url, headers, body: PROPFIND, repeatable: true };
    const response = await this.#requests.send(request);
    const { status } = response;
    if (status === 404) return undefined;
    const files = status === 207 ? filesOf(response) : undefined;
    if (files) return files;
    if (status >= 400 && status !== 405 && status !== 501) throw statusError(response);
    const message = `${this.#place} is not a WebDAV folder (${status})`;
    throw new ImgctlError('bad-answer', message, { hint: CHECK_URL, status });
  }

  async #stat(name: string) {
    const file = (await this.#propfind(this.#urlOf(name), 0))?.[0];
    if (file?.isFolder) throw conflict(name, this.address);
    return file;
  }

  /** Returns the ETag of the stored file. */
  async #requireSize(stored: string, name: string, { size }: Source): Promise<string> {
    const file = await this.#stat(stored);
    if (file?.size === size) return file.etag;
    throw arrivedWrong(name, `${file?.size ?? 'none'} of ${size} bytes`);
  }

  /** Returns undefined if the server does not send just this piece. */
  async #readPiece(name: string, start: number, end: number): Promise<Buffer | undefined> {
    const headers = { range: `bytes=${start}-${end - 1}`, 'accept-encoding': 'identity' };
    const request = { method: 'GET', url: this.#urlOf(name), headers };
    const response = await this.#requests.send(request).catch((error: unknown) => {
      // A server without ranges sends the whole file, which is too large.
      if (error instanceof ImgctlError && error.code === 'bad-answer') return undefined;
      throw error;
    });
    const isPiece = response?.status === 206 || (response?.status === 200 && start === 0);
    return isPiece && response.body.length === end - start ? response.body : undefined;
  }

  async #remove(name: string): Promise<void> {
    const request = { method: 'DELETE', url: this.#urlOf(name), repeatable: true };
    const response = await this.#requests.send(request);
    if (!isSuccess(response) && response.status !== 404) throw statusError(response);
  }

  async #removeFailed(): Promise<void> {
    await Promise.allSettled([...this.#failed].map((part) => this.#remove(part)));
  }

  /** Moves a part to its name and checks it again. */
  async #finish(part: string, name: string, source: Source, etag: string, replace: boolean) {
    const headers = { destination: this.#urlOf(name).href, overwrite: replace ? 'T' : 'F' };
    try {
      await this.#do({ method: 'MOVE', url: this.#urlOf(part), headers });
    } catch (error) {
      if (error instanceof ImgctlError && error.status === 412) throw conflict(name, this.address);
      // The response was lost: the file was moved if the part is gone.
      const mayBeMoved = error instanceof TransportError && error.sent;
      if (!mayBeMoved || (await this.#stat(part))) throw error;
    }
    // Servers check and move in two steps, so that another push may have moved its file over this one.
    if ((await this.#requireSize(name, name, source)) !== etag) throw conflict(name, this.address);
  }
}

/** Returns undefined if the body is no multistatus. */
function filesOf(response: HttpResponse) {
  const root = xmlOf(response);
  if (root?.name !== 'multistatus') return undefined;
  const now = httpDate(response.headers.date ?? '') ?? response.receivedAt;
  return root.children
    .filter(({ name }) => name === 'response')
    .map((file) => ({
      name: nameOf(textOf(file, 'href') ?? '', response.url),
      isFolder: findAll(file, 'collection').length > 0,
      // A property that a file does not have comes with a status of its own, and empty.
      size: Number(textOf(file, 'getcontentlength') || 0),
      /** Empty if the server has none. */
      etag: textOf(file, 'getetag') ?? '',
      /** Milliseconds since the last change, by the clock of the server. */
      age: now - (httpDate(textOf(file, 'getlastmodified') ?? '') ?? now),
    }));
}

function nameOf(href: string, base: URL): string {
  const path = URL.canParse(href, base.href) ? new URL(href, base).pathname : href;
  const name = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
