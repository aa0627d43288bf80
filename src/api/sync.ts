// Image sync requests, sections 2.5, 4.5 and 4.6 of service-api.md.

import { isSuccess, readJson, serviceMessage, shapeError, statusError } from './answers.ts';
import type { Http } from './http.ts';
import { isObject, type JsonObject, parseJson } from './json.ts';

/** A submitted sync. `id` is undefined where the answer holds none in any known place. */
export interface SubmittedSync {
  readonly id: number | string | undefined;
  /** Status word of the request, as sent. */
  readonly status: string | undefined;
  readonly message: string | undefined;
  readonly response: unknown;
}

/** How far a sync request is; what the service calls it is kept beside. */
export type SyncState = 'waiting' | 'succeeded' | 'failed';

/** A sync request, read. Names where the service gives names, a number where it counts, else null. */
export interface SyncRequest {
  readonly id: number | string | undefined;
  readonly status: string | undefined;
  readonly state: SyncState;
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
 * @throws ImgctlError of the status; outcome-unknown where no answer came
 */
export async function submitSync(http: Http): Promise<SubmittedSync> {
  const received = await http.send({ method: 'PATCH', path: '/v2/user/image/vm' });
  if (!isSuccess(received)) throw statusError(received);
  // What is not JSON may still have taken effect: the caller must hear that, not a complaint about the body.
  const parsed = parseJson(received.body);
  const response = parsed ? parsed.value : received.body.toString('utf8').slice(0, 2_000);
  const record = isObject(response) ? response : {};
  return {
    id: requestId(record) ?? idOfUrl(received.headers.location),
    status: word(requestOf(record).status),
    message: serviceMessage(received.body),
    response,
  };
}

/**
 * GET /v2/request/image_sync/<id>, wrapped in `data` or bare. The signal gives it up, retries and all.
 * @throws ImgctlError not-found, bad-answer; the signal's reason
 */
export async function getSyncRequest(
  http: Http,
  id: number | string,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const received = await http.send({
    method: 'GET',
    path: `/v2/request/image_sync/${encodeURIComponent(String(id))}`,
    ...(signal ? { signal } : {}),
  });
  const response = readJson(received);
  if (!isObject(response)) throw shapeError(received, 'it is not a sync request');
  const record = isObject(response.data) ? response.data : response;
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
    response,
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

/** What a status word means, in any case of letters; an unknown or missing one is still waiting. */
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

/** The id of a submit's answer, from the places where services are known to put it. */
function requestId(record: JsonObject): number | string | undefined {
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

/** The last path segment, where it can be an id: one without a digit names the list of all requests. */
function idOfUrl(url: unknown): number | string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url, 'http://host')) return undefined;
  const segment = new URL(url, 'http://host').pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
  return /\d/.test(segment) ? identifier(segment) : undefined;
}

/** An id that can stand in a path: a whole number, or a short word such as a UUID. */
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
