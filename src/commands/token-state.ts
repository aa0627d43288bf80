// The state of the cached token by this machine's clock; the service is not contacted.

import { ImgctlError } from '../errors.ts';
import type { Settings } from '../session/settings.ts';
import type { CachedToken } from '../session/token-cache.ts';

export type TokenState = 'none' | 'expired' | 'valid';

export function tokenState(token: CachedToken | undefined, now: number): TokenState {
  if (token === undefined) return 'none';
  return now < token.expiresAt ? 'valid' : 'expired';
}

export function noValidToken(state: 'none' | 'expired', { loginCommand }: Settings): ImgctlError {
  const message = state === 'none' ? 'not logged in' : 'the token has expired';
  return new ImgctlError('not-logged-in', message, { hint: `run: ${loginCommand}` });
}
