// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import fs from 'node:fs';
import { ImgctlError, tryOr } from '../errors.ts';
import { readOwnFile } from '../files/atomic-file.ts';
import { TransportError } from '../http/errors.ts';
import { basicPair } from '../http/url.ts';
import {
  type Dav,
  findFile,
  propfind,
  removeFile,
  requireSize,
  sendChecked,
} from './dav-folder.ts';
import { publishPart } from './dav-move.ts';
import { isDeadPart, isHidden, isPart, partName } from './part-names.ts';
import { readBack } from './read-back.ts';
import { createRequests, streamBody } from './requests.ts';
import { CHECK_URL } from './responses.ts';
import type { Comparison, OnBytes, Storage, StorageOptions } from './storage.ts';
import { nameTooLong } from './storage-errors.ts';
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
  const requests = createRequests(url, options, async ({ headers }) => {
    return { ...headers, ...authorization };
  });
  const address = url.host;
  const folder = new URL(`${url.href.replace(/\/$/, '')}/`);
  const place = `${folder.origin}${folder.pathname.slice(0, -1)}`;
  const urlOf = (name: string) => new URL(encodeURIComponent(name), folder);
  const unfinished = new Set<string>();
  const found = { refusedForms: 0 };
  const dav: Dav = { ...options, requests, address, folder, place, urlOf, unfinished, found };
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
    compare: (name, file, equalFingerprint) => compareFile(dav, name, file, equalFingerprint),
    look: async (name) => (await findFile(dav, name))?.fingerprint,
    put: (name, file, onProgress) => uploadPart(dav, name, file, onProgress),
    remove: (name) => removeFile(dav, name),
    async removeDeadParts(isLast) {
      if (!isLast) noteKilledParts(dav);
      keepParts(dav, await removeUnfinished(dav));
      for (const { name, age } of await propfind(dav, folder, 1)) {
        if (isDeadPart(name, age, clock.system)) await removeFile(dav, name);
      }
    },
    close: requests.close,
  };
}

async function compareFile(
  dav: Dav,
  name: string,
  file: UploadSource,
  equalFingerprint: string | undefined,
): Promise<Comparison> {
  if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, dav.address);
  const stored = await findFile(dav, name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  if (stored.fingerprint === equalFingerprint)
    return { state: 'same', stored: { fingerprint: equalFingerprint, isReliable: true } };
  const url = dav.urlOf(name);
  return readBack(file, stored, (rules) => sendChecked(dav, { method: 'GET', url, ...rules }));
}

/** Uploads under a new name in each attempt: the server may still be writing the last one. */
async function uploadPart(dav: Dav, name: string, file: UploadSource, onProgress: OnBytes) {
  const parts: string[] = [];
  const nextUrl = () => {
    const part = newPart(dav, name);
    parts.push(part);
    return dav.urlOf(part);
  };
  try {
    const body = streamBody(file.size, () => dav.limit(file.readAll()), onProgress);
    const headers = { 'content-type': 'application/octet-stream' };
    const request = { method: 'PUT', url: dav.folder, nextUrl, headers, body, idempotent: true };
    await sendChecked(dav, request);
    const part = parts.at(-1) ?? '';
    const sent = await requireSize(dav, part, name, file.size);
    dav.unfinished.delete(part);
    return {
      publish: (replace: boolean) => publishPart(dav, { part, name, sent }, replace),
      discard: () => removeFile(dav, part),
    };
  } catch (error) {
    // A server that is away would only delay the error; a later run removes the parts.
    if (!(error instanceof TransportError)) await removeUnfinished(dav);
    // Web servers often deny hidden files.
    const mayBeHidden = error instanceof ImgctlError && [403, 404].includes(error.status ?? 0);
    throw mayBeHidden ? error.with({ facts: CHECK_HIDDEN }) : error;
  }
}

/** Returns the name of a new part, and notes that it is unfinished. */
function newPart({ clock, unfinished, partsFile }: Dav, name: string): string {
  const part = partName(name, clock.system);
  unfinished.add(part);
  // nginx lists no hidden files: nobody else would find the part of a killed push.
  if (partsFile) tryOr(() => fs.appendFileSync(partsFile, `${part}\n`, { mode: 0o600 }), undefined);
  return part;
}

/** Notes the parts of killed pushes. They have ended, as one push runs at a time on a machine. */
function noteKilledParts({ unfinished, partsFile }: Dav): void {
  const text = partsFile && tryOr(() => readOwnFile(partsFile), undefined);
  // Only parts: anything else in a damaged file would be deleted from the storage.
  for (const line of text?.split('\n') ?? []) if (isPart(line)) unfinished.add(line);
}

/** Leaves only these parts in the file of names. */
function keepParts({ partsFile }: Dav, parts: readonly string[]): void {
  if (!partsFile) return;
  tryOr(() => {
    // Removes also a link or a pipe, since nothing must be added to one.
    fs.rmSync(partsFile, { force: true });
    const text = parts.map((part) => `${part}\n`).join('');
    if (text !== '') fs.writeFileSync(partsFile, text, { mode: 0o600, flag: 'wx' });
  }, undefined);
}

/** Returns the parts that could not be removed. */
async function removeUnfinished(dav: Dav): Promise<string[]> {
  const left: string[] = [];
  const removals = [...dav.unfinished].map((part) =>
    removeFile(dav, part).catch(() => left.push(part)),
  );
  await Promise.all(removals);
  return left;
}
