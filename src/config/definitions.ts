// Defines every setting, and parses the addresses of the token store and the upload storage.

import { ImgctlError, tryOr } from '../errors.ts';
import { hideUserInfo, parseBaseUrl, withScheme } from '../http/url.ts';
import { builtin } from '../io.ts';
import { parseColumns } from '../output/columns.ts';
import { FORMAT_NAMES, formatElsewhere } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { TIME_STYLES } from '../query/time-format.ts';
import {
  anyText,
  byteRate,
  choice,
  duration,
  type Hints,
  plainText,
  userName,
  type Value,
  wholeNumber,
} from './values.ts';

export interface SettingDefinition {
  readonly summary: string;
  readonly fallback?: string;
  readonly value: Value;
}

function parsed<Parsed>(parse: Value<Parsed>['parse'], hints: Hints = {}): Value<Parsed> {
  return { parse, ...hints };
}

/** A text of this form. @param advice for any other */
function formed(form: RegExp, advice: string, hints?: Hints): Value<string> {
  const parse = (text: string, key: string) => {
    if (form.test(text)) return text;
    throw invalid(key, text, advice);
  };
  return parsed(parse, hints);
}

/** What -c takes: with what is computed from the name, which `all` leaves out. */
const SHOWABLE = [...FIELDS, 'version'] as const;

const COLUMNS = parsed((text, key) => parseColumns<string>(text, key, SHOWABLE, FIELDS), {
  listed: SHOWABLE,
});

const BOOLEAN = choice('value', ['true', 'false']);

const COMMAND = anyText();

const FILE = anyText({ from: 'files' });

/** All settings by group, in the order of `config list`. */
export const SETTING_GROUPS = {
  service: {
    'base-url': {
      summary: 'address of the service',
      value: parsed((text) => parseBaseUrl(withScheme(text.trim()) ?? text)),
    },
    username: {
      summary: 'user name to log in with',
      value: parsed(userName),
    },
    'password-command': {
      summary: 'command that prints the password',
      value: COMMAND,
    },
    'password-file': { summary: 'file whose first line is the password', value: FILE },
    'credential-helper': {
      summary: 'Docker credential helper for the password',
      value: formed(/^[\w.-]+$|[\\/]/, 'use a name such as pass, or a path', {
        mayBePath: true,
        suggested: ['osxkeychain', 'pass', 'secretservice', 'wincred'],
      }),
    },
    timeout: {
      summary: 'time limit of each request',
      fallback: '30s',
      value: duration(),
    },
    retries: {
      summary: 'retries for requests that are safe to repeat',
      fallback: '4',
      value: wholeNumber(0, 100),
    },
    concurrency: {
      summary: 'page requests sent at the same time',
      fallback: '6',
      value: wholeNumber(1, 32),
    },
    'auth-scheme': {
      summary: 'how the token is sent',
      fallback: 'bearer',
      value: choice('scheme', ['bearer', 'basic']),
    },
    'allow-http': {
      summary: 'plain http to other hosts',
      fallback: 'false',
      value: { ...BOOLEAN, parse: (text, name) => BOOLEAN.parse(text, name) === 'true' },
    },
    'ca-file': { summary: 'additional trusted certificates (PEM)', value: FILE },
  },
  output: {
    output: {
      summary: 'output format',
      fallback: 'table',
      value: choice('format', FORMAT_NAMES, [], formatElsewhere),
    },
    'columns.images': { summary: 'columns of images list', value: COLUMNS },
    'columns.my-images': { summary: 'columns of my-images', value: COLUMNS },
    time: {
      summary: 'format of times in tables',
      value: choice('time style', TIME_STYLES, ['wire', 'raw']),
    },
  },
  upload: {
    'upload-url': {
      summary: 'storage that push uploads to',
      value: parsed(parseUploadUrl, { mayBePath: true }),
    },
    'upload-username': {
      summary: 'user name for a WebDAV storage',
      value: parsed(userName),
    },
    'upload-password-command': {
      summary: 'command that prints the WebDAV password',
      value: COMMAND,
    },
    'upload-access-key': {
      summary: 'access key id for an S3 storage',
      value: parsed(plainText),
    },
    'upload-secret-command': { summary: 'command that prints the S3 secret key', value: COMMAND },
    'upload-session-token-command': {
      summary: 'command that prints the S3 session token',
      value: COMMAND,
    },
    'upload-region': {
      summary: 'region of an S3 storage',
      fallback: 'us-east-1',
      value: formed(/^[\w-]{1,64}$/, 'use a region such as us-east-1'),
    },
    'limit-rate': {
      summary: 'maximum bytes per second, such as 10M',
      value: byteRate(),
    },
    'upload-ca-file': { summary: 'trusted certificates for the storage (PEM)', value: FILE },
  },
  fleet: {
    'token-store': {
      summary: 'file, or the URL of a shared Redis server',
      fallback: 'file',
      value: parsed(parseRedisAddress, { suggested: ['file'] }),
    },
    'token-store-password-command': {
      summary: 'command that prints the Redis password',
      value: COMMAND,
    },
    'wait-for-token': {
      summary: 'how long to wait for a login, such as 5m',
      value: duration(),
    },
  },
} as const satisfies Record<string, Record<string, SettingDefinition>>;

