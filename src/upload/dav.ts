// A WebDAV storage: uploads to a hidden name, checks what arrived, then moves it (RFC 4918).

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { backoff, isSuccess } from '../http/retry.ts';
import { basicPair } from '../http/url.ts';
import { findFiles, type ListedFile, PROPFIND_BODY } from './dav-listing.ts';
import { readRange, supportsRanges } from './dav-ranges.ts';
import { createRequests, statusError } from './requests.ts';
import type { Source } from './source.ts';
import {
  arrivedWrong,
  conflict,
  isHidden,
  type PutOptions,
  partName,
  type Storage,
  type StorageOptions,
  type StoredFile,
  type Target,
  type UploadState,
} from './storage.ts';

type DavTarget = Extract<Target, { kind: 'dav' }>;

/** Bytes of an interrupted upload that are compared before it continues. */
const TAIL = 64 * 1024;
const PIECE = 8 * 2 ** 20;

export function openDav({ url: base, credentials }: DavTarget, options: StorageOptions): Storage {
  const pair = credentials && basicPair(credentials.username, credentials.password);
  if (pair) options.onSecret(pair);
  const authorization: Record<string, string> = pair ? { authorization: `Basic ${pair}` } : {};
  const requests = createRequests(base, options, async ({ headers }) => {
    return { ...headers, ...authorization };
  });
  const { send } = requests;
  const address = base.host;

  const urlOf = (name: string): URL => {
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/$/, '')}/${encodeURIComponent(name)}`;
    return url;
  };

  const propfind = async (url: URL, depth: 0 | 1): Promise<ListedFile[] | undefined> => {
    const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
    const body = PROPFIND_BODY;
    const response = await send({ method: 'PROPFIND', url, headers, body, repeatable: true });
    if (response.status === 404) return undefined;
    const files = response.status === 207 ? findFiles(response) : undefined;
    if (files) return files;
    if (response.status >= 400 && ![405, 501].includes(response.status))
      throw statusError(response);
    const message = `${base.origin}${base.pathname} is not a WebDAV folder (${response.status})`;
    throw new ImgctlError('bad-answer', message, {
      hint: 'check the URL, and that the server allows PROPFIND: imgctl config get upload-url',
      status: response.status,
    });
  };

  const statOf = async (name: string): Promise<StoredFile | undefined> => {
    const file = (await propfind(urlOf(name), 0))?.[0];
    if (file?.isFolder) throw conflict(name, address);
    return file;
  };

  let ranges: Promise<boolean> | undefined;

  /** True if the stored bytes before `end` are those of the source, judged by the last ones. */
  const endsAlike = async (name: string, end: number, source: Source) => {
    const start = Math.max(0, end - TAIL);
    const bytes = await readRange(send, urlOf(name), start, end);
    return bytes?.equals(await source.peek(start, end - start)) === true;
  };

  /** Returns how many bytes of the part are surely those of the source. */
  const resumePoint = async (part: string, source: Source): Promise<number> => {
    const size = (await statOf(part))?.size ?? 0;
    if (size === 0 || size > source.size || !(await endsAlike(part, size, source))) return 0;
    if (size === source.size) return size;
    ranges ??= supportsRanges(send, urlOf).catch((error: unknown) => {
      // The next try asks again.
      ranges = undefined;
      throw error;
    });
    return (await ranges) ? size : 0;
  };

  const upload = async (part: string, start: number, { source, onProgress }: PutOptions) => {
    const { size } = source;
    onProgress(start);
    if (start === size && size > 0) return;
    const chunks = async function* () {
      let position = start;
      for await (const chunk of source.read(start)) {
        yield chunk;
        position += chunk.length;
        onProgress(position);
      }
    };
    const response = await send({
      method: 'PUT',
      url: urlOf(part),
      headers: {
        'content-type': 'application/octet-stream',
        ...(start > 0 ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
      },
      body: { length: size - start, chunks },
    });
    if (!isSuccess(response)) throw statusError(response);
  };

  return {
    address,
    async check() {
      const folder = await propfind(new URL(`${base.href.replace(/\/$/, '')}/`), 0);
      if (folder?.[0]?.isFolder) return;
      const message = `folder ${base.origin}${base.pathname} does not exist`;
      throw new ImgctlError('not-found', message, {
        hint: 'create it, or check the URL: imgctl config get upload-url',
      });
    },
    async list() {
      const url = new URL(`${base.href.replace(/\/$/, '')}/`);
      const files = (await propfind(url, 1)) ?? [];
      const visible = files.filter(({ name, isFolder }) => !isFolder && !isHidden(name));
      return new Map(visible.map((file) => [file.name, file]));
    },
    stat: statOf,
    async holds(name, { size }, source) {
      if (size !== source.size) return false;
      for (let start = 0; start < size; start += PIECE) {
        const end = Math.min(start + PIECE, size);
        const bytes = await readRange(send, urlOf(name), start, end);
        if (!bytes?.equals(await source.peek(start, end - start))) return false;
      }
      return true;
    },
    async put(name, put) {
      const part = partName(name);
      const state: UploadState = { part };
      let mayContinue = put.state !== undefined;
      await put.save(state);
      for (let count = 1; ; count += 1) {
        try {
          const start = mayContinue ? await resumePoint(part, put.source) : 0;
          await upload(part, start, put);
          break;
        } catch (error) {
          const isTransient = error instanceof TransportError && error.transient;
          const isBusy = error instanceof ImgctlError && error.code === 'server-error';
          if ((!isTransient && !isBusy) || count > options.retries) throw error;
        }
        mayContinue = true;
        await options.clock.sleep(backoff(count, options.clock.random()), options.clock.signal);
      }
      const stored = await statOf(part);
      if (stored?.size === put.source.size) return { state, stored };
      throw arrivedWrong(name, `${stored?.size ?? 'none'} of ${put.source.size} bytes`);
    },
    async finish(name, _state, replace) {
      const part = partName(name);
      const expected = await statOf(part);
      if (!replace && (await statOf(name))) throw conflict(name, address);
      const headers = { destination: urlOf(name).href, overwrite: replace ? 'T' : 'F' };
      const moved = await send({ method: 'MOVE', url: urlOf(part), headers }).catch(
        (error: unknown) => {
          // The connection was lost: what is there says whether the file was moved.
          if (error instanceof TransportError && error.sent) return error;
          throw error;
        },
      );
      if (moved instanceof TransportError && (await statOf(part))) throw moved;
      if (!(moved instanceof TransportError) && moved.status === 412) throw conflict(name, address);
      if (!(moved instanceof TransportError) && !isSuccess(moved)) throw statusError(moved);
      const stored = await statOf(name);
      if (stored && stored.size === expected?.size) return stored;
      throw arrivedWrong(name, `${stored?.size ?? 'none'} of ${expected?.size} bytes`);
    },
    async remove(name) {
      const response = await send({
        method: 'DELETE',
        url: urlOf(partName(name)),
        repeatable: true,
      });
      if (!isSuccess(response) && response.status !== 404) throw statusError(response);
    },
    close: requests.close,
  };
}
