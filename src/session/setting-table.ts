// The settings and their valid values.

import { hideUserInfo, parseBaseUrl } from '../http/url.ts';
import { emptyValue, invalid, nonEmpty } from './checks.ts';
import { parseDuration } from './duration.ts';
import { UPLOAD_SETTINGS } from './upload-settings.ts';

export interface SettingDefinition {
  readonly summary: string;
  readonly env?: string;
  readonly fallback?: string;
  readonly valid?: readonly string[];
  check(text: string): void;
  /** Returns as much of an invalid value as may be shown: it may hold a password. */
  shown?(text: string): string;
}

const oneOf = (what: string, ...valid: string[]) => ({
  valid,
  check(text: string): void {
    if (valid.includes(text)) return;
    throw invalid(what, text, `valid: ${valid.join(', ')}`);
  },
});

const wholeNumber = (what: string, min: number, max: number) => (text: string) => {
  if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return;
  throw invalid(what, text, `use a whole number from ${min} to ${max}`);
};

/** All settings, in the order of `config list`. */
export const SETTINGS = {
  'base-url': {
    summary: 'address of the service',
    env: 'IMGCTL_BASE_URL',
    check: (text) => parseBaseUrl(text, true),
    shown: hideUserInfo,
  },
  username: {
    summary: 'user name for token requests',
    env: 'IMGCTL_USERNAME',
    check: checkUsername,
    shown: beforeColon,
  },
  'password-command': {
    summary: 'command whose first output line is the password',
    env: 'IMGCTL_PASSWORD_COMMAND',
    check: nonEmpty('password-command'),
  },
  output: {
    summary: 'output format',
    env: 'IMGCTL_OUTPUT',
    fallback: 'table',
    ...oneOf('output', 'table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'),
  },
  timeout: {
    summary: 'time limit of each request',
    env: 'IMGCTL_TIMEOUT',
    fallback: '30s',
    check: (text) => parseDuration(text, 'timeout'),
  },
  retries: {
    summary: 'retries for requests that are safe to repeat',
    fallback: '4',
    check: wholeNumber('retries', 0, 100),
  },
  concurrency: {
    summary: 'page requests sent at the same time',
    fallback: '6',
    check: wholeNumber('concurrency', 1, 32),
  },
  'columns.images': { summary: 'columns of images list', check: () => {} },
  'columns.my-images': { summary: 'columns of my-images', check: () => {} },
  'table-style': {
    summary: 'frames around tables on a terminal',
    fallback: 'plain',
    ...oneOf('table-style', 'plain', 'box'),
  },
  'auth-scheme': {
    summary: 'how the token is sent',
    fallback: 'bearer',
    ...oneOf('auth-scheme', 'bearer', 'basic'),
  },
  'allow-http': {
    summary: 'allow plain http to other hosts',
    fallback: 'false',
    ...oneOf('allow-http', 'true', 'false'),
  },
  'ca-file': { summary: 'additional trusted certificates (PEM)', check: nonEmpty('ca-file') },
  time: {
    summary: 'format of timestamps',
    ...oneOf('time', 'wire', 'iso', 'local', 'age'),
  },
  ...UPLOAD_SETTINGS,
} as const satisfies Record<string, SettingDefinition>;

export type SettingKey = keyof typeof SETTINGS;

/** Marks a profile whose password is in the keychain; login and logout write it. */
export const STORED_PASSWORD = 'stored-password';

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(SETTINGS, text);
}

function checkUsername(text: string): void {
  if (text === '') throw emptyValue('username');
  // Basic credentials cannot hold a colon in the user name (RFC 7617).
  if (text.includes(':')) {
    throw invalid('username', beforeColon(text), 'use a user name without a colon');
  }
}

/** Hides the password of a user:password, as other programs take it. */
function beforeColon(text: string): string {
  return text.replace(/:.*/s, ':…');
}
