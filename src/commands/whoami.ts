// imgctl whoami: shows the profile, service and user, and whether the token is valid.

import type { Context } from '../context.ts';
import { describeDuration } from '../session/duration.ts';
import { timesOfTable } from './times.ts';
import { noValidToken, tokenState } from './token-state.ts';

export async function run(context: Context, options: { check?: boolean }): Promise<void> {
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
    expires_on: token ? new Date(token.expiresAt).toISOString().replace(/\.\d+Z$/, 'Z') : null,
    expires_in: token ? timeLeft(context, token.expiresAt - now) : null,
    stored_in: (token && store.place) ?? null,
  };
  const times = timesOfTable(context, ['expires_on']);
  await context.printRecord(record, { idField: 'username', times });
  if (!options.check && (state === 'none' || state === 'expired')) {
    throw noValidToken(state, context.settings);
  }
}

/** Returns text in tables, and seconds in data. */
function timeLeft({ format }: Context, milliseconds: number): string | number {
  if (format === 'table') return describeDuration(milliseconds);
  return Math.max(0, Math.round(milliseconds / 1000));
}
