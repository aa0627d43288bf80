// The settings, their valid values, and where each value comes from.

import { ImgctlError } from '../errors.ts';
import { baseUrlText, hideUserInfo, parseBaseUrl } from '../http/url.ts';
import { emptyValue, invalid, nonEmpty } from './checks.ts';
import type { Account } from './token-files.ts';
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

interface Resolved {
  readonly value: string | undefined;
  /** `--base-url`, `IMGCTL_BASE_URL`, `profile default`, `default`, or empty. */
  readonly origin: string;
}

export type SettingFlags = Readonly<Partial<Record<SettingKey, string | undefined>>>;

export const DEFAULT_PROFILE = 'default';

/** Resolves settings from flag, environment, profile and default, in this order. */
export class Settings {
  readonly profile: string;
  readonly #flags: SettingFlags;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #stored: Readonly<Record<string, string>>;
  /** ` --profile NAME` if a command in a hint needs it for this profile, else empty. */
  readonly profileFlag: string;

  constructor(
    profile: string,
    flags: SettingFlags,
    env: Readonly<Record<string, string | undefined>>,
    stored: Readonly<Record<string, string>>,
    defaultProfile: string = DEFAULT_PROFILE,
  ) {
    this.profile = profile;
    this.#flags = flags;
    this.#env = env;
    this.#stored = stored;
    this.profileFlag = profile === defaultProfile ? '' : ` --profile ${profile}`;
  }

  get loginCommand(): string {
    return `imgctl login${this.profileFlag}`;
  }

  /** @throws ImgctlError usage or config: the value is invalid */
  resolve(key: SettingKey): Resolved {
    const resolved = this.find(key);
    const { value, origin } = resolved;
    if (value === undefined || origin === 'default') return resolved;
    try {
      SETTINGS[key].check(value);
      return resolved;
    } catch (error) {
      if (!(error instanceof ImgctlError) || origin.startsWith('--')) throw error;
      throw error.with({ code: 'config', message: `${error.message} (from ${origin})` });
    }
  }

  find(key: SettingKey): Resolved {
    const definition: SettingDefinition = SETTINGS[key];
    const flag = this.#flags[key];
    if (flag !== undefined) return { value: flag, origin: `--${key}` };
    const variable = definition.env;
    const fromEnv = variable === undefined ? undefined : this.#env[variable];
    if (variable !== undefined && fromEnv) return { value: fromEnv, origin: variable };
    if (Object.hasOwn(this.#stored, key)) {
      return { value: this.#stored[key], origin: `profile ${this.profile}` };
    }
    const { fallback } = definition;
    return { value: fallback, origin: fallback === undefined ? '' : 'default' };
  }

  get hasStoredPassword(): boolean {
    return Object.hasOwn(this.#stored, STORED_PASSWORD);
  }

  /** The owner of the cached files; unset values are empty. Plain http is accepted, because nothing is sent. */
  get account(): Account {
    const text = this.text('base-url');
    return {
      profile: this.profile,
      baseUrl: text === undefined ? '' : baseUrlText(parseBaseUrl(text, true)),
      username: this.text('username') ?? '',
    };
  }

  text(key: SettingKey): string | undefined {
    return this.resolve(key).value;
  }

  duration(key: 'timeout'): number {
    return parseDuration(this.text(key) ?? '', key);
  }

  number(key: 'retries' | 'concurrency'): number {
    return Number(this.text(key));
  }
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

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns milliseconds, at most 24 days, the maximum of a timer. @throws ImgctlError usage */
export function parseDuration(text: string, what: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds < 2 ** 31) return Math.round(milliseconds);
  throw invalid(what, text, 'use a duration such as 500ms, 30s, 5m or 1h');
}

/** For people: `45 s`, `3 min 20 s`, `23 h 59 min`. */
export function describeDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours > 0) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  if (minutes > 0) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  return `${seconds} s`;
}
