// The options of the library's client and of its queries, checked by the rules of the program's settings.

import type { SyncId } from '../api/sync.ts';
import { ImgctlError } from '../errors.ts';
import { parseBaseUrl } from '../http/url.ts';
import { certificateFlaw } from '../session/setting-values.ts';
import { Settings } from '../session/settings.ts';

/** An access token, which is used unchanged, or the account to request tokens for. */
export type Credentials =
  | { readonly token: string; readonly username?: undefined; readonly password?: undefined }
  | {
      readonly token?: undefined;
      readonly username: string;
      /** The password, or a function that returns it for each token request. */
      readonly password: string | (() => string | Promise<string>);
    };

/** See docs/library.md, which also lists the defaults. */
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
  /** Receives warnings, such as a filter that the service ignored. */
  readonly onWarning?: ((message: string) => void) | undefined;
};

export interface ImageQuery {
  readonly text?: string | readonly string[] | undefined;
  /** `field,operator,value`; an image must match all filters. */
  readonly filter?: string | readonly string[] | undefined;
  /** `field`, `field,asc` or `field,desc`, most significant first. */
  readonly sort?: string | readonly string[] | undefined;
  readonly limit?: number | undefined;
}

export interface Connection {
  readonly baseUrl: URL;
  readonly timeout: number;
  readonly retries: number;
  readonly concurrency: number;
}

export function connectionOf(options: ClientOptions): Connection {
  const { baseUrl, token, username, password, timeout, retries, concurrency } = options;
  checkTypes(options);
  // Empty counts as missing: credentials often come from environment variables.
  if (token ? username || password : !(username && password)) {
    const message = 'createClient needs either a token or a username and password';
    throw new ImgctlError('config', message, {
      hint: 'pass { token } or { username, password }',
    });
  }
  const flags = {
    username,
    timeout: timeout === undefined ? undefined : `${timeout}ms`,
    retries: retries?.toString(),
    concurrency: concurrency?.toString(),
  };
  const settings = new Settings('library', flags, {}, {});
  settings.resolve('username');
  return {
    baseUrl: parseBaseUrl(String(baseUrl), options.allowHttp === true, 'allowHttp: true'),
    timeout: settings.duration('timeout'),
    retries: settings.number('retries'),
    concurrency: settings.number('concurrency'),
  };
}

/** Callers in JavaScript pass anything. */
function checkTypes({ password, authScheme, ca }: ClientOptions): void {
  if (password !== undefined && typeof password !== 'string' && typeof password !== 'function') {
    throw usage('password must be a string or a function', 'pass the password');
  }
  if (authScheme !== undefined && authScheme !== 'bearer' && authScheme !== 'basic') {
    throw usage(`invalid authScheme: ${authScheme}`, 'pass bearer or basic');
  }
  const hint = 'pass certificates in PEM format, such as the content of a .pem file';
  if (ca !== undefined && typeof ca !== 'string') throw usage('ca is not a string', hint);
  const flaw = ca === undefined ? undefined : certificateFlaw(ca);
  if (flaw !== undefined) throw usage(`cannot read ca: ${flaw}`, hint);
}

function usage(message: string, hint: string): ImgctlError {
  return new ImgctlError('usage', message, { hint });
}

/** Returns the id for a path. A path such as `../user/image/vm` would be another request. */
export function checkedImageId(id: unknown): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id;
  throw usage(`invalid image id: ${shown(id)}`, 'pass a whole number, such as getImage(42)');
}

/** Ids beyond 2^53 are objects with the number as text. */
export function checkedSyncId(id: SyncId): SyncId {
  const isValid = typeof id === 'string' ? !/^\.{0,2}$/.test(id) : /^\d+$/.test(String(id));
  if (isValid) return id;
  throw usage(`invalid sync request id: ${shown(id)}`, 'pass the id that submitSync returned');
}

export function checkedQuery(
  query: unknown,
): Readonly<Record<'text' | 'filter' | 'sort', readonly string[]>> {
  const { text, filter, sort } = Object(query) as Readonly<Record<keyof ImageQuery, unknown>>;
  if (query === null || typeof query !== 'object') {
    throw usage(`a query must be an object (got ${shown(query)})`, 'pass { filter, sort, limit }');
  }
  return {
    text: textsOf('text', text),
    filter: textsOf('filter', filter),
    sort: textsOf('sort', sort),
  };
}

function textsOf(name: keyof ImageQuery, value: unknown): readonly string[] {
  if (value === undefined) return [];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const wrong = texts.find((text) => typeof text !== 'string');
  if (texts.every((text) => typeof text === 'string')) return texts;
  throw usage(`${name} must be a string (got ${shown(wrong)})`, `pass ${name} or leave it out`);
}

function shown(value: unknown): string {
  return typeof value === 'object' ? (JSON.stringify(value) ?? 'null').slice(0, 80) : String(value);
}
