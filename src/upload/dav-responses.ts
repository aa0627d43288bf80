// What the responses of a WebDAV server mean: a multistatus, and the files in it (RFC 4918).

import { tryOr } from '../errors.ts';
import { httpDate } from '../http/headers.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { findAll, textOf, type XmlElement } from '../xml.ts';
import { isSettled } from './read-back.ts';
import { xmlOf } from './responses.ts';

/** Adds the elements of a multistatus to its response, with their first failure as the status. */
export function withElements(response: HttpResponse) {
  const root = response.status === 207 ? xmlOf(response) : undefined;
  if (root?.name !== 'multistatus') return { ...response, elements: undefined };
  const elements = root.children.filter(({ name }) => name === 'response');
  const failed = elements.map(statusWithin).find((status) => !isSuccess({ status }));
  return { ...response, status: failed ?? response.status, elements };
}

/** Returns the status of a file in a multistatus: of itself, or else of its properties, of which some may be missing. */
function statusWithin(element: XmlElement): number {
  const lines = findAll(element, 'status').map(({ text }) => text);
  const statuses = lines.map((line) => Number(/ (\d{3})\b/.exec(line)?.[1] ?? 200));
  return statuses.find((status) => isSuccess({ status })) ?? statuses[0] ?? 200;
}

/** Returns the files of a multistatus that the user may see. */
export function filesOf(response: HttpResponse, elements: readonly XmlElement[]) {
  const visible = elements.filter((element) => isSuccess({ status: statusWithin(element) }));
  return visible.map((element) => fileOf(element, response));
}

function fileOf(element: XmlElement, { headers, receivedAt }: HttpResponse) {
  const { date = '' } = headers;
  // A property that a file does not have comes with a status of its own, and empty.
  const length = textOf(element, 'getcontentlength') ?? '';
  const size = /^\d+$/.test(length) ? Number(length) : undefined;
  const etag = textOf(element, 'getetag') ?? '';
  const modified = textOf(element, 'getlastmodified') ?? '';
  const now = httpDate(date) ?? receivedAt;
  const name = textOf(element, 'href')?.replace(/\/$/, '').split('/').at(-1) ?? '';
  return {
    name: tryOr(() => decodeURIComponent(name), name),
    isFolder: findAll(element, 'collection').length > 0,
    size,
    /** Empty if the server has none. Without W/, which Apache drops a second after the last change. */
    etag: etag.replace(/^W\//, ''),
    text: [etag, modified, size].join(' '),
    isProof: isSettled(etag, modified, date),
    /** Milliseconds since the last change, by the clock of the server. */
    age: now - (httpDate(modified) ?? now),
  };
}
