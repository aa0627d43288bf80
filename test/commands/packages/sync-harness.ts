// Responses about sync requests.

import type { ScriptedResponse } from '../../support/scripted-server.ts';

export const SUBMIT = 'PATCH /v2/user/image/vm';
export const IMAGES = 'GET /v2/user/image/vm';
export const REQUEST = 'GET /v2/request/image_sync/41';

export const SUBMITTED: ScriptedResponse = {
  status: 202,
  json: { status: 202, message: 'Submitted.', request: { id: 41, status: 'PENDING' } },
};

/** Returns the record of sync request 41 with these fields. */
export function record(fields: Readonly<Record<string, unknown>>): ScriptedResponse {
  return { json: { data: { id: 41, type: 'image_sync', ...fields }, meta: {} } };
}

/** Returns the list of a user's images with these names. */
export function images(...names: string[]): ScriptedResponse {
  const data = names.map((name) => ({ id: Buffer.from(name).readUInt16BE(), name, public: false }));
  return { json: { data, meta: { count: data.length } } };
}

export const START = Date.UTC(2026, 0, 5, 12);
