// The folder of a WebDAV storage: requests for its files, and files as the server shows them.

import { ImgctlError, tryOr } from '../errors.ts';
import { httpDate } from '../http/headers.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { withoutSlash } from '../http/url.ts';
import { isDigits } from '../words.ts';
import { findAll, textOf, type XmlElement } from '../xml.ts';
import type { UnfinishedParts } from './dav-parts.ts';
import { type StorageRequest, textBody } from './requests.ts';
import {
  CHECK_URL,
  isSettledTag,
  requireLength,
  storageError,
  storedFingerprint,
  xmlOf,
} from './responses.ts';
import type { StorageOptions, StoredFile } from './storage.ts';
import { notAFile } from './storage-errors.ts';

const NEEDED =
  'the server must allow PROPFIND, PUT, MOVE and DELETE; nginx needs its module dav-ext';

const PROPFIND = textBody(
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><getcontentlength/><getetag/><getlastmodified/><resourcetype/></prop></propfind>',
);

export interface Dav extends Pick<StorageOptions, 'clock' | 'limit'> {
  readonly send: (request: StorageRequest) => Promise<HttpResponse>;
  readonly address: string;
  /** With a slash at its end. */
  readonly folder: URL;
  readonly urlOf: (name: string) => URL;
  /** The URL of the folder for messages, without the slash. */
  readonly place: string;
  readonly unfinished: UnfinishedParts;
  /** What was found out about the server: how many forms of Destination it refuses. */
  readonly found: { refusedForms: number };
}

/** A file or folder as the server shows it. */
interface DavFile extends Omit<StoredFile, 'size'> {
  readonly name: string;
  readonly isFolder: boolean;
  readonly size: number | undefined;
  /** Milliseconds since the last change, by the clock of the server. */
  readonly age: number;
}

export async function findFile(dav: Dav, name: string) {
  const [file] = await propfind(dav, dav.urlOf(name), 0);
  if (!file) return undefined;
  if (file.isFolder) throw notAFile(name, dav.address);
  if (file.size !== undefined) return { ...file, size: file.size };
  // Some servers leave getcontentlength out.
  const head = await sendChecked(dav, { method: 'HEAD', url: dav.urlOf(name) }, [404]);
  // It was removed between the two requests.
  if (head.status === 404) return undefined;
  return { ...file, size: requireLength(head, name) };
}

/**
 * Returns the file or folder at a URL, and with depth 1 what is in it:
 *
 *     response                         | returns
 *     ---------------------------------+----------------------------------
 *     multistatus, depth 1             | the entries that the user may see
 *     multistatus with a success       | its entry
 *     404, or a multistatus with a 404 | nothing
 *     405, 501, or another success     | throws: not a WebDAV folder
 *     any other status                 | throws its error
 */
export async function propfind(dav: Dav, url: URL, depth: 0 | 1): Promise<DavFile[]> {
  const headers = { depth: `${depth}`, 'content-type': 'application/xml; charset=utf-8' };
  const request = { method: 'PROPFIND', url, headers, body: PROPFIND, idempotent: true };
  const response = await sendDav(dav, request);
  const { status, elements } = response;
  if (elements && (depth === 1 || isSuccess(response)))
    return elements
      .filter((element) => isSuccess({ status: statusWithin(element) }))
      .map((element) => fileOf(element, response));
  if (status === 404) return [];
  if (status >= 400 && !isUnknownMethod(response)) throw storageError(response);
  const message = `${dav.place} is not a WebDAV folder (${status})`;
  const advice = status >= 400 ? `${CHECK_URL}; ${NEEDED}` : CHECK_URL;
  throw new ImgctlError('bad-answer', message, { facts: advice, status });
}

/** Removes a file, if it exists. */
export async function removeFile(dav: Dav, name: string): Promise<void> {
  const request = { method: 'DELETE', url: dav.urlOf(name), idempotent: true };
  await sendChecked(dav, request, [404]);
}

/** Sends a request. @throws ImgctlError for a status that is neither a success nor expected */
export async function sendChecked(
  dav: Dav,
  request: StorageRequest,
  expected: readonly number[] = [],
): Promise<HttpResponse> {
  const response = await sendDav(dav, request);
  if (isSuccess(response) || expected.includes(response.status)) return response;
  const error = storageError(response);
  throw isUnknownMethod(response) ? error.with({ facts: NEEDED }) : error;
}

function isUnknownMethod({ status }: HttpResponse): boolean {
  return status === 405 || status === 501;
}

/** A multistatus gets the status of its first failure, and its elements. */
async function sendDav(dav: Dav, request: StorageRequest) {
  const response = await dav.send(request);
  const root = response.status === 207 ? xmlOf(response) : undefined;
  if (root?.name !== 'multistatus') return { ...response, elements: undefined };
  const elements = root.children.filter(({ name }) => name === 'response');
  const failed = elements.map(statusWithin).find((status) => !isSuccess({ status }));
  return { ...response, status: failed ?? response.status, elements };
}

/** Returns the status of a file, or else of its properties, of which some may be missing. */
function statusWithin(element: XmlElement): number {
  const lines = findAll(element, 'status').map(({ text }) => text);
  const statuses = lines.map((line) => Number(/ (\d{3})\b/.exec(line)?.[1] ?? 200));
  return statuses.find((status) => isSuccess({ status })) ?? statuses[0] ?? 200;
}

function fileOf(element: XmlElement, { headers, receivedAt }: HttpResponse): DavFile {
  const { date = '' } = headers;
  // A property that a file does not have comes with a status of its own, and empty.
  const length = textOf(element, 'getcontentlength') ?? '';
  const size = isDigits(length) ? Number(length) : undefined;
  const etag = textOf(element, 'getetag') ?? '';
  // Apache drops W/ a second after the last change.
  const tag = etag.replace(/^W\//, '');
  const modified = textOf(element, 'getlastmodified') ?? '';
  const now = httpDate(date) ?? receivedAt;
  const name =
    withoutSlash(textOf(element, 'href') ?? '')
      .split('/')
      .at(-1) ?? '';
  return {
    name: tryOr(() => decodeURIComponent(name), name),
    isFolder: findAll(element, 'collection').length > 0,
    size,
    tag,
    fingerprint: storedFingerprint(tag, modified, size),
    isSettled: isSettledTag(etag, modified, date),
    age: now - (httpDate(modified) ?? now),
  };
}