export const SETTINGS = {
  ...SETTING_GROUPS.service,
  ...SETTING_GROUPS.output,
  ...SETTING_GROUPS.upload,
  ...SETTING_GROUPS.fleet,
};

type Definitions = typeof SETTINGS;

export type SettingKey = keyof Definitions;

/** The parsed value of a setting; undefined if it is not set and has no default. */
export type SettingValue<Key extends SettingKey> =
  | ReturnType<Definitions[Key]['value']['parse']>
  | (Definitions[Key] extends { readonly fallback: string } ? never : undefined);

/** Gives a token, instead of a login. */
export const TOKEN_VARIABLE = 'IMGCTL_TOKEN';

/** Says where a login stored the password of the profile: `keychain`, or `helper:NAME`. */
export const STORED_PASSWORD = 'stored-password';

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** Returns the variable of a setting: IMGCTL_BASE_URL of base-url. */
export function variableOf(key: SettingKey): string {
  return `IMGCTL_${key.replaceAll(/[-.]/g, '_').toUpperCase()}`;
}

/** True for the account and the upload storage: they mean nothing to another service than that of their profile. */
export function isOfService(key: SettingKey): boolean {
  return /^(?:username|password-|credential-|upload-)/.test(key);
}

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(SETTINGS, text);
}

/** The variable of each secret but the token, what it holds, and the setting with a command that prints it. */
export const SECRETS = {
  password: ['IMGCTL_PASSWORD', 'the password', 'password-command'],
  uploadPassword: [
    'IMGCTL_UPLOAD_PASSWORD',
    'the password of a WebDAV storage',
    'upload-password-command',
  ],
  uploadSecret: [
    'IMGCTL_UPLOAD_SECRET',
    'the secret key of an S3 storage',
    'upload-secret-command',
  ],
  uploadSession: [
    'IMGCTL_UPLOAD_SESSION_TOKEN',
    'the session token of temporary S3 keys',
    'upload-session-token-command',
  ],
  storePassword: [
    'IMGCTL_TOKEN_STORE_PASSWORD',
    'the password of the token store (see: imgctl help fleet)',
    'token-store-password-command',
  ],
  storeKey: [
    'IMGCTL_TOKEN_STORE_KEY',
    'a key that encrypts tokens in the store (see: imgctl help fleet)',
  ],
} as const satisfies Record<string, readonly [variable: string, meaning: string, SettingKey?]>;

/** Every variable that means something. */
export const VARIABLES: readonly string[] = [
  ...SETTING_KEYS.map(variableOf),
  ...Object.values(SECRETS).flatMap(([name]) => [name, `${name}_FILE`]),
  ...['PROFILE', 'TOKEN', 'DEBUG', 'CONFIG_DIR'].map((name) => `IMGCTL_${name}`),
];

