// What a client is created with, and what it asks for; checked as the program checks its own settings.

import { ImgctlError } from '../errors.ts';
import { parseBaseUrl } from '../http/url.ts';
import { Settings } from '../session/settings.ts';

/** An access token, used as it is; or what new ones are requested with, whenever one is needed. */
export type Credentials =
  | { readonly token: string; readonly username?: undefined; readonly password?: undefined }
  | {
      readonly token?: undefined;
      readonly username: string;
      /** The password, or where it comes from each time. */
      readonly password: string | (() => string | Promise<string>);
    };

export type ClientOptions = Credentials & {
  /** The service, with its path prefix if it has one. */
  readonly baseUrl: string | URL;
  /** Accept plain http to a host that is not this machine. */
  readonly allowHttp?: boolean | undefined;
  /** Milliseconds for each try of a request, to the last byte (30,000). */
  readonly timeout?: number | undefined;
  /** Further tries of a request that is safe to repeat (4). */
  readonly retries?: number | undefined;
  /** Requests at a time (6). */
  readonly concurrency?: number | undefined;
  /** How the token is sent (bearer). */
  readonly authScheme?: 'bearer' | 'basic' | undefined;
  /** Further trusted certificates, PEM. */
  readonly ca?: string | undefined;
  /** An HTTP proxy, `http://user:password@host:port`; proxy variables are not read. */
  readonly proxy?: string | undefined;
  /** Ends every request when it aborts; they throw its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Hears what happens on the wire, a line each, as `--debug` shows it: without headers and bodies. */
  readonly onTrace?: ((line: string) => void) | undefined;
  /** Hears what went otherwise than asked, though not wrong, such as a filter that the service ignored. */
  readonly onWarning?: ((message: string) => void) | undefined;
};

/** Which images, in which order; the grammar is that of `imgctl help filters`. */
export interface ImageQuery {
  /** Texts that the name contains, all of them, in any case. */
  readonly text?: string | readonly string[] | undefined;
  /** `field,operator,value`; several must all hold. */
  readonly filter?: string | readonly string[] | undefined;
  /** `field`, `field,asc` or `field,desc`; the most significant first. */
  readonly sort?: string | readonly string[] | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
}

/** The options with defaults in place. */
export interface Connection {
  readonly baseUrl: URL;
  readonly timeout: number;
  readonly retries: number;
  readonly concurrency: number;
}

/** @throws ImgctlError config or usage: an option that cannot be used */
export function connectionOf(options: ClientOptions): Connection {
  const { baseUrl, token, username, password, timeout, retries, concurrency } = options;
  // Variables of the environment are often where these come from, and often empty.
  if (token ? username || password : !(username && password)) {
    throw new ImgctlError(
      'config',
      'there has to be either a token or a user name with a password',
      {
        hint: 'give createClient either { token } or { username, password }',
      },
    );
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
