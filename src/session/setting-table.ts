// The settings and their valid values: texts, durations, addresses of the token store and the upload storage.

import { ImgctlError, valueOr } from '../errors.ts';
import { hideUserInfo, parseBaseUrl, withScheme } from '../http/url.ts';
import { builtin } from '../io.ts';

export interface SettingDefinition {
  readonly summary: string;
  readonly env?: string;
  readonly fallback?: string;
  readonly valid?: readonly string[];
  /** Values to complete, if others are valid too. */
  readonly suggested?: readonly string[];
  /** Returns the value. @throws ImgctlError usage or config: it is invalid, and may hold a password */
  parse(text: string, key: string): unknown;
}

const oneOf = <const Word extends string>(...valid: Word[]) => ({
  valid,
  parse(text: string, key: string): Word {
    const word = valid.find((one) => one === text);
    if (word !== undefined) return word;
    throw invalid(key, text, `valid: ${valid.join(', ')}`);
  },
});

const timeStyles = oneOf('raw', 'iso', 'local', 'age');
const timeStyle: typeof timeStyles = {
  ...timeStyles,
  parse: (text, key) => timeStyles.parse(text === 'wire' ? 'raw' : text, key),
};

const wholeNumber = (min: number, max: number) => (text: string, key: string) => {
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number;
  throw invalid(key, text, `use a whole number from ${min} to ${max}`);
};

/** Basic credentials cannot hold a colon in the user name (RFC 7617). The rest may be a password, so it is hidden. */
const userName = (text: string, key: string) => {
  if (!text.includes(':')) return nonEmpty(text, key);
  throw invalid(key, text.replace(/:.*/s, ':…'), 'use a user name without a colon');
};

/** All settings, in the order of `config list`. */
export const SETTINGS = {
  'base-url': {
    summary: 'address of the service',
    env: 'IMGCTL_BASE_URL',
    parse: (text) => parseBaseUrl(withScheme(text.trim()) ?? text),
  },
  username: { summary: 'user name to log in with', env: 'IMGCTL_USERNAME', parse: userName },
  'password-command': {
    summary: 'command whose first output line is the password',
    env: 'IMGCTL_PASSWORD_COMMAND',
    parse: nonEmpty,
  },
  'token-store': {
    summary: 'where tokens are stored: file, or the URL of a Redis server that machines share',
    env: 'IMGCTL_TOKEN_STORE',
    fallback: 'file',
    suggested: ['file'],
    parse: parseStoreAddress,
  },
  'token-store-password-command': {
    summary: 'command that prints the password of the token store',
    parse: nonEmpty,
  },
  'wait-for-token': {
    summary: 'how long to wait if the service allows no login now, such as 5m',
    parse: parseDuration,
  },
  'credential-helper': {
    summary: 'Docker credential helper that stores the password: a name such as pass, or a path',
    suggested: ['osxkeychain', 'pass', 'secretservice', 'wincred'],
    parse(text, key): string {
      if (/^[\w.-]+$|[\\/]/.test(text)) return text;
      throw invalid(key, text, 'use a name such as pass, or a path');
    },
  },
  output: {
    summary: 'output format',
    env: 'IMGCTL_OUTPUT',
    fallback: 'table',
    ...oneOf('table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'),
  },
  timeout: {
    summary: 'time limit of each request',
    env: 'IMGCTL_TIMEOUT',
    fallback: '30s',
    parse: parseDuration,
  },
  retries: {
    summary: 'retries for requests that are safe to repeat',
    fallback: '4',
    parse: wholeNumber(0, 100),
  },
  concurrency: {
    summary: 'page requests sent at the same time',
    fallback: '6',
    parse: wholeNumber(1, 32),
  },
  'columns.images': { summary: 'columns of images list', parse: String },
  'columns.my-images': { summary: 'columns of my-images', parse: String },
  'table-style': {
    summary: 'frames around tables on a terminal',
    fallback: 'plain',
    ...oneOf('plain', 'box'),
  },
  'auth-scheme': {
    summary: 'how the token is sent',
    fallback: 'bearer',
    ...oneOf('bearer', 'basic'),
  },
  'allow-http': {
    summary: 'allow plain http to other hosts',
    fallback: 'false',
    valid: ['true', 'false'],
    parse: (text, key) => oneOf('true', 'false').parse(text, key) === 'true',
  },
  'ca-file': { summary: 'additional trusted certificates (PEM)', parse: nonEmpty },
  'metrics-file': {
    summary: 'file for the metrics of sync, push and images changes',
    parse: nonEmpty,
  },
  time: { summary: 'format of timestamps in tables', ...timeStyle },
  'upload-url': { summary: 'storage that push uploads to', parse: parseUploadUrl },
  'upload-username': { summary: 'user name for a WebDAV storage', parse: userName },
  'upload-password-command': {
    summary: 'command that prints the WebDAV password',
    parse: nonEmpty,
  },
  'upload-access-key': { summary: 'access key id for an S3 storage', parse: nonEmpty },
  'upload-secret-command': { summary: 'command that prints the S3 secret key', parse: nonEmpty },
  'upload-region': {
    summary: 'region of an S3 storage',
    fallback: 'us-east-1',
    parse(text, key): string {
      if (/^[\w-]{1,64}$/.test(text)) return text;
      throw invalid(key, text, 'use a region such as us-east-1');
    },
  },
  'upload-ca-file': { summary: 'trusted certificates for the storage (PEM)', parse: nonEmpty },
} as const satisfies Record<string, SettingDefinition>;

