// Image sync requests, sections 2.5, 4.5 and 4.6 of service-api.md.

import { type ErrorCode, hasCode } from '../errors.ts';
import type { HttpResponse } from '../http/message.ts';
import { isSuccess } from '../http/retry.ts';
import { ExactNumber, isObject, type JsonObject, parseJson, stringify } from '../json.ts';
import type { Send } from './auth.ts';
import { readJson, serviceMessage, shapeError, statusError } from './responses.ts';

/** Of the JSON type and with the text that the service sent. */
export type SyncId = number | string | ExactNumber;

export type SubmittedSync = Awaited<ReturnType<typeof submitSync>>;

export type SyncState = 'waiting' | 'succeeded' | 'failed';

export type SyncRequest = Awaited<ReturnType<typeof getSyncRequest>>;

/**
 * PATCH /v2/user/image/vm, no body; sent once.
 * @throws ImgctlError of the status; if the sync may have been submitted all the same, it says so
 */
export async function submitSync(send: Send) {
  let response: HttpResponse;
  try {
    response = await send({ method: 'PATCH', path: '/v2/user/image/vm' });
    if (!isSuccess(response)) throw statusError(response);
  } catch (error) {
    if (!hasCode(error, ...MAY_BE_SUBMITTED)) throw error;
    throw error.with({
      message: `the sync may have been submitted: ${error.message}`,
      hint: 'check before you submit another: imgctl my-images, or the confirmation by email',
    });
  }
  // A body that is not JSON does not undo the sync, so it is no error here.
  const parsed = parseJson(response.body);
  const body =
    parsed.text !== undefined ? parsed.value : response.body.subarray(0, 2_000).toString();
  const record = isObject(body) ? body : {};
  return {
    /** undefined if the response holds none in any known place. */
    id: findId(record) ?? idOfUrl(response.headers.location),
    /** As sent. */
    status: nonEmpty((requestsIn(record)[0] ?? record).status),
    message: serviceMessage(response.body),
    response: body,
  };
}

/** After these errors the service may have accepted the sync. */
const MAY_BE_SUBMITTED: readonly ErrorCode[] = [
  'outcome-unknown',
  'server-error',
  'bad-answer',
  'interrupted',
  'terminated',
];

/**
 * GET /v2/request/image_sync/<id>, wrapped in `data` or bare. The signal also ends its retries.
 * @throws ImgctlError not-found, bad-answer; the signal's reason
 */
export async function getSyncRequest(send: Send, id: SyncId, signal?: AbortSignal) {
  const path = `/v2/request/image_sync/${encodeURIComponent(String(id))}`;
  const response = await send({ method: 'GET', path, signal });
  const body = readJson(response);
  if (!isObject(body)) throw shapeError(response, 'the body is not a sync request');
  const record = isObject(body.data) ? body.data : body;
  const status = nonEmpty(record.status);
  const state = syncState(status);
  const reason = state === 'failed' ? nonEmpty(record.message) : undefined;
  return {
    id: identifier(record.id) ?? id,
    /** As sent. */
    status,
    state,
    /** Names or a count, as the service sends it. */
    added: countOrNames(record.added),
    deleted: countOrNames(record.deleted),
    errors: [...messages(record, 'errors'), ...(reason === undefined ? [] : [reason])],
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

/** Returns the objects that may be the sync request: services nest it in different ways. */
function requestsIn(record: JsonObject): JsonObject[] {
  const { data, request } = record;
  return [request, isObject(data) ? data.request : undefined, data].filter(isObject);
}

function findId(record: JsonObject): SyncId | undefined {
  const ids = requestsIn(record).map(({ id }) => id);
  for (const candidate of [...ids, record.id, record.request_id]) {
    const id = identifier(candidate);
    if (id !== undefined) return id;
  }
  const links = isObject(record._links) ? record._links.request : undefined;
  return idOfUrl(Array.isArray(links) ? links[0] : links);
}

/** Returns the last path segment; one without a digit names the list of all requests. */
function idOfUrl(url: unknown): SyncId | undefined {
  if (typeof url !== 'string' || !URL.canParse(url, 'http://host')) return undefined;
  const segment = new URL(url, 'http://host').pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
  return /\d/.test(segment) ? identifier(parseSyncId(segment)) : undefined;
}

/** Returns a number if it has the same text, as services number their requests. */
export function parseSyncId(text: string): number | string {
  return /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

/** Accepts a whole number, or a short word such as a UUID. */
function identifier(value: unknown): SyncId | undefined {
  if (typeof value === 'number' || value instanceof ExactNumber)
    return /^\d{1,100}$/.test(`${value}`) ? value : undefined;
  if (typeof value !== 'string' || /^\.+$/.test(value)) return undefined;
  return /^[\w.-]{1,100}$/.test(value) ? value : undefined;
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function countOrNames(value: unknown): number | readonly unknown[] | null {
  return typeof value === 'number' || Array.isArray(value) ? value : null;
}

function messages(record: JsonObject, kind: 'errors' | 'warnings'): string[] {
  const holder = isObject(record.message) ? record.message : record;
  const list = holder[kind];
  const items: unknown[] = Array.isArray(list) ? list : [list];
  return items
    .filter((item) => item !== undefined && item !== null && item !== '')
    .map((item) => (typeof item === 'string' ? item : stringify(item)));
}
