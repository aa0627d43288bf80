// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { basicPair, withoutSlash } from '../http/url.ts';
import { type Dav, findFile, propfind, removeFile, sendChecked } from './dav-folder.ts';
import { UnfinishedParts } from './dav-parts.ts';
import { publishPart } from './dav-publish.ts';
import { isDeadPart, isHidden, isPartOf, partName, removeAll } from './part-names.ts';
import { readBack } from './read-back.ts';
import { createRequests, streamBody } from './requests.ts';
import { CHECK_URL } from './responses.ts';
import type { OnBytes, Storage, StorageOptions } from './storage.ts';
import { arrivedWrong, nameTooLong } from './storage-errors.ts';
import type { UploadSource } from './upload-file.ts';

/** File systems take names of 255 bytes. */
const MAX_NAME = 255;

const CHECK_HIDDEN =
  'check the permissions of the user, and that the server accepts names that begin with a dot';

export function davStorage(
  url: URL,
  user: { readonly username: string; readonly password: string } | undefined,
  options: StorageOptions,
): Storage {
  const { clock } = options;
  const pair = user && basicPair(user.username, user.password);
  if (pair) options.onSecret(pair);
  const authorization: Record<string, string> = pair ? { authorization: `Basic ${pair}` } : {};
  const { send, close } = createRequests(url, options, async ({ headers }) => {
    return { ...headers, ...authorization };
  });
  const address = url.host;
  const folder = new URL(`${withoutSlash(url.href)}/`);
  const place = `${folder.origin}${folder.pathname.slice(0, -1)}`;
  const urlOf = (name: string) => new URL(encodeURIComponent(name), folder);
  const unfinished = new UnfinishedParts(options.partsFile);
  const found = { refusedForms: 0 };
  const dav: Dav = { ...options, send, address, folder, place, urlOf, unfinished, found };
  return {
    address,
    async check() {
      const [file] = await propfind(dav, folder, 0);
      if (file?.isFolder) return;
      const advice = `create it, or ${CHECK_URL}`;
      throw new ImgctlError('not-found', `folder ${place} does not exist`, { facts: advice });
    },
    async list() {
      const files = await propfind(dav, folder, 1);
      return files.flatMap(({ name, isFolder }) => (isFolder || isHidden(name) ? [] : name));
    },
    async look(name) {
      if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, address);
      return findFile(dav, name);
    },
    compareContent(name, file, stored) {
      const url = urlOf(name);
      return readBack(file, stored, (rules) => sendChecked(dav, { method: 'GET', url, ...rules }));
    },
    put: (name, file, onProgress) => uploadPart(dav, name, file, onProgress),
    async remove(name) {
      const parts = unfinished.names.filter((part) => isPartOf(name, part));
      await removeAll([...parts, name], (each) => removeFile(dav, each));
    },
    async removeDeadParts() {
      unfinished.addKilled();
      unfinished.keepInFile(await removeParts(dav, unfinished.names));
      const dead: string[] = [];
      for (const { name, age } of await propfind(dav, folder, 1))
        if (isDeadPart(name, age, clock.system)) dead.push(name);
      await removeAll(dead, (each) => removeFile(dav, each));
    },
    close,
  };
}

/** Uploads under a new name in each attempt: the server may still be writing the last one. */
async function uploadPart(dav: Dav, name: string, file: UploadSource, onProgress: OnBytes) {
  const { clock, unfinished } = dav;
  const parts: string[] = [];
  const nextUrl = () => {
    const part = partName(name, clock.system);
    parts.push(part);
    unfinished.add(part);
    return dav.urlOf(part);
  };
  try {
    const body = streamBody(file.size, () => dav.limit(file.readAll()), onProgress);
    const headers = { 'content-type': 'application/octet-stream' };
    const request = { method: 'PUT', url: dav.folder, nextUrl, headers, body, idempotent: true };
    await sendChecked(dav, request);
    const part = parts.at(-1) ?? '';
    const arrived = await findFile(dav, part);
    if (arrived?.size !== file.size)
      throw arrivedWrong(name, arrived ? `${arrived.size} of ${file.size} bytes` : 'it is gone');
    const { size, tag } = arrived;
    return {
      publish: (replace: boolean) => publishPart(dav, { part, name, size, tag }, replace),
      discard: () => removeFile(dav, part).then(() => unfinished.delete(part)),
    };
  } catch (error) {
    // A server that is away would only delay the error; a later run removes the parts.
    if (!(error instanceof TransportError)) await removeParts(dav, parts);
    // Web servers often deny hidden files.
    const mayBeHidden = error instanceof ImgctlError && [403, 404].includes(error.status ?? 0);
    throw mayBeHidden ? error.with({ facts: CHECK_HIDDEN }) : error;
  }
}

/** Removes parts at once. Returns those that could not be removed. */
async function removeParts(dav: Dav, parts: readonly string[]): Promise<string[]> {
  const left: string[] = [];
  const removals = parts.map((part) => removeFile(dav, part).catch(() => left.push(part)));
  await Promise.all(removals);
  return left;
}
