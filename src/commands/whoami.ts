// imgctl whoami: shows the profile, service and user, and whether the token is valid.

import type { Context } from '../context.ts';
import { describeDuration } from '../session/duration.ts';
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
    expires_in: token ? describeDuration(token.expiresAt - now) : null,
    stored_in: (token && store.place) ?? null,
  };
  await context.printRecord(record, { idField: 'username' });
  if (!options.check && (state === 'none' || state === 'expired')) {
    throw noValidToken(state, context.settings);
  }
}
