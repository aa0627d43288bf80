// A service that is told what to answer about a sync, and a user of it whose waits take no time.

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

/** A record of a sync request as the service wraps it. */
export function record(fields: Readonly<Record<string, unknown>>): ScriptedResponse {
  return { json: { data: { id: 41, type: 'image_sync', ...fields }, meta: {} } };
}

/** The list of a user's images of these names, each with an id that goes with its name. */
export function images(...names: string[]): ScriptedResponse {
  const data = names.map((name) => ({ id: Buffer.from(name).readUInt16BE(), name, public: false }));
  return { json: { data, meta: { count: data.length } } };
}

export const START = Date.UTC(2026, 0, 5, 12);

/** A user of that service with a folder of their own and no terminal. */
export function userOf(
  baseUrl: string,
  env: FakeIoOptions['env'] = { IMGCTL_TOKEN: 'token' },
): FakeIo {
  return fakeIo({
    time: START,
    env: { IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory(), ...env },
  });
}

/** The same user, to whom something happens before each wait; `count` is 1 before the first. */
export function beforeSleep(io: FakeIo, happen: (count: number) => unknown): FakeIo {
  return {
    ...io,
    async sleep(milliseconds, signal) {
      await happen(io.sleeps.length + 1);
      await io.sleep(milliseconds, signal);
    },
  };
}

export const DONE = record({ status: 'PROCESSED', added: [], deleted: [] });
export const WAIT = ['sync-status', '41', '--wait'];

/** Follows the request 41 with these answers in turn. */
export async function followed(answers: readonly ScriptedResponse[], ...options: string[]) {
  const service = await scriptedServer({ [REQUEST]: answers });
  const io = userOf(service.baseUrl);
  const result = await runCli([...WAIT, ...options], io);
  return { ...result, io, looks: service.requests.length };
}
