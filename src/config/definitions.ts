// Defines every setting: what it means, its default, and how its text is parsed.

import { ImgctlError } from '../errors.ts';
import { parseBaseUrl, withScheme } from '../http/url.ts';
import { parseColumns } from '../output/columns.ts';
import { FORMAT_NAMES } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { TIME_STYLES } from '../query/time-format.ts';
import { parseRedisAddress, parseUploadUrl, storedFolder } from './storage-urls.ts';
import {
  anyText,
  byteRate,
  choice,
  duration,
  plainText,
  storedFile,
  userName,
  type Value,
  wholeNumber,
} from './values.ts';

export interface SettingDefinition {
  readonly summary: string;
  readonly fallback?: string;
  readonly value: Value;
  /** True if no other service may get it: it means nothing there, or would be unsafe. */
  readonly isOfService?: boolean;
}

/** A text of this form. @param advice for any other */
function formed(form: RegExp, advice: string): Value<string> {
  return {
    parse: (text, key) => {
      if (form.test(text)) return text;
      throw new ImgctlError('usage', `invalid ${key}: ${text}`, { facts: advice });
    },
  };
}

/** What -c takes: with what is computed from the name, which `all` leaves out. */
const SHOWABLE = [...FIELDS, 'version'] as const;

const COLUMNS: Value<readonly string[]> = {
  parse: (text, key) => parseColumns<string>(text, key, SHOWABLE, FIELDS),
  listed: SHOWABLE,
};

const BOOLEAN = choice('value', ['true', 'false']);

const COMMAND = anyText();

const FILE = { ...anyText({ from: 'files' }), stored: storedFile };

const HELPER: Value<string> = {
  ...formed(/^[\w.-]+$|[\\/]/, 'use a name such as pass, or a path'),
  mayBePath: true,
  stored: (text, key, cwd) => (/[\\/]/.test(text) ? storedFile(text, key, cwd) : text),
  suggested: ['osxkeychain', 'pass', 'secretservice', 'wincred'],
};

/** All settings by group, in the order of `config list`. */
export const SETTING_GROUPS = {
  service: {
    'base-url': {
      summary: 'address of the service',
      value: { parse: (text) => parseBaseUrl(withScheme(text.trim()) ?? text) },
    },
    username: {
      summary: 'user name to log in with',
      value: { parse: userName },
      isOfService: true,
    },
    'password-command': {
      summary: 'command that prints the password',
      value: COMMAND,
      isOfService: true,
    },
    'password-file': {
      summary: 'file whose first line is the password',
      value: FILE,
      isOfService: true,
    },
    'credential-helper': {
      summary: 'Docker credential helper for the password',
      value: HELPER,
      isOfService: true,
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
      isOfService: true,
    },
    'allow-http': {
      summary: 'plain http to other hosts',
      fallback: 'false',
      value: { ...BOOLEAN, parse: (text, name) => BOOLEAN.parse(text, name) === 'true' },
      isOfService: true,
    },
    'ca-file': { summary: 'additional trusted certificates (PEM)', value: FILE },
  },
  output: {
    output: {
      summary: 'output format',
      fallback: 'table',
      value: choice('format', FORMAT_NAMES),
    },
    'columns.images': { summary: 'columns of images list', value: COLUMNS },
    'columns.my-images': { summary: 'columns of my-images', value: COLUMNS },
    time: {
      summary: 'format of times in tables',
      value: choice('time style', TIME_STYLES),
    },
  },
  upload: {
    'upload-url': {
      summary: 'storage that push uploads to',
      value: { parse: parseUploadUrl, from: 'folders', stored: storedFolder },
      isOfService: true,
    },
    'upload-username': {
      summary: 'user name for a WebDAV storage',
      value: { parse: userName },
      isOfService: true,
    },
    'upload-password-command': {
      summary: 'command that prints the WebDAV password',
      value: COMMAND,
      isOfService: true,
    },
    'upload-access-key': {
      summary: 'access key id for an S3 storage',
      value: { parse: plainText },
      isOfService: true,
    },
    'upload-secret-command': {
      summary: 'command that prints the S3 secret key',
      value: COMMAND,
      isOfService: true,
    },
    'upload-session-token-command': {
      summary: 'command that prints the S3 session token',
      value: COMMAND,
      isOfService: true,
    },
    'upload-region': {
      summary: 'region of an S3 storage',
      fallback: 'us-east-1',
      value: formed(/^[\w-]{1,64}$/, 'use a region such as us-east-1'),
      isOfService: true,
    },
    'limit-rate': {
      summary: 'maximum bytes per second, such as 10M',
      value: byteRate(),
    },
    'upload-ca-file': {
      summary: 'trusted certificates for the storage (PEM)',
      value: FILE,
      isOfService: true,
    },
  },
  fleet: {
    'token-store': {
      summary: 'file, or the URL of a shared Redis server',
      fallback: 'file',
      value: { parse: parseRedisAddress, suggested: ['file'] },
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

/** Says where a login stored the password of the profile: see stored-password.ts. */
export const STORED_PASSWORD = 'stored-password';

/** The address of the service that a profile without base-url still belongs to. */
export const FORMER_URL = 'former-base-url';

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** Returns the variable of a setting: IMGCTL_BASE_URL of base-url. */
export function variableOf(key: SettingKey): string {
  return `IMGCTL_${key.replaceAll(/[-.]/g, '_').toUpperCase()}`;
}

/** True for what a profile has of the account, of the upload storage and of how the token is sent. */
export function isOfService(key: string): boolean {
  if (!isSettingKey(key)) return key === STORED_PASSWORD;
  const { isOfService = false }: SettingDefinition = SETTINGS[key];
  return isOfService;
}

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(SETTINGS, text);
}

/** Of each secret but the token: its variable, setting of a command to print it, and meaning. */
export const SECRETS = {
  password: ['IMGCTL_PASSWORD', 'password-command', 'the password'],
  uploadPassword: [
    'IMGCTL_UPLOAD_PASSWORD',
    'upload-password-command',
    'the password of a WebDAV storage',
  ],
  uploadSecret: [
    'IMGCTL_UPLOAD_SECRET',
    'upload-secret-command',
    'the secret key of an S3 storage',
  ],
  uploadSession: [
    'IMGCTL_UPLOAD_SESSION_TOKEN',
    'upload-session-token-command',
    'the session token of temporary S3 keys',
  ],
  // The topic fleet explains these.
  storePassword: ['IMGCTL_TOKEN_STORE_PASSWORD', 'token-store-password-command'],
  storeKey: ['IMGCTL_TOKEN_STORE_KEY'],
} as const satisfies Record<string, readonly [variable: string, SettingKey?, meaning?: string]>;

/** Every variable that means something. */
export const VARIABLES: readonly string[] = [
  ...SETTING_KEYS.map(variableOf),
  ...Object.values(SECRETS).flatMap(([name]) => [name, `${name}_FILE`]),
  ...['PROFILE', 'TOKEN', 'DEBUG', 'CONFIG_DIR'].map((name) => `IMGCTL_${name}`),
];
