// Issues and checks tokens, and limits token requests (sections 4.1, 5 and 8).

import { randomBytes } from 'node:crypto';
import { type ApiRequest, type ApiResponse, HttpError, jsonResponse } from './api-request.ts';
import { serviceTimestamp } from './sample-images.ts';
import type { EmulatorSettings } from './settings.ts';

export const TOKEN_PATH = '/auth/request-token';

const NOT_AUTHORIZED = 'User is not authorized to access.';

export type AccessTokens = ReturnType<typeof createAccessTokens>;

export function createAccessTokens(settings: EmulatorSettings) {
  const { users, deniedUsers = [], tokenLimit, tokenWindow, tokenTtl, now } = settings;
  const accounts = [...users, ...deniedUsers];
  const passwords = new Map(accounts.map(({ name, password }) => [name, password]));
  const denied = new Set(deniedUsers.map(({ name }) => name));
  const tokens = new Map<string, { user: string; expiresAt: number }>();
  /** By caller, whose first request opens a window of fixed length. */
  const windows = new Map<string, { used: number; readonly resetAt: number }>();

  /** Returns the rate limit headers, or throws 429. Unknown names share a limit per address. */
  const countRequest = (name: string, remoteAddress: string) => {
    const caller = passwords.has(name) ? `user ${name}` : `address ${remoteAddress}`;
    let window = windows.get(caller);
    if (window === undefined || now() >= window.resetAt) {
      window = { used: 0, resetAt: now() + tokenWindow };
      windows.set(caller, window);
    }
    window.used += 1;
    const { used, resetAt } = window;
    const headers = {
      'X-RateLimit-Limit': String(tokenLimit),
      'X-RateLimit-Remaining': String(Math.max(0, tokenLimit - used)),
      // Rounded up, so that a client that waits until then is never too early.
      'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)),
    };
    if (used <= tokenLimit) return headers;
    const seconds = String(Math.ceil((resetAt - now()) / 1000));
    throw new HttpError(429, 'Too many token requests.', { ...headers, 'Retry-After': seconds });
  };

  return {
    requestToken: ({ authorization, remoteAddress }: ApiRequest): ApiResponse => {
      const { name: user = '', password } = basicCredentials(authorization) ?? {};
      const headers = countRequest(user, remoteAddress);
      if (password === undefined || passwords.get(user) !== password) {
        throw new HttpError(401, 'Invalid username and password combination.', headers);
      }
      if (denied.has(user)) throw new HttpError(401, NOT_AUTHORIZED, headers);
      const token = randomBytes(32).toString('base64url');
      const expiresAt = now() + tokenTtl;
      tokens.set(token, { user, expiresAt });
      const record = {
        duration: Math.ceil(tokenTtl / 1000),
        exp: Math.floor(expiresAt / 1000),
        exp_date: serviceTimestamp(expiresAt),
        token,
        type: 'ACCESS',
      };
      return jsonResponse(200, record, headers);
    },
    /** Returns the user of the request's token, or throws 401. */
    authenticate: ({ authorization, baseUrl }: ApiRequest): string => {
      const bearer = credentialsOf(authorization, 'bearer');
      const issued = tokens.get(bearer || (basicCredentials(authorization)?.name ?? ''));
      const headers = { Location: `${baseUrl}${TOKEN_PATH}` };
      if (issued === undefined) throw new HttpError(401, 'Invalid token.', headers);
      if (now() >= issued.expiresAt) {
        throw new HttpError(401, 'Valid token, but has expired.', headers);
      }
      if (denied.has(issued.user)) throw new HttpError(401, NOT_AUTHORIZED);
      return issued.user;
    },
    /** Rejects the user's tokens, which do not expire, and token requests from now on. */
    revokeAccess: (user: string) => void denied.add(user),
    expireTokens: () => {
      for (const issued of tokens.values()) issued.expiresAt = Math.min(issued.expiresAt, now());
    },
  };
}

/** Returns the word after a scheme in the header Authorization; an empty text for another one. */
function credentialsOf(authorization = '', scheme: 'bearer' | 'basic'): string {
  const [written = '', credentials = '', ...more] = authorization.split(/ +/);
  return written.toLowerCase() === scheme && more.length === 0 ? credentials : '';
}

export function basicCredentials(authorization: string | undefined) {
  const encoded = credentialsOf(authorization, 'basic');
  const [, name, password] = /^([^:]*):(.*)/s.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return name === undefined || password === undefined ? undefined : { name, password };
}