type Definitions = typeof SETTINGS;

export type SettingKey = keyof Definitions;

/** The parsed value of a setting; undefined if it is not set and has no default. */
export type SettingValue<Key extends SettingKey> =
  | ReturnType<Definitions[Key]['parse']>
  | (Definitions[Key] extends { readonly fallback: string } ? never : undefined);

/** Says where a login stored the password of the profile: `keychain`, or `helper:NAME`. */
export const STORED_PASSWORD = 'stored-password';

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(SETTINGS, text);
}

function nonEmpty(text: string, key: string): string {
  if (text !== '') return text;
  throw new ImgctlError('usage', `${key} must not be empty`, {
    hint: `provide a value, or remove the setting: imgctl config unset ${key}`,
  });
}

function invalid(what: string, text: string, hint: string): ImgctlError {
  return new ImgctlError('usage', `invalid ${what}: ${text}`, { hint });
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** 24 days, the maximum of a timer. */
const MAX_TIMER = 2 ** 31 - 1;

/** A hundred years. */
export const MAX_AGE = 36_525 * 86_400_000;

/** Returns milliseconds. @throws ImgctlError usage */
export function parseDuration(text: string, what: string, max = MAX_TIMER): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= max) return Math.round(milliseconds);
  if (milliseconds > max) {
    const days = Math.floor(max / 86_400_000);
    throw new ImgctlError('usage', `${what} must be at most ${days} days (got ${text})`);
  }
  throw new ImgctlError('usage', `invalid ${what}: ${text}`, {
    hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
  });
}

/** Returns why the text holds no certificate in PEM format, or undefined; Node silently ignores such text. */
export function certificateFlaw(text: string): string | undefined {
  const { X509Certificate } = builtin('node:crypto');
  return valueOr(() => new X509Certificate(text) && undefined, 'no valid PEM certificate');
}

export type StoreAddress = NonNullable<ReturnType<typeof parseStoreAddress>>;

/** Returns undefined for `file`. @throws ImgctlError usage; the message never shows a password */
function parseStoreAddress(text: string) {
  if (text === 'file') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [, database] = /^\/?(\d{0,4})$/.exec(url?.pathname ?? 'none') ?? [];
  const username = valueOr(() => decodeURIComponent(url?.username ?? ''), undefined);
  const isRedis = url?.hostname && /^rediss?:$/.test(url.protocol) && !url.search && !url.hash;
  if (!isRedis || database === undefined || username === undefined) {
    const hint = 'use file, or a URL such as rediss://imgctl@redis.example.com:6379/0';
    throw invalid('token-store', hideUserInfo(text), hint);
  }
  if (url.password !== '') {
    throw new ImgctlError('usage', 'token-store must not contain a password', {
      hint: 'remove it from the URL and set IMGCTL_TOKEN_STORE_PASSWORD or token-store-password-command',
    });
  }
  return {
    tls: url.protocol === 'rediss:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    username: username || undefined,
    database: Number(database),
    /** The URL, for messages; it holds no password. */
    text,
  };
}

export type UploadTarget =
  /** `url` has the scheme http or https and no slash at its end. */
  | { readonly kind: 's3' | 'dav'; readonly url: URL }
  | { readonly kind: 'file'; readonly path: string };

const EXAMPLES =
  'use a URL such as dav+https://host/path, s3+https://host/bucket/prefix or file:///mnt/uploads';

/** @throws ImgctlError usage: another scheme, credentials, query or fragment, no bucket */
function parseUploadUrl(text: string): UploadTarget {
  const [, scheme, rest = text] = /^(s3|dav)\+(https?:.*)$/is.exec(text) ?? [];
  const kind = scheme?.toLowerCase();
  const url = URL.canParse(rest) ? new URL(rest) : undefined;
  const hasMore = url && (url.username || url.password || url.search || url.hash);
  if (hasMore) {
    const hint = 'remove the user name, password, query and fragment from the URL';
    // The query may be a secret too.
    throw invalid('upload URL', hideUserInfo(text).replace(/([?#]).*/s, '$1…'), hint);
  }
  if (url?.protocol === 'file:' && url.host === '') {
    const path = valueOr(() => builtin('node:url').fileURLToPath(url), undefined);
    if (path !== undefined) return { kind: 'file', path };
  }
  if (url) url.pathname = url.pathname.replace(/\/+$/, '');
  const bucket = url && valueOr(() => decodeURIComponent(url.pathname), '/');
  const hasBucket = kind === 's3' && /^\/[^/]/.test(bucket ?? '');
  if (url && (kind === 'dav' || hasBucket)) return { kind, url };
  throw invalid('upload URL', hideUserInfo(text), EXAMPLES);
}
