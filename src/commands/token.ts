// imgctl token: prints a valid access token for other programs.

import { utcTime } from '../api/responses.ts';
import type { Context } from '../context.ts';
import { printValue } from './shared-options.ts';
import { noValidToken, tokenState } from './token-state.ts';

export async function run(context: Context): Promise<void> {
  const { tokens, cache } = await context.session();
  const { env, now } = context.io;
  const token = tokens === undefined ? env.IMGCTL_TOKEN : await tokens.current();
  const cached = cache.read();
  // Requests send an expired token and leave the decision to the service; other programs rely on it.
  if (cached?.token === token && tokenState(cached, now()) === 'expired') {
    throw noValidToken('expired', context.settings);
  }
  const expiresAt = cached?.token === token ? cached?.expiresAt : undefined;
  const expiry = {
    expires_on: expiresAt === undefined ? null : utcTime(expiresAt),
    expires_in: expiresAt === undefined ? null : Math.round((expiresAt - now()) / 1000),
  };
  await printValue(context, { token, ...expiry }, 'token');
}
