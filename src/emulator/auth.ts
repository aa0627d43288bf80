// Who may do what: access tokens for user names and passwords, and users for access tokens (sections 4.1 and 5).

import { randomBytes } from 'node:crypto';
import type { TokenRecord } from '../api/types.ts';
import type { Settings } from './options.ts';
import type { ApiRequest } from './request.ts';
import { type Answer, jsonAnswer, Refusal } from './responses.ts';
import { formatTimestamp } from './timestamp.ts';

/** Path of the token request, relative to the base URL. */
export const TOKEN_PATH = '/auth/request-token';

const NOT_AUTHORIZED = 'User is not authorized to access.';

export interface Auth {
  /** Answers POST /auth/request-token. */
  requestToken(request: ApiRequest): Answer;
  /** The user whose valid token the request shows; 401 without one. */
  authenticate(request: ApiRequest): string;
  /** From now on the user gets no token and those at hand are refused. */
  withdraw(user: string): void;
  /** Gives the user back what was withdrawn. */
  reinstate(user: string): void;
  /** Lets all tokens expire now. */
  expireTokens(): void;
}

export function createAuth(settings: Settings): Auth {
  const { tokenLimit, tokenWindow, tokenTtl, now } = settings;
  const passwords = new Map(
    [...settings.users, ...settings.deniedUsers].map(({ name, password }) => [name, password]),
  );
  const withdrawn = new Set(settings.deniedUsers.map(({ name }) => name));
  const tokens = new Map<string, { user: string; expiresAt: number }>();
  const rateLimit = createRateLimit(tokenLimit, tokenWindow, now);

  /** The headers that tell the limit, or 429. Names that nobody has share the limit of their address. */
  const countAttempt = (name: string | undefined, remoteAddress: string) => {
    const known = name !== undefined && passwords.has(name);
    const state = rateLimit.take(known ? `user ${name}` : `address ${remoteAddress}`);
    const headers = {
      'X-RateLimit-Limit': String(tokenLimit),
      'X-RateLimit-Remaining': String(state.remaining),
      // Rounded up, so that who waits until then is never too early.
      'X-RateLimit-Reset': String(Math.ceil(state.resetAt / 1000)),
    };
    if (!state.exceeded) return headers;
    const seconds = String(Math.ceil((state.resetAt - now()) / 1000));
    throw new Refusal(429, 'Too many token requests.', { ...headers, 'Retry-After': seconds });
  };

  const issueToken = (user: string): TokenRecord => {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = now() + tokenTtl;
    tokens.set(token, { user, expiresAt });
    return {
      duration: Math.ceil(tokenTtl / 1000),
      exp: Math.floor(expiresAt / 1000),
      exp_date: formatTimestamp(expiresAt),
      token,
      type: 'ACCESS',
    };
  };

  return {
    requestToken: ({ authorization, remoteAddress }) => {
      const credentials = basicCredentials(authorization);
      const headers = countAttempt(credentials?.name, remoteAddress);
      if (credentials === undefined || passwords.get(credentials.name) !== credentials.password) {
        throw new Refusal(401, 'Invalid username and password combination.', headers);
      }
      if (withdrawn.has(credentials.name)) throw new Refusal(401, NOT_AUTHORIZED, headers);
      return jsonAnswer(200, issueToken(credentials.name), headers);
    },
    authenticate: ({ authorization, baseUrl }) => {
      const token = bearerToken(authorization) ?? basicCredentials(authorization)?.name;
      const issued = token === undefined ? undefined : tokens.get(token);
      const headers = { Location: `${baseUrl}${TOKEN_PATH}` };
      if (issued === undefined) throw new Refusal(401, 'Invalid token.', headers);
      if (now() >= issued.expiresAt) {
        throw new Refusal(401, 'Valid token, but has expired.', headers);
      }
      if (withdrawn.has(issued.user)) throw new Refusal(401, NOT_AUTHORIZED);
      return issued.user;
    },
    withdraw: (user) => {
      withdrawn.add(user);
    },
    reinstate: (user) => {
      withdrawn.delete(user);
    },
    expireTokens: () => {
      for (const issued of tokens.values()) issued.expiresAt = Math.min(issued.expiresAt, now());
    },
  };
}

function bearerToken(authorization = ''): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** Name and password of HTTP Basic; the password may hold colons, the name may not. */
function basicCredentials(authorization = ''): { name: string; password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon === -1) return undefined;
  return { name: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

export interface RateLimitState {
  readonly exceeded: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** When the window ends, milliseconds since the epoch. */
  readonly resetAt: number;
}

export interface RateLimit {
  /** Counts one request of that caller. The first of a window opens it. */
  take(caller: string): RateLimitState;
}

/** A limit of so many requests in a window of so many milliseconds, for each caller. */
export function createRateLimit(limit: number, window: number, now: () => number): RateLimit {
  const windows = new Map<string, { used: number; resetAt: number }>();
  return {
    take: (caller) => {
      const known = windows.get(caller);
      const current =
        known !== undefined && now() < known.resetAt ? known : { used: 0, resetAt: now() + window };
      current.used += 1;
      windows.set(caller, current);
      const { used, resetAt } = current;
      return { exceeded: used > limit, remaining: Math.max(0, limit - used), resetAt };
    },
  };
}
