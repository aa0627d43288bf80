// The options of the library's client and of its queries, checked by the rules of the program's settings.

import { ImgctlError } from '../errors.ts';
import { parseBaseUrl } from '../http/url.ts';
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
