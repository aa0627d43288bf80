// The cached token of an account and its state by this machine's clock.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { openStore } from '../session/session.ts';
import type { Settings } from '../session/settings.ts';
import type { SharedStore } from '../session/shared-store.ts';
import { type Account, type CachedToken, TokenCache } from '../session/token-cache.ts';

type TokenState = 'none' | 'expired' | 'valid';

export function openCache({ console, io, paths }: Context, account: Account): TokenCache {
  return new TokenCache(paths.config, account, io.system, console.warn);
}

/** Opens the store that the settings name; undefined for `file`. @throws ImgctlError config */
export async function openSharedStore(
  context: Context,
  settings: Settings,
): Promise<SharedStore | undefined> {
  const { io, console } = context;
  const onSecret = (secret: string) => console.redaction.add(secret);
  const options = { io, settings, warn: console.warn, onSecret };
  return openStore(options, openCache(context, settings.account));
}

export function tokenState(token: CachedToken | undefined, now: number): TokenState {
  if (token === undefined) return 'none';
  return now < token.expiresAt ? 'valid' : 'expired';
}

export function noValidToken(state: 'none' | 'expired', { loginCommand }: Settings): ImgctlError {
  const message = state === 'none' ? 'not logged in' : 'the token has expired';
  return new ImgctlError('not-logged-in', message, { hint: `run: ${loginCommand}` });
}
