// A WebDAV storage: uploads to a hidden name, checks the size, then moves it (RFC 4918).

import fs from 'node:fs';
import { hasCode, ImgctlError, tryOr } from '../errors.ts';
import { readOwnFile } from '../files/atomic-file.ts';
import { TransportError } from '../http/errors.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { basicPair } from '../http/url.ts';
import { filesOf, withElements } from './dav-responses.ts';
import { readBack } from './read-back.ts';
import { createRequests, REFUSALS, type StorageRequest, streamBody, textBody } from './requests.ts';
import { CHECK_URL, requireLength, storageError } from './responses.ts';
import {
  arrivedWrong,
  type Comparison,
  conflict,
  isDeadPart,
  isHidden,
  isPart,
  isRival,
  LATE,
  nameTooLong,
  notAFile,
  type OnBytes,
  partName,
  replacedError,
  type Storage,
  type StorageOptions,
  type StoredState,
} from './storage.ts';
import type { UploadSource } from './upload-file.ts';

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
  readonly requests: ReturnType<typeof createRequests>;
  readonly address: string;
  /** With a slash at its end. */
  readonly folder: URL;
  readonly urlOf: (name: string) => URL;
  /** The URL of the folder for messages, without the slash. */
  readonly place: string;
  /** Parts that did not arrive as a whole; the server may still be writing them. */
  readonly unfinished: Set<string>;
  /** What was found out about the server: how many forms of Destination it refuses. */
  readonly found: { refusedForms: number };
}

type DavFile = NonNullable<Awaited<ReturnType<typeof findFile>>>;

async function compareFile(
  dav: Dav,
  name: string,
  file: UploadSource,
  proved: string | undefined,
): Promise<Comparison> {
  if (Buffer.byteLength(name) > MAX_NAME) throw nameTooLong(name, dav.address);
  const stored = await findFile(dav, name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  if (stored.text === proved) return { state: 'same', stored: { text: proved, isProof: true } };
  const url = dav.urlOf(name);
  return readBack(file, stored, (rules) => sendChecked(dav, { method: 'GET', url, ...rules }));
}

/** Uploads under a new name for each attempt: the server may still be writing what it got before. */
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
      publish: (replace: boolean, onPerhapsVisible: () => void) =>
        publishPart(dav, { part, name, sent }, replace, onPerhapsVisible),
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
  // nginx does not list hidden files: without this file, nobody would find the part of a killed push.
  if (partsFile) tryOr(() => fs.appendFileSync(partsFile, `${part}\n`, { mode: 0o600 }), undefined);
  return part;
}

/** Notes the parts of a push that was killed: it has ended, since one push runs at a time on a machine. */
function noteKilledParts({ unfinished, partsFile }: Dav): void {
  const text = partsFile && tryOr(() => readOwnFile(partsFile), undefined);
  // Only parts: anything else in a damaged file would be deleted from the storage.
  for (const line of text?.split('\n') ?? []) if (isPart(line)) unfinished.add(line);
}

/**
 * A server behind a proxy may refuse the scheme of its users in Destination: the path alone and http are tried too.
 * @throws ImgctlError of the first form
 */
async function sendMove(dav: Dav, part: string, name: string, replace: boolean): Promise<void> {
  const { href, pathname } = dav.urlOf(name);
  const forms = [...new Set([href, pathname, href.replace(/^https:/, 'http:')])];
  const overwrite = replace ? 'T' : 'F';
  const refusals: ImgctlError[] = [];
  for (const destination of forms.slice(dav.found.refusedForms)) {
    const refusal = await tryMove(dav, part, { destination, overwrite });
    if (!refusal) {
      dav.found.refusedForms += refusals.length;
      return;
    }
    refusals.push(refusal);
  }
  throw refusals[0];
}

/** Returns why the part was not moved, if that may be the form of Destination, or if it is gone. @throws other errors */
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

/** A part that arrived as a whole. */
interface ArrivedPart {
  readonly part: string;
  /** The name that it gets. */
  readonly name: string;
  /** The part as the server showed it. */
  readonly sent: DavFile;
}

