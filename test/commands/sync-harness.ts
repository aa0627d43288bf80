// Responses about sync requests, and a user whose waits take no time.

import { fakeIo, runCli } from '../support/io.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

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

export const DONE = record({ status: 'PROCESSED', added: [], deleted: [] });

/** Returns the list of a user's images with these names. */
export function images(...names: string[]): ScriptedResponse {
  const data = names.map((name) => ({ id: Buffer.from(name).readUInt16BE(), name, public: false }));
  return { json: { data, meta: { count: data.length } } };
}

export const START = Date.UTC(2026, 0, 5, 12);

/** Runs sync-status for request 41 with these responses in turn. */
export async function followed(responses: readonly ScriptedResponse[], options = '--wait') {
  const { env, server } = await scriptedUser({ [REQUEST]: responses });
  const io = fakeIo({ time: START, env });
  const result = await runCli(`sync-status 41 ${options}`.split(' '), io);
  return { ...result, io, checks: server.requests.length };
}
