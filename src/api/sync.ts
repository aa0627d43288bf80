// Image sync requests, sections 2.5, 4.5 and 4.6 of service-api.md.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import { isObject, type JsonObject, parseJson } from '../json.ts';
import type { Send } from './auth.ts';
import { isSuccess, readJson, serviceMessage, shapeError, statusError } from './responses.ts';

export interface SubmittedSync {
  /** undefined if the response holds none in any known place. */
  readonly id: number | string | undefined;
  /** As sent. */
  readonly status: string | undefined;
  readonly message: string | undefined;
  readonly response: unknown;
}

export type SyncState = 'waiting' | 'succeeded' | 'failed';

export interface SyncRequest {
  readonly id: number | string | undefined;
  /** As sent. */
  readonly status: string | undefined;
  readonly state: SyncState;
  /** Names or a count, as the service sends it. */
  readonly added: number | readonly unknown[] | null;
  readonly deleted: number | readonly unknown[] | null;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly createdOn: string | null;
  readonly updatedOn: string | null;
  readonly response: unknown;
}

/**
 * PATCH /v2/user/image/vm, no body; sent once.
 * @throws ImgctlError of the status; if the sync may have been submitted all the same, it says so
 */
export async function submitSync(send: Send): Promise<SubmittedSync> {
  const request = { method: 'PATCH', path: '/v2/user/image/vm' };
  const response = await send(request).catch((error: unknown) => {
    throw mayBeSubmitted(error) ? submitError(error) : error;
  });
  if (!isSuccess(response)) {
    const error = statusError(response);
    throw mayBeSubmitted(error) ? submitError(error) : error;
  }
  // A body that is not JSON does not undo the sync, so it is no error here.
  const parsed = parseJson(response.body);
  const body = parsed ? parsed.value : response.body.toString('utf8').slice(0, 2_000);
  const record = isObject(body) ? body : {};
  return {
    id: findId(record) ?? idOfUrl(response.headers.location),
    status: word(requestOf(record).status),
    message: serviceMessage(response.body),
    response: body,
  };
}

function mayBeSubmitted(error: unknown): error is ImgctlError {
  const unknown: readonly ErrorCode[] = [
    'outcome-unknown',
    'server-error',
    'bad-answer',
    'interrupted',
    'terminated',
  ];
  return error instanceof ImgctlError && unknown.includes(error.code);
}

function submitError(error: ImgctlError): ImgctlError {
  return error.with({
    message: `the sync may have been submitted: ${error.message}`,
    hint: 'check before you submit another: imgctl my-images, or the confirmation by email',
  });
}

/**
 * GET /v2/request/image_sync/<id>, wrapped in `data` or bare. The signal also ends its retries.
 * @throws ImgctlError not-found, bad-answer; the signal's reason
 */
export async function getSyncRequest(
  send: Send,
  id: number | string,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const path = `/v2/request/image_sync/${encodeURIComponent(String(id))}`;
  const response = await send({ method: 'GET', path, ...(signal ? { signal } : {}) });
  const body = readJson(response);
  if (!isObject(body)) throw shapeError(response, 'the body is not a sync request');
  const record = isObject(body.data) ? body.data : body;
  const status = word(record.status);
  const state = syncState(status);
  const reason = state === 'failed' ? word(record.message) : undefined;
  return {
    id: identifier(record.id) ?? id,
    status,
    state,
    added: countOrNames(record.added),
    deleted: countOrNames(record.deleted),
    errors: [...messages(record, 'errors'), ...(reason === undefined ? [] : [reason])],
    warnings: messages(record, 'warnings'),
    createdOn: word(record.created_on) ?? null,
    updatedOn: word(record.updated_on) ?? null,
    response: body,
  };
}

const SUCCEEDED = new Set([
  'PROCESSED',
  'COMPLETED',
  'COMPLETE',
  'DONE',
  'SUCCESS',
  'SUCCEEDED',
  'FINISHED',
]);
const FAILED = new Set([
  'ERROR',
  'ERROR_RETRY',
  'CANCELLED',
  'FAILED',
  'FAILURE',
  'CANCELED',
  'REJECTED',
  'DENIED',
]);

/** Classifies a status word, case-insensitively; an unknown or missing one counts as waiting. */
export function syncState(status: string | undefined): SyncState {
  const upper = status?.trim().toUpperCase() ?? '';
  if (SUCCEEDED.has(upper)) return 'succeeded';
  return FAILED.has(upper) ? 'failed' : 'waiting';
}

function requestOf(record: JsonObject): JsonObject {
  const data = isObject(record.data) ? record.data : {};
  for (const candidate of [record.request, data.request, record.data]) {
    if (isObject(candidate)) return candidate;
  }
  return record;
}

/** Services put the id in different places. */
function findId(record: JsonObject): number | string | undefined {
  const request = isObject(record.request) ? record.request : {};
  const data = isObject(record.data) ? record.data : {};
  const dataRequest = isObject(data.request) ? data.request : {};
  for (const candidate of [request.id, dataRequest.id, data.id, record.id, record.request_id]) {
    const id = identifier(candidate);
    if (id !== undefined) return id;
  }
  const links = isObject(record._links) ? record._links.request : undefined;
  return idOfUrl(Array.isArray(links) ? links[0] : links);
}

/** Returns the last path segment; one without a digit names the list of all requests. */
function idOfUrl(url: unknown): number | string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url, 'http://host')) return undefined;
  const segment = new URL(url, 'http://host').pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
  return /\d/.test(segment) ? identifier(segment) : undefined;
}

/** Accepts a whole number, or a short word such as a UUID. */
function identifier(value: unknown): number | string | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (typeof value !== 'string' || !/^[\w.-]{1,100}$/.test(value) || /^\.+$/.test(value))
    return undefined;
  return /^\d{1,15}$/.test(value) ? Number(value) : value;
}

function word(value: unknown): string | undefined {
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
    .map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}