/** What the response to MOVE says. */
type Move =
  | { readonly kind: 'moved' }
  /** Refused: nothing was moved. Failed: nothing is moved later. Lost: the server may also move it later. */
  | { readonly kind: 'refused' | 'failed' | 'lost'; readonly failure: ImgctlError };

/**
 * Moves the part to its name, and looks where it is then, which decides:
 *
 *     MOVE         | part    | file of that name    | result
 *     -------------+---------+----------------------+-------------------------------------------------
 *     refused      | (neither is looked at)         | its failure, or a conflict if the name is taken
 *     failed       | there   | (not looked at)      | its failure
 *     lost         | there   | (not looked at)      | its failure, perhaps visible
 *     moved        | there   | (not looked at)      | failed: not renamed, perhaps visible
 *     other        | unknown | (not looked at)      | failure of the look, perhaps visible
 *     other        | gone    | none or another size | failed: wrong size, perhaps visible
 *     other        | gone    | another ETag         | conflict, perhaps visible
 *     other        | gone    | same ETag            | done
 *     moved        | gone    | both without ETags   | done
 *     failed, lost | gone    | both without ETags   | done; with replace a conflict: it may be the old file
 *
 * Some servers make a new ETag when a file is moved, so the caller compares the content after a conflict before it blames
 * another push.
 */
async function publishPart(
  dav: Dav,
  arrived: ArrivedPart,
  replace: boolean,
  onPerhapsVisible: () => void,
): Promise<StoredState> {
  const move = await moveToName(dav, arrived, replace);
  if (move.kind === 'refused') throw move.failure;
  const isLeft = await findFile(dav, arrived.part).catch((error: unknown) => {
    onPerhapsVisible();
    throw error;
  });
  if (isLeft && move.kind === 'failed') throw move.failure;
  onPerhapsVisible();
  if (isLeft) throw move.kind === 'lost' ? move.failure : notRenamed(dav, arrived);
  return requireArrived(dav, arrived, replace, move.kind === 'moved');
}

async function moveToName(dav: Dav, { part, name }: ArrivedPart, replace: boolean): Promise<Move> {
  try {
    await sendMove(dav, part, name, replace);
    return { kind: 'moved' };
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    const isTaken = error.status === 412 && !replace;
    if (isTaken && (await findFile(dav, name)))
      return { kind: 'refused', failure: conflict(name, dav.address) };
    return failedMove(error);
  }
}

function failedMove(failure: ImgctlError): Move {
  // An earlier attempt may have moved the part: then it is not found, or its lock comes too late.
  const mayBeMoved =
    failure instanceof TransportError
      ? failure.sent
      : hasCode(failure, 'server-error', 'locked', 'not-found');
  if (!mayBeMoved) return { kind: 'refused', failure };
  // No response came, or a proxy did not wait for the server (502, 504), which may go on.
  const isLost = [undefined, 502, 504].includes(failure.status);
  return { kind: isLost ? 'lost' : 'failed', failure };
}

function notRenamed({ address }: Dav, { part, name }: ArrivedPart): ImgctlError {
  const advice = 'ask the administrators of the storage';
  const message = `${address} did not rename ${part} to ${name}`;
  return new ImgctlError('bad-answer', message, { facts: advice });
}

/** Returns the state of the file, if it is the part. @param isMoved the server has said that it moved the part */
async function requireArrived(
  dav: Dav,
  { part, name, sent }: ArrivedPart,
  replace: boolean,
  isMoved: boolean,
): Promise<StoredState> {
  // Servers check and move in two steps, so that another push may still move its file over this one.
  if (!replace && (await mayHaveRival(dav, part))) await dav.clock.sleep(LATE, dav.clock.signal);
  const { etag, text } = await requireSize(dav, name, name, sent.size);
  // The part may have been removed instead of moved.
  const mayBeOld = replace && !isMoved && etag === '';
  if (etag !== sent.etag || mayBeOld) throw replacedError(name, dav.address, replace);
  // No proof, since only the size was checked: the next push compares the content.
  return { text, isProof: false };
}

