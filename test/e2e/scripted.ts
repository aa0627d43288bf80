// A scripted service for the built program, and those who use it.

import type { Identity } from '../support/certificate.ts';
import { account, freshHome, runBuilt } from '../support/cli.ts';
import type { CliResult } from '../support/io.ts';
import {
  type Handler,
  requestsTo,
  type Script,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';

export const LIST = ['images', 'list', '--json'];

export const TOKEN = 'POST /auth/request-token';

/** The token request's answer. */
export const issue = (token: string): ScriptedResponse => ({
  json: { token, duration: 86_400, type: 'ACCESS' },
});

/** A service for the running test. */
export async function scripted(script: Handler | Script, tls?: Identity) {
  const server = await scriptedServer(script, tls);
  const { baseUrl } = server;
  /** Somebody who has a token, T1, and no way to another one. */
  const env = { ...freshHome(), IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: 'T1' };
  return {
    ...server,
    env,
    /** Somebody who has a password. */
    user: account(baseUrl),
    imgctl: (...argv: string[]): Promise<CliResult> => runBuilt(argv, { env }),
    /** Every request so far: `GET /v2/image?page=1`. */
    sent: () => requestsTo(server),
  };
}
