// imgctl token: prints a valid access token for other programs.

import { command, SERVICE_CODES } from '../../cli/declare.ts';
import { oneValue, type Result } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { column } from '../../output/columns.ts';
import { noValidToken, tokenState } from '../../session/cached-token.ts';
import { givenToken } from '../../session/session.ts';
import { utcTime } from '../../words.ts';

const COLUMNS = [
  column('token', 'string', 'the access token'),
  column(
    'expires_on',
    'string or null',
    'when it expires, in UTC (ISO 8601); null with IMGCTL_TOKEN',
  ),
  column('expires_in', 'number or null', 'seconds until then'),
];

export const token = command({
  name: 'token',
  otherNames: ['print-access-token'],
  summary: 'print a valid access token',
  description: [
    'Renews the token first if it has expired and the password is available without a prompt. Prints only the token, unless you add -o or --json.',
  ],
  examples: [
    'curl -H "Authorization: Bearer $(imgctl token)" https://images.example/v2',
    'IMGCTL_TOKEN=$(imgctl token) make deploy',
  ],
  seeAlso: ['login', 'api'],
  exitCodes: SERVICE_CODES,
  fields: COLUMNS,
  run,
});

async function run(context: Context): Promise<Result> {
  const { tokens, files } = await context.session();
  const { now } = context.io;
  const token = tokens === undefined ? givenToken(context.io) : await tokens.current();
  const cached = files.read();
  // Requests send an expired token, and the service decides; other programs cannot.
  if (cached?.token === token && tokenState(cached, now()) === 'expired') {
    throw noValidToken('expired');
  }
  const expiresAt = cached?.token === token ? cached?.expiresAt : undefined;
  const expires_on = expiresAt === undefined ? null : utcTime(expiresAt);
  const expires_in = expiresAt === undefined ? null : Math.round((expiresAt - now()) / 1000);
  return oneValue(context, COLUMNS, { token, expires_on, expires_in }, 'token');
}
