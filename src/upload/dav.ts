// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { backoff, httpDate, isSuccess } from '../http/retry.ts';
import { basicPair } from '../http/url.ts';
import { findAll, textOf } from '../ovf/xml.ts';
import { bodyOf, createRequests, PIECE, statusError, xmlOf } from './requests.ts';
import type { Source } from './source.ts';
import {
  arrivedWrong,
  conflict,
  isDeadPart,
  isHidden,
  MAX_NAME,
  nameTooLong,
  partName,
  type Storage,
  type StorageOptions,
  type Target,
} from './storage.ts';

type DavTarget = Extract<Target, { kind: 'dav' }>;

const PROPFIND = bodyOf(
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getcontentlength/><getetag/><getlastmodified/><resourcetype/></prop></propfind>',
);

interface DavFile {
  readonly name: string;
  readonly isFolder: boolean;
  readonly size: number;
  /** Empty if the server has none. */
  readonly etag: string;
  /** Milliseconds since the last change, by the clock of the server. */
  readonly age: number;
}

/** @throws ImgctlError as `Storage`, after a look at the folder */
export async function openDav(
  { url: base, credentials }: DavTarget,
  options: StorageOptions,
): Promise<Storage> {
  const { clock, retries } = options;
  const pair = credentials && basicPair(credentials.username, credentials.password);
  if (pair) options.onSecret(pair);
  const authorization: Record<string, string> = pair ? { authorization: `Basic ${pair}` } : {};
  const { send, close } = createRequests(base, options, async ({ headers }) => {
    return { ...headers, ...authorization };
  });
  const address = base.host;
  const folder = new URL(`${base.href.replace(/\/$/, '')}/`);
  const urlOf = (name: string) => new URL(encodeURIComponent(name), folder);

  /** Returns undefined if there is no such file or folder. */
  const propfind = async (url: URL, depth: 0 | 1): Promise<DavFile[] | undefined> => {
    const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
    const request = { method: 'PROPFIND', url, headers, body: PROPFIND, repeatable: true };
    const response = await send(request);
    if (response.status === 404) return undefined;
    const files = response.status === 207 ? filesOf(response) : undefined;
    if (files) return files;
    if (response.status >= 400 && ![405, 501].includes(response.status))
      throw statusError(response);
    const message = `${base.origin}${base.pathname} is not a WebDAV folder (${response.status})`;
    throw new ImgctlError('bad-answer', message, {
      hint: 'check the URL, and that the server allows PROPFIND: imgctl config get upload-url',
      status: response.status,
    });
  };

  const statOf = async (name: string): Promise<DavFile | undefined> => {
    const file = (await propfind(urlOf(name), 0))?.[0];
    if (file?.isFolder) throw conflict(name, address);
    return file;
  };

  /** Returns the ETag of the stored file. */
  const requireSize = async (stored: string, name: string, { size }: Source): Promise<string> => {
    const file = await statOf(stored);
    if (file?.size === size) return file.etag;
    throw arrivedWrong(name, `${file?.size ?? 'none'} of ${size} bytes`);
  };

  /** Returns undefined if the server does not send just this piece. */
  const readPiece = async (url: URL, start: number, end: number): Promise<Buffer | undefined> => {
    const headers = { range: `bytes=${start}-${end - 1}`, 'accept-encoding': 'identity' };
    const response = await send({ method: 'GET', url, headers }).catch((error: unknown) => {
      // A server without ranges sends the whole file, which is too large.
      if (error instanceof ImgctlError && error.code === 'bad-answer') return undefined;
      throw error;
    });
    const isPiece = response?.status === 206 || (response?.status === 200 && start === 0);
    return isPiece && response.body.length === end - start ? response.body : undefined;
  };

  const remove = async (name: string): Promise<void> => {
    const response = await send({ method: 'DELETE', url: urlOf(name), repeatable: true });
    if (!isSuccess(response) && response.status !== 404) throw statusError(response);
  };

  const upload = async (part: string, source: Source, onProgress: (bytes: number) => void) => {
    const { size } = source;
    const chunks = async function* () {
      let position = 0;
      onProgress(position);
      for await (const chunk of source.readAll()) {
        yield chunk;
        position += chunk.length;
        onProgress(position);
      }
    };
    const headers = { 'content-type': 'application/octet-stream' };
    const body = { length: size, chunks };
    const response = await send({ method: 'PUT', url: urlOf(part), headers, body });
    if (!isSuccess(response)) throw statusError(response);
  };

  /** Uploads under a new name each time: the server may still be writing what it got before. */
  const uploadWithRetry = async (
    name: string,
    source: Source,
    onProgress: (bytes: number) => void,
  ): Promise<{ readonly part: string; readonly etag: string }> => {
    const failed: string[] = [];
    const clean = () => Promise.allSettled(failed.map(remove));
    for (let count = 1; ; count += 1) {
      const part = partName(name, clock.system);
      await options.onPart(part);
      try {
        await upload(part, source, onProgress);
        const etag = await requireSize(part, name, source);
        await clean();
        return { part, etag };
      } catch (error) {
        failed.push(part);
        const isLost = error instanceof TransportError;
        const isBusy = error instanceof ImgctlError && error.code === 'server-error';
        if ((isLost ? error.transient && error.sent : isBusy) && count <= retries) {
          await clock.sleep(backoff(count, clock.random()), clock.signal);
          continue;
        }
        // A server that is away would only delay the error; a later run removes the parts.
        if (!isLost) await clean();
        throw error;
      }
    }
  };

  const move = async (part: string, name: string, replace: boolean): Promise<void> => {
    const headers = { destination: urlOf(name).href, overwrite: replace ? 'T' : 'F' };
    try {
      const response = await send({ method: 'MOVE', url: urlOf(part), headers });
      if (response.status === 412) throw conflict(name, address);
      if (!isSuccess(response)) throw statusError(response);
    } catch (error) {
      // The response was lost: the file was moved if the part is gone.
      const mayBeMoved = error instanceof TransportError && error.sent;
      if (!mayBeMoved || (await statOf(part))) throw error;
    }
  };

  const storage: Storage = {
    address,
    async list() {
      const files = (await propfind(folder, 1)) ?? [];
      return files
        .filter(({ name, isFolder }) => !isFolder && !isHidden(name))
        .map(({ name }) => name);
    },
    async compare(name, source) {
      if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, address);
      const stored = await statOf(name);
      if (!stored) return { state: 'absent' };
      if (stored.size !== source.size) return { state: 'different' };
      const url = urlOf(name);
      for (let start = 0; start < source.size; start += PIECE) {
        const end = Math.min(start + PIECE, source.size);
        const piece = await readPiece(url, start, end);
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
    },
    async put(name, source, onProgress) {
      const { part, etag } = await uploadWithRetry(name, source, onProgress);
      return {
        async finish(replace) {
          await move(part, name, replace);
          // Servers check and move in two steps, so that another push may have moved its file over this one.
          if ((await requireSize(name, name, source)) !== etag) throw conflict(name, address);
        },
        discard: () => remove(part),
      };
    },
    async sweep(known) {
      const listed = (await propfind(folder, 1)) ?? [];
      const ages = new Map(known.map((name) => [name, 0]));
      for (const { name, age } of listed) ages.set(name, age);
      for (const [name, age] of ages) if (isDeadPart(name, age, clock.system)) await remove(name);
    },
    close,
  };

  try {
    const [own] = (await propfind(folder, 0)) ?? [];
    if (own?.isFolder) return storage;
    const message = `folder ${base.origin}${base.pathname} does not exist`;
    throw new ImgctlError('not-found', message, {
      hint: 'create it, or check the URL: imgctl config get upload-url',
    });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns undefined if the body is no multistatus. */
function filesOf(response: HttpResponse): DavFile[] | undefined {
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
      etag: textOf(file, 'getetag') ?? '',
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
