// imgctl whoami: profile, service, user, and whether there is a valid token.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Session } from '../session/session.ts';
import { describeDuration, type Settings } from '../session/settings.ts';
import type { CachedToken } from '../session/token-cache.ts';

type State = 'from IMGCTL_TOKEN' | 'none' | 'expired' | 'valid';

export async function run(context: Context, options: { check?: boolean }): Promise<void> {
  const session = await context.session();
  if (options.check) await session.client.serviceRoot();
  const { state, expiresAt } = tokenState(context, session);
  const record = {
    profile: session.account.profile,
    base_url: session.baseUrl,
    username: session.account.username || null,
    token: options.check ? 'valid' : state,
    expires_on:
      expiresAt === undefined ? null : new Date(expiresAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    expires_in: expiresAt === undefined ? null : describeDuration(expiresAt - context.io.now()),
  };
  await context.printRecord(record, { idField: 'username' });
  if (options.check || state === 'valid' || state === 'from IMGCTL_TOKEN') return;
  throw noValidToken(state, context.settings);
}

function tokenState(context: Context, session: Session): { state: State; expiresAt?: number } {
  if (session.tokens === undefined) return { state: 'from IMGCTL_TOKEN' };
  const token = session.cache.read();
  const state = stateOf(token, context.io.now());
  return token === undefined ? { state } : { state, expiresAt: token.expiresAt };
}

/** By this machine's clock; the service is not asked. */
export function stateOf(token: CachedToken | undefined, now: number): 'none' | 'expired' | 'valid' {
  if (token === undefined) return 'none';
  return isLive(token, now) ? 'valid' : 'expired';
}

/** Whether its time is not over by this machine's clock; unlike `needsRenewal` up to the last moment. */
export function isLive(token: CachedToken, now: number): boolean {
  return now < token.expiresAt;
}

export function noValidToken(state: 'none' | 'expired', { loginCommand }: Settings): ImgctlError {
  const message = state === 'none' ? 'not logged in: there is no token' : 'the token has expired';
  return new ImgctlError('not-logged-in', message, { hint: `run: ${loginCommand}` });
}
