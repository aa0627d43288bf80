// Image sync requests, sections 2.5, 4.5 and 4.6 of service.md.

import { hasCode, ImgctlError } from '../errors.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { pageText } from '../http/page.ts';
import { withoutSlash } from '../http/url.ts';
import { isCount, isObject, type JsonObject, parseJson, stringify } from '../json.ts';
import { oneLine, shorten } from '../words.ts';
import type { Send } from './auth.ts';
import {
  describePage,
  isPage,
  parseId,
  readJson,
  requireSameId,
  serviceMessage,
  shapeError,
  statusError,
} from './responses.ts';

/** As the service sent it; beyond 2^53 a text. */
export type SyncId = number | string;

export interface SubmittedSync {
  readonly id: SyncId;
  /** As sent. */
  readonly status: string | undefined;
  readonly message: string | undefined;
  readonly response: unknown;
}

export type SyncState = 'waiting' | 'succeeded' | 'failed';

/** Names or a count; null if the service sends something else, undefined if it sends nothing. */
type SyncedImages = number | readonly unknown[] | null | undefined;

export interface SyncRequest {
  readonly id: SyncId;
  /** As sent. */
  readonly status: string | undefined;
  readonly state: SyncState;
  readonly added: SyncedImages;
  readonly deleted: SyncedImages;
  /** null if the record does not say whether there are any; so are the warnings. */
  readonly errors: readonly string[] | null;
  readonly warnings: readonly string[] | null;
  readonly createdOn: string | null;
  readonly updatedOn: string | null;
  readonly response: JsonObject;
}

/**
 * PATCH /v2/user/image/vm, no body; sent once.
 * @throws ImgctlError of the status; outcome-unknown: the response has no id in a known place. Its
 * message says if the sync may have been submitted
 */
export async function submitSync(send: Send): Promise<SubmittedSync> {
  const response = await send({ method: 'PATCH', path: '/v2/user/image/vm', ifUncertain });
  if (!isSuccess(response)) {
    const error = statusError(response);
    // A gateway may have passed the request on.
    throw hasCode(error, 'server-error', 'bad-answer') ? ifUncertain(error) : error;
  }
  // The id may be in the headers.
  const parsed = parseJson(response.body, true);
  const isJson = parsed.text !== undefined;
  const body = isJson ? parsed.value : response.body.subarray(0, 2_000).toString();
  const record = isObject(body) ? body : {};
  const id = submittedId(record) ?? idOfUrl(response.headers.location);
  if (id === undefined) throw ifUncertain(withoutId(response));
  return {
    id,
    status: nonEmpty(innermostWithId(record).status),
    message: serviceMessage(response.body),
    response: body,
  };
}

/** Returns the error of what may be a portal: only an id proves that the service took the sync. */
function withoutId(response: HttpResponse): ImgctlError {
  const { status, url, body } = response;
  const what = isPage(response) ? describePage(response) : 'without the id of a sync request';
  const words = shorten(oneLine(pageText(body)), 200);
  const message = `PATCH ${url.origin} returned ${status} ${what}`;
  return new ImgctlError('outcome-unknown', words === '' ? message : `${message}: ${words}`);
}

function ifUncertain(error: ImgctlError): ImgctlError {
  return error.with({
    message: `the sync may have been submitted: ${error.message}`,
    facts: { kind: 'sync-unknown' },
  });
}

/**
 * GET /v2/request/image_sync/<id>, wrapped in `data` or bare. The signal also ends its retries.
 * @throws ImgctlError not-found, bad-answer (also for another request); the signal's reason
 */
export async function getSyncRequest(
  send: Send,
  id: SyncId,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const path = `/v2/request/image_sync/${encodeURIComponent(String(id))}`;
  const response = await send({ method: 'GET', path, signal });
  const body = readJson(response);
  if (!isObject(body) || Array.isArray(body.data)) {
    throw shapeError(response, 'the body is not a sync request');
  }
  const hasThisId = (candidate: JsonObject) => `${candidate.id}` === `${id}`;
  const record = candidatesIn(body).find(hasThisId) ?? innermostWithId(body);
  const sentId = record.id ?? body.request_id;
  requireSameId('sync request', id, sentId);
  const status = nonEmpty(record.status);
  const state = syncState(status);
  return {
    id: identifier(sentId) ?? id,
    status,
    state,
    added: countOrNames(record.added),
    deleted: countOrNames(record.deleted),
    errors: withReason(messages(record, 'errors'), state === 'failed' ? record.message : undefined),
    warnings: messages(record, 'warnings'),
    createdOn: nonEmpty(record.created_on) ?? null,
    updatedOn: nonEmpty(record.updated_on) ?? null,
    response: body,
  };
}