function invalid(what: string, text: string, facts: string): ImgctlError {
  return new ImgctlError('usage', `invalid ${what}: ${text}`, { facts });
}

export type RedisAddress = NonNullable<ReturnType<typeof parseRedisAddress>>;

/** Returns undefined for `file`. @throws ImgctlError usage; the message never shows a password */
function parseRedisAddress(text: string) {
  if (text === 'file') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const [, database] = /^\/?(\d{0,4})$/.exec(url?.pathname ?? 'none') ?? [];
  const username = tryOr(() => decodeURIComponent(url?.username ?? ''), undefined);
  const isRedis = url?.hostname && /^rediss?:$/.test(url.protocol) && !url.search && !url.hash;
  if (!isRedis || database === undefined || username === undefined) {
    const hint = 'use file, or a URL such as rediss://imgctl@redis.example.com:6379/0';
    throw invalid('token-store', hideUserInfo(text), hint);
  }
  if (url.password !== '') {
    throw new ImgctlError('usage', 'token-store must not contain a password', {
      facts:
        'remove it from the URL and set IMGCTL_TOKEN_STORE_PASSWORD or token-store-password-command',
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
  /** A plain path may be relative to the working directory. */
  | { readonly kind: 'file'; readonly path: string };

const EXAMPLES =
  'use a URL such as dav+https://host/path or s3+https://host/bucket/prefix, or a folder such as /mnt/uploads';

/** True for a path; C: is a drive of Windows. */
function isPlainPath(text: string): boolean {
  return text.trim() !== '' && text !== '/' && !/^\s*[a-z][a-z0-9+.-]+:/i.test(text);
}

/** Returns an upload URL as settings hold it: later commands may run in another directory. */
export function absoluteUploadUrl(target: UploadTarget, text: string, cwd: string): string {
  if (target.kind !== 'file') return text;
  return builtin('node:url').pathToFileURL(builtin('node:path').resolve(cwd, target.path)).href;
}

/** @throws ImgctlError usage: another scheme, credentials, query or fragment, no bucket */
function parseUploadUrl(text: string): UploadTarget {
  if (isPlainPath(text)) return { kind: 'file', path: text };
  const [, scheme, rest = text] = /^(s3|dav)\+(https?:.*)$/is.exec(text) ?? [];
  const kind = scheme?.toLowerCase();
  const url = URL.canParse(rest) ? new URL(rest) : undefined;
  const hasMore = url && (url.username || url.password || url.search || url.hash);
  if (hasMore) {
    const hint = 'remove the user name, password, query and fragment from the URL';
    // The query may be a secret too.
    throw invalid('upload URL', hideUserInfo(text).replace(/([?#]).*/s, '$1…'), hint);
  }
  // A URL has no relative paths: file:uploads would be /uploads.
  if (url?.pathname !== '/' && url?.host === '' && /^file:\//i.test(text.trim())) {
    const path = tryOr(() => builtin('node:url').fileURLToPath(url), undefined);
    if (path !== undefined) return { kind: 'file', path };
  }
  if (url) url.pathname = url.pathname.replace(/\/+$/, '');
  const bucket = url && tryOr(() => decodeURIComponent(url.pathname), '/');
  const hasBucket = kind === 's3' && /^\/[^/]/.test(bucket ?? '');
  if (url && (kind === 'dav' || hasBucket)) return { kind, url };
  // As the tools of AWS write it.
  const [, place] = /^s3:\/\/([\w.-]+(?:\/[\w./-]*)?)$/i.exec(text) ?? [];
  const meant = place
    ? `s3+https://s3.amazonaws.com/${place}`
    : /^https?:/i.test(text) && `dav+${text}`;
  const hint = meant ? `did you mean ${meant}? Otherwise, ${EXAMPLES}` : EXAMPLES;
  throw invalid('upload URL', hideUserInfo(text), hint);
}
