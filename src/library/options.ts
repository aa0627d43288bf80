// What a program passes, as types, and checks: an option that is misspelled must not be ignored.

import type * as api from '../api/auth.ts';
import { isSyncId } from '../api/sync-requests.ts';
import { ImgctlError } from '../errors.ts';
import { nearest } from '../spelling.ts';
import { isDigits, quoted } from '../words.ts';

/** An access token, which is used unchanged, or the account to request tokens for. */
export type Credentials =
  | { readonly token: string; readonly username?: undefined; readonly password?: undefined }
  | {
      readonly token?: undefined;
      readonly username: string;
      /** The password, or a function that returns it for each token request. */
      readonly password: string | (() => string | Promise<string>);
    };

export type ClientOptions = Credentials & {
  readonly baseUrl: string | URL;
  readonly allowHttp?: boolean | undefined;
  /** Milliseconds for each request, until the last byte. */
  readonly timeout?: number | undefined;
  readonly retries?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly authScheme?: 'bearer' | 'basic' | undefined;
  /** Additional trusted certificates (PEM). */
  readonly ca?: string | undefined;
  /** An HTTP proxy, `http://user:password@host:port`; proxy variables are not read. */
  readonly proxy?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives one trace line per request, as `--debug` prints it: without headers and bodies. */
  readonly onTrace?: ((line: string) => void) | undefined;
  /** Receives warnings, such as times in an unknown zone. */
  readonly onWarning?: ((message: string) => void) | undefined;
};

export interface ImageQuery {
  readonly text?: string | readonly string[] | undefined;
  /** `field,operator,value`, or `name~ubuntu` and the like; an image must match all filters. */
  readonly filter?: string | readonly string[] | undefined;
  /** `field`, `field,asc` or `field,desc`, most significant first. */
  readonly sort?: string | readonly string[] | undefined;
  readonly limit?: number | undefined;
}

/** A request that `send` sends. */
export type RequestOptions = Pick<api.ServiceRequest, 'method' | 'path' | 'signal'>;

/** What an option must be, in words, and whether a value is. */
type Kind = readonly [meaning: string, isValid: (value: unknown) => boolean];

type Kinds = Readonly<Record<string, Kind>>;

const isText = (value: unknown) => typeof value === 'string';
const TEXT: Kind = ['a string', isText];
const SIGNAL: Kind = ['an AbortSignal', (value) => value instanceof AbortSignal];
const FUNCTION: Kind = ['a function', (value) => typeof value === 'function'];
const TEXTS: Kind = ['a string or an array of strings', (value) => [value].flat().every(isText)];

const isMethod = (value: unknown) =>
  isText(value) && !['CONNECT', 'TRACE'].includes(value.toUpperCase());

function whole(min: number, max = Number.MAX_SAFE_INTEGER): Kind {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const isIn = (value: unknown) => Number(value) >= min && Number(value) <= max;
  return [`a whole number ${range}`, (value) => Number.isSafeInteger(value) && isIn(value)];
}

export const QUERY = {
  text: TEXTS,
  filter: TEXTS,
  sort: TEXTS,
  limit: whole(1),
} satisfies Record<keyof ImageQuery, Kind>;

export const CLIENT = {
  baseUrl: ['a string or a URL', (value) => isText(value) || value instanceof URL],
  token: TEXT,
  username: TEXT,
  password: ['a string or a function', (value) => isText(value) || typeof value === 'function'],
  allowHttp: ['a boolean', (value) => typeof value === 'boolean'],
  timeout: whole(1, 2 ** 31 - 1),
  retries: whole(0, 100),
  concurrency: whole(1, 32),
  authScheme: ["'bearer' or 'basic'", (value) => value === 'bearer' || value === 'basic'],
  ca: TEXT,
  proxy: TEXT,
  signal: SIGNAL,
  onTrace: FUNCTION,
  onWarning: FUNCTION,
} satisfies Record<keyof ClientOptions, Kind>;

export const REQUEST = {
  method: ['a string, and not CONNECT or TRACE', isMethod],
  path: TEXT,
  signal: SIGNAL,
} satisfies Record<keyof RequestOptions, Kind>;

const [ID, isId] = whole(1);

/** The arguments of getImage and getSyncRequest. */
export const IMAGE: Kinds = {
  id: [ID, (value) => isId(value) || (isText(value) && isDigits(value))],
};
export const SYNC_REQUEST: Kinds = {
  id: [
    "a number, or a string such as '17'",
    (value) => (typeof value === 'string' ? isSyncId(value) : Number.isFinite(value)),
  ],
  signal: SIGNAL,
};

/**
 * @throws ImgctlError usage: an option is unknown or of another type; undefined counts as not given
 */
export function checkOptions(
  given: object | null,
  what: string,
  kinds: Kinds,
  required: readonly string[] = [],
): void {
  // An array has members named filter and sort.
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ImgctlError('usage', `the ${what} must be an object`);
  }
  const missing = Object.fromEntries(required.map((name) => [name, null]));
  for (const [name, value] of Object.entries({ ...missing, ...given })) {
    const [meaning, isValid] = (Object.hasOwn(kinds, name) && kinds[name]) || [];
    if (isValid === undefined) {
      const valid = Object.keys(kinds);
      const meant = nearest(name, valid);
      const facts = meant ? `did you mean ${meant}?` : `valid: ${valid.join(', ')}`;
      throw new ImgctlError('usage', `unknown option ${quoted(name)} in the ${what}`, { facts });
    }
    if (value === undefined ? !required.includes(name) : isValid(value)) continue;
    // Of others, a value may be a secret.
    const got = typeof value === 'number' ? ` (got ${value})` : '';
    throw new ImgctlError('usage', `${name} must be ${meaning}${got}`);
  }
}
