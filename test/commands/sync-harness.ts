// Responses about sync requests, and a user whose waits take no time.

import {
  type FakeIo,
  type FakeIoOptions,
  fakeIo,
  runCli,
  temporaryDirectory,
} from '../support/io.ts';
import { type ScriptedResponse, scriptedServer } from '../support/scripted-server.ts';

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

/** Returns a user of that service with an empty folder and no terminal. */
export function userOf(
  baseUrl: string,
  env: FakeIoOptions['env'] = { IMGCTL_TOKEN: 'token' },
): FakeIo {
  return fakeIo({
    time: START,
    env: { IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory(), ...env },
  });
}

/** Returns the same user, with a call before each wait; `count` starts at 1. */
export function beforeSleep(io: FakeIo, action: (count: number) => unknown): FakeIo {
  return {
    ...io,
    async sleep(milliseconds, signal) {
      await action(io.sleeps.length + 1);
      await io.sleep(milliseconds, signal);
    },
  };
}

export const DONE = record({ status: 'PROCESSED', added: [], deleted: [] });
export const WAIT = ['sync-status', '41', '--wait'];

/** Waits for sync request 41 with these responses in turn. */
export async function followed(responses: readonly ScriptedResponse[], ...options: string[]) {
  const service = await scriptedServer({ [REQUEST]: responses });
  const io = userOf(service.baseUrl);
  const result = await runCli([...WAIT, ...options], io);
  return { ...result, io, checks: service.requests.length };
}
