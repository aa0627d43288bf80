// imgctl whoami: shows the profile, service and user, and whether the token is valid.

import { utcTime } from '../api/responses.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { unattendedPassword } from '../session/session.ts';
import { type GetOptions, printBeforeError, readGet, timesOfTable } from './shared-options.ts';
import { noValidToken, tokenState } from './token-state.ts';

const FIELDS = [
  'profile',
  'base_url',
  'username',
  'token',
  'expires_on',
  'expires_in',
  'stored_in',
];

const RENEWAL = 'the next command requests a token; check with: imgctl doctor';

interface WhoamiOptions extends GetOptions {
  check?: boolean;
}

export async function run(context: Context, options: WhoamiOptions): Promise<void> {
  const get = readGet(context, options, FIELDS);
  const { account, baseUrl, client, tokens, store } = await context.session();
  if (options.check) await client.serviceRoot();
  const now = context.io.now();
  const token = tokens && (await store.read());
  const state = tokens ? tokenState(token, now) : 'from IMGCTL_TOKEN';
  const record = {
    profile: account.profile,
    base_url: baseUrl,
    username: account.username || null,
    token: options.check ? 'valid' : state,
    expires_on: token ? utcTime(token.expiresAt) : null,
    expires_in: token
      ? timeLeft(token.expiresAt - now, get === undefined && context.format === 'table')
      : null,
    stored_in: (token && store.location) ?? null,
  };
  const times = timesOfTable(context, ['expires_on'], get);
  const printed = context.printRecord(record, { idField: 'username', get, times });
  if (options.check || (state !== 'none' && state !== 'expired')) return printed;
  await printBeforeError(printed);
  const error = noValidToken(state, context.settings);
  const canRenew = account.username && unattendedPassword(context.settings, context.io, account);
  throw canRenew ? error.with({ hint: RENEWAL }) : error;
}

/** Returns text for people, or seconds. */
function timeLeft(milliseconds: number, isForPeople: boolean): string | number {
  if (isForPeople) return describeDuration(milliseconds);
  return Math.max(0, Math.round(milliseconds / 1000));
}