/** True if another push may be uploading a file of that name: one does, or the folder cannot be listed. */
async function mayHaveRival(dav: Dav, part: string): Promise<boolean> {
  const files = await propfind(dav, dav.folder, 1).catch(() => undefined);
  return files?.some(({ name }) => isRival(name, part)) ?? true;
}

/** Returns true if none of the parts is left, as far as the server says. */
async function removeUnfinished(dav: Dav): Promise<boolean> {
  const removals = [...dav.unfinished].map((part) => removeFile(dav, part));
  const results = await Promise.allSettled(removals);
  return results.every(({ status }) => status === 'fulfilled');
}

async function removeFile(dav: Dav, name: string): Promise<void> {
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
  throw isUnknownMethod(response) ? error.with({ facts: NEEDED }) : error;
}

function isUnknownMethod({ status }: HttpResponse): boolean {
  return status === 405 || status === 501;
}

async function send({ requests }: Dav, request: StorageRequest) {
  return withElements(await requests.send(request));
}

/** @param at the name that the file has now @param name the name for the error */
async function requireSize(dav: Dav, at: string, name: string, size: number) {
  const file = await findFile(dav, at);
  if (file?.size === size) return file;
  // A server may show a file late, such as one whose disk is in a network.
  await dav.clock.sleep(LATE, dav.clock.signal);
  const late = await findFile(dav, at);
  if (late?.size === size) return late;
  throw arrivedWrong(name, late ? `${late.size} of ${size} bytes` : 'it is gone');
}

async function findFile(dav: Dav, name: string) {
  const [file] = await propfind(dav, dav.urlOf(name), 0);
  if (!file) return undefined;
  if (file.isFolder) throw notAFile(name, dav.address);
  if (file.size !== undefined) return { ...file, size: file.size };
  // Some servers leave getcontentlength out.
  const head = await sendChecked(dav, { method: 'HEAD', url: dav.urlOf(name) });
  return { ...file, size: requireLength(head, name) };
}

/** Returns the file or folder at a URL (depth 0), or also what is in the folder (1); none if it does not exist. */
async function propfind(dav: Dav, url: URL, depth: 0 | 1) {
  const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
  const request = { method: 'PROPFIND', url, headers, body: PROPFIND, idempotent: true };
  const response = await send(dav, request);
  const { status, elements } = response;
  // In the list of a folder, the failures are of entries that the user may not see; they are left out.
  if (elements && (depth === 1 || isSuccess(response))) return filesOf(response, elements);
  if (status === 404) return [];
  const isRefused = status >= 400 && !isUnknownMethod(response);
  if (isRefused) requireSuccess(response);
  const message = `${dav.place} is not a WebDAV folder (${status})`;
  const advice = status >= 400 ? `${CHECK_URL}; ${NEEDED}` : CHECK_URL;
  throw new ImgctlError('bad-answer', message, { facts: advice, status });
}

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
  const unfinished = new Set<string>();
  const found = { refusedForms: 0 };
  const dav: Dav = { ...options, requests, address, folder, place, urlOf, unfinished, found };
  return {
    address,
    keepsParts: false,
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
    compare: (name, file, proved) => compareFile(dav, name, file, proved),
    look: async (name) => (await findFile(dav, name))?.text,
    put: (name, file, onProgress) => uploadPart(dav, name, file, onProgress),
    remove: (name) => removeFile(dav, name),
    async removeDeadParts(isLast) {
      if (!isLast) noteKilledParts(dav);
      const areGone = await removeUnfinished(dav);
      // Removes also a link or a pipe, since nothing must be added to one.
      if (areGone && partsFile) tryOr(() => fs.rmSync(partsFile, { force: true }), undefined);
      for (const { name, age } of await propfind(dav, folder, 1)) {
        if (isDeadPart(name, age, clock.system)) await removeFile(dav, name);
      }
    },
    close: requests.close,
  };
}
