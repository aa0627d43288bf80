// Issues tokens for user names and passwords, checks tokens, limits token requests (sections 4.1, 5, 8).

import { randomBytes } from 'node:crypto';
import type { TokenRecord } from '../api/types.ts';
import { type ApiRequest, type ApiResponse, HttpError, jsonResponse } from './api-request.ts';
import type { EmulatorSettings } from './service-options.ts';
import { serviceTimestamp } from './service-time.ts';

/** Relative to the base URL. */
export const TOKEN_PATH = '/auth/request-token';

const NOT_AUTHORIZED = 'User is not authorized to access.';

export type AccessTokens = ReturnType<typeof createAccessTokens>;

export function createAccessTokens(settings: EmulatorSettings) {
  const { tokenLimit, tokenWindow, tokenTtl, now } = settings;
  const passwords = new Map(
    [...settings.users, ...settings.deniedUsers].map(({ name, password }) => [name, password]),
  );
  const denied = new Set(settings.deniedUsers.map(({ name }) => name));
  const tokens = new Map<string, { user: string; expiresAt: number }>();
  const rateLimit = createRateLimit(tokenLimit, tokenWindow, now);

  /** Returns the rate limit headers, or throws 429. Unknown names share the limit of their address. */
  const countRequest = (name: string | undefined, remoteAddress: string) => {
    const known = name !== undefined && passwords.has(name);
    const state = rateLimit(known ? `user ${name}` : `address ${remoteAddress}`);
    const headers = {
      'X-RateLimit-Limit': String(tokenLimit),
      'X-RateLimit-Remaining': String(state.remaining),
      // Rounded up, so that a client that waits until then is never too early.
      'X-RateLimit-Reset': String(Math.ceil(state.resetAt / 1000)),
    };
    if (!state.exceeded) return headers;
    const seconds = String(Math.ceil((state.resetAt - now()) / 1000));
    throw new HttpError(429, 'Too many token requests.', { ...headers, 'Retry-After': seconds });
  };

  const issueToken = (user: string): TokenRecord => {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = now() + tokenTtl;
    tokens.set(token, { user, expiresAt });
    return {
      duration: Math.ceil(tokenTtl / 1000),
      exp: Math.floor(expiresAt / 1000),
      exp_date: serviceTimestamp(expiresAt),
      token,
      type: 'ACCESS',
    };
  };

  return {
    /** Handles POST /auth/request-token. */
    requestToken: ({ authorization, remoteAddress }: ApiRequest): ApiResponse => {
      const credentials = basicCredentials(authorization);
      const headers = countRequest(credentials?.name, remoteAddress);
      if (credentials === undefined || passwords.get(credentials.name) !== credentials.password) {
        throw new HttpError(401, 'Invalid username and password combination.', headers);
      }
      if (denied.has(credentials.name)) throw new HttpError(401, NOT_AUTHORIZED, headers);
      return jsonResponse(200, issueToken(credentials.name), headers);
    },
    /** Returns the user of the request's token, or throws 401. */
    authenticate: ({ authorization, baseUrl }: ApiRequest): string => {
      const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
      const token = bearer ?? basicCredentials(authorization)?.name;
      const issued = token === undefined ? undefined : tokens.get(token);
      const headers = { Location: `${baseUrl}${TOKEN_PATH}` };
      if (issued === undefined) throw new HttpError(401, 'Invalid token.', headers);
      if (now() >= issued.expiresAt) {
        throw new HttpError(401, 'Valid token, but has expired.', headers);
      }
      if (denied.has(issued.user)) throw new HttpError(401, NOT_AUTHORIZED);
      return issued.user;
    },
    /** Rejects the user's tokens, which do not expire, and token requests from now on. */
    revokeAccess: (user: string) => {
      denied.add(user);
    },
    restoreAccess: (user: string) => {
      denied.delete(user);
    },
    expireTokens: () => {
      for (const issued of tokens.values()) issued.expiresAt = Math.min(issued.expiresAt, now());
    },
  };
}

export function basicCredentials(
  authorization = '',
): { name: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon === -1) return undefined;
  return { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Counts requests per caller in fixed windows; a caller's first request opens the window. */
function createRateLimit(limit: number, window: number, now: () => number) {
  const windows = new Map<string, { used: number; resetAt: number }>();
  return (caller: string) => {
    const known = windows.get(caller);
    const current =
      known !== undefined && now() < known.resetAt ? known : { used: 0, resetAt: now() + window };
    current.used += 1;
    windows.set(caller, current);
    const { used, resetAt } = current;
    return { exceeded: used > limit, remaining: Math.max(0, limit - used), resetAt };
  };
}