const SUCCEEDED = 'PROCESSED COMPLETED COMPLETE DONE SUCCESS SUCCEEDED FINISHED'.split(' ');
const FAILED = 'ERROR ERROR_RETRY CANCELLED FAILED FAILURE CANCELED REJECTED DENIED'.split(' ');

/** Classifies a status word, case-insensitively; an unknown or missing one counts as waiting. */
export function syncState(status: string | undefined): SyncState {
  const upper = status?.trim().toUpperCase() ?? '';
  if (SUCCEEDED.includes(upper)) return 'succeeded';
  return FAILED.includes(upper) ? 'failed' : 'waiting';
}

/**
 * Returns the objects that may be the sync request, the innermost first:
 * - a submit: `{"status": 202, "request": {"id": 41, "status": "PENDING"}}`, perhaps in `data`
 * - a request: `{"data": {"id": 41, "status": "PROCESSED"}}`, or without `data`
 */
function candidatesIn(body: JsonObject): JsonObject[] {
  const { data, request } = body;
  return [isObject(data) ? data.request : undefined, request, data, body].filter(isObject);
}

/** Returns the innermost object with an id; the status of another may be of the response. */
function innermostWithId(body: JsonObject): JsonObject {
  const candidates = candidatesIn(body);
  return candidates.find(({ id = null }) => id !== null) ?? candidates[0] ?? body;
}

/** Returns the id in the response to a submit. */
function submittedId(body: JsonObject): SyncId | undefined {
  const ids = [...candidatesIn(body).map(({ id }) => id), body.request_id].map(identifier);
  const links = isObject(body._links) ? body._links.request : undefined;
  return ids.find((id) => id !== undefined) ?? idOfUrl(Array.isArray(links) ? links[0] : links);
}

/** Returns the last path segment, unless it names no request: `image_sync`, or `v2`. */
function idOfUrl(url: unknown): SyncId | undefined {
  if (typeof url !== 'string' || !URL.canParse(url, 'http://host')) return undefined;
  const segment = withoutSlash(new URL(url, 'http://host').pathname).split('/').at(-1) ?? '';
  const isName = !/\d/.test(segment) || /^v\d$/.test(segment);
  return isName ? undefined : identifier(parseId(segment));
}

function identifier(value: unknown): SyncId | undefined {
  if (typeof value === 'number') return isCount(value) ? value : undefined;
  return typeof value === 'string' && isSyncId(value) ? value : undefined;
}

/** Accepts digits or a short word such as a UUID, which can be typed: it is no option. */
export function isSyncId(text: string): boolean {
  return /^\w[\w.-]{0,99}$/.test(text);
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Older services send null for nothing. */
function countOrNames(value: unknown): SyncedImages {
  if (value === undefined) return undefined;
  return typeof value === 'number' || Array.isArray(value) ? value : null;
}

/**
 * Returns the errors or warnings of a record; null if it does not say whether there are any:
 * - `{"message": {"errors": ["a"]}}`: a
 * - `{"errors": "a", "message": {"errors": ["a", "b"]}}`: a, b
 * - `{"message": null}`, of older services: none; `{"message": "Submitted."}`: null
 */
function messages(record: JsonObject, kind: 'errors' | 'warnings'): string[] | null {
  const { message } = record;
  const inMessage = isObject(message) ? message[kind] : undefined;
  const own = record[kind];
  if (inMessage === undefined && own === undefined) return message === null ? [] : null;
  const texts = textsOf(inMessage);
  return [...texts, ...textsOf(own).filter((text) => !texts.includes(text))];
}

function textsOf(listed: unknown): string[] {
  const items: unknown[] = Array.isArray(listed) ? listed : [listed];
  return items
    .filter(saysSomething)
    .map((item) => (typeof item === 'string' ? item : stringify(item)));
}

/** Adds the message of a failed request, unless it is one of the errors. */
function withReason(errors: readonly string[] | null, message: unknown): readonly string[] | null {
  const reason = nonEmpty(message);
  if (reason === undefined || errors?.includes(reason)) return errors;
  return [...(errors ?? []), reason];
}

/** False for null, 0, false, "" and "None", and for lists and objects that hold nothing else. */
function saysSomething(item: unknown): boolean {
  if (typeof item === 'string') return !/^\s*(?:none)?\s*$/i.test(item);
  return typeof item === 'object' && item !== null
    ? Object.values(item).some(saysSomething)
    : Boolean(item);
}
