// imgctl whoami: shows the profile, service and user, and whether the token is valid.

import { utcTime } from '../api/responses.ts';
import type { FieldDeclaration } from '../cli/declarations.ts';
import { type GetOptions, printBeforeError, readGet, timesOf } from '../cli/printing.ts';
import { type CommandSpec, GET_OPTION, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { unattendedPassword } from '../session/session.ts';
import { noValidToken, tokenState } from './token-state.ts';

const FIELDS: readonly FieldDeclaration[] = [
  ['profile', 'string', 'name of the profile'],
  ['base_url', 'string', 'address of the service'],
  ['username', 'string or null', 'user name of the account'],
  ['token_state', 'string', 'valid, expired, none or from IMGCTL_TOKEN'],
  ['checked', 'boolean', 'true if the service accepted the token just now'],
  ['expires_on', 'string or null', 'when the token expires, in UTC (ISO 8601)'],
  ['expires_in', 'number or null', 'seconds until then'],
  ['stored_in', 'string or null', 'file or token store that holds the token'],
];

export const whoami: CommandSpec = {
  name: 'whoami',
  summary: 'show profile, service, user and token state',
  description: [
    'Exits with 4 if you are not logged in or the token has expired. Without --check, the clock of this machine decides.',
  ],
  examples: ['imgctl whoami', 'imgctl whoami --check --json'],
  seeAlso: ['login', 'token', 'doctor'],
  options: [{ flags: '--check', description: 'check the token with the service' }, GET_OPTION],
  fields: FIELDS,
  exitCodes: SERVICE_CODES,
  run,
};

const RENEWAL = 'the next command requests a token; check with: imgctl doctor';

interface WhoamiOptions extends GetOptions {
  check?: boolean;
}

async function run(context: Context, options: WhoamiOptions): Promise<void> {
  const get = readGet(
    context,
    options,
    FIELDS.map(([name]) => name),
  );
  const { account, baseUrl, client, tokens, store } = await context.session();
  if (options.check) await client.serviceRoot();
  const now = context.io.now();
  const token = tokens && (await store.read());
  const state = tokens ? tokenState(token, now) : 'from IMGCTL_TOKEN';
  const left = Math.max(0, (token?.expiresAt ?? 0) - now);
  const isForPeople = get === undefined && context.format === 'table';
  const record = {
    profile: account.profile,
    base_url: baseUrl,
    username: account.username || null,
    token_state: options.check && tokens ? 'valid' : state,
    checked: options.check === true,
    expires_on: token ? utcTime(token.expiresAt) : null,
    expires_in: token ? (isForPeople ? describeDuration(left) : Math.round(left / 1000)) : null,
    stored_in: (token && store.location) ?? null,
  };
  const times = timesOf(context, ['expires_on'], get);
  // In a table, the rest would be rows of `-`.
  const columns = Object.entries(record).flatMap(([name, value]) =>
    isForPeople && (value === null || value === false) ? [] : [name],
  );
  const printed = context.printRecord(record, { idField: 'username', columns, get, times });
  if (options.check || (state !== 'none' && state !== 'expired')) return printed;
  await printBeforeError(printed);
  const error = noValidToken(state, context.settings);
  const canRenew = account.username && unattendedPassword(context.settings, context.io, account);
  throw canRenew ? error.with({ hint: RENEWAL }) : error;
}
