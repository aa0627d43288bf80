// The settings and their valid values.

import { hideUserInfo, parseBaseUrl } from '../http/url.ts';
import {
  invalid,
  nonEmpty,
  parseDuration,
  parseStoreAddress,
  parseUploadUrl,
  USER_NAME,
} from './setting-values.ts';

export interface SettingDefinition {
  readonly summary: string;
  readonly env?: string;
  readonly fallback?: string;
  readonly valid?: readonly string[];
  /** Values to complete, if others are valid too. */
  readonly suggested?: readonly string[];
  /** Returns the value. @throws ImgctlError usage or config: it is invalid */
  parse(text: string, key: string): unknown;
  /** Returns as much of an invalid value as may be shown: it may hold a password. */
  shown?(text: string): string;
}

const oneOf = <const Word extends string>(...valid: Word[]) => ({
  valid,
  parse(text: string, key: string): Word {
    const word = valid.find((one) => one === text);
    if (word !== undefined) return word;
    throw invalid(key, text, `valid: ${valid.join(', ')}`);
  },
});

const wholeNumber = (min: number, max: number) => (text: string, key: string) => {
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number;
  throw invalid(key, text, `use a whole number from ${min} to ${max}`);
};

/** A duration of at most the maximum of a timer. */
const duration = (text: string, key: string) => parseDuration(text, key);

/** A text that its users check. */
const anyText = (text: string) => text;

/** All settings, in the order of `config list`. */
export const SETTINGS = {
  'base-url': {
    summary: 'address of the service',
    env: 'IMGCTL_BASE_URL',
    parse: (text) => parseBaseUrl(text, true),
    shown: hideUserInfo,
  },
  username: {
    summary: 'user name for token requests',
    env: 'IMGCTL_USERNAME',
    ...USER_NAME,
  },
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
    shown: hideUserInfo,
  },
  'token-store-password-command': {
    summary: 'command whose first output line is the password of the token store',
    parse: nonEmpty,
  },
  'wait-for-token': {
    summary: 'maximum wait for the end of the token request limit, such as 5m',
    parse: duration,
  },
  'credential-helper': {
    summary:
      'program that stores passwords, as docker uses it: wincred, osxkeychain, pass or a path',
    suggested: ['osxkeychain', 'pass', 'secretservice', 'wincred'],
    parse: parseHelper,
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
    parse: duration,
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
  'columns.images': { summary: 'columns of images list', parse: anyText },
  'columns.my-images': { summary: 'columns of my-images', parse: anyText },
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
    summary: 'file for the Prometheus metrics of sync, push and images changes',
    parse: nonEmpty,
  },
  time: {
    summary: 'format of timestamps',
    ...oneOf('wire', 'iso', 'local', 'age'),
  },
  'upload-url': {
    summary: 'storage that push uploads to',
    parse: parseUploadUrl,
    shown: hideUserInfo,
  },
  'upload-username': { summary: 'user name for a WebDAV storage', ...USER_NAME },
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
  'upload-ca-file': {
    summary: 'additional trusted certificates for the storage (PEM)',
    parse: nonEmpty,
  },
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

function parseHelper(text: string, key: string): string {
  const [, name] = /^docker-credential-(.+)$/.exec(text) ?? [];
  if (name === undefined && (/^[\w.-]+$/.test(text) || /[\\/]/.test(text))) return text;
  const hint = name === undefined ? 'use a name such as pass, or a path' : `use ${name}`;
  throw invalid(key, text, hint);
}
