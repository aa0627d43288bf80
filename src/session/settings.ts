// Settings: which there are, what each may be, and where a value comes from.

import { ImgctlError } from '../errors.ts';
import { baseUrlText, hideUserInfo, parseBaseUrl } from '../http/url.ts';
import { parseDuration } from './duration.ts';
import type { Account } from './token-cache.ts';

export interface SettingDefinition {
  readonly summary: string;
  readonly env?: string;
  readonly fallback?: string;
  /** Where only a few words will do. */
  readonly valid?: readonly string[];
  /** @throws ImgctlError for a value that it cannot be */
  check(text: string): void;
  /** As much of a value that it cannot be as may show, where a password may be in it. */
  shown?(text: string): string;
}

const oneOf = (what: string, ...valid: string[]) => ({
  valid,
  check(text: string): void {
    if (!valid.includes(text)) throw invalid(what, text, `valid: ${valid.join(', ')}`);
  },
});

const wholeNumber = (what: string, least: number, most: number) => (text: string) => {
  if (!/^\d{1,9}$/.test(text) || Number(text) < least || Number(text) > most) {
    throw invalid(what, text, `a whole number from ${least} to ${most}`);
  }
};

const anyText = (): void => {};

const someText = (what: string) => (text: string) => {
  if (text === '') throw cannotBeEmpty(what);
};

/** Every setting, in the order in which `config list` shows them. */
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
    check: someText('password-command'),
  },
  output: {
    summary: 'output format',
    env: 'IMGCTL_OUTPUT',
    fallback: 'table',
    ...oneOf('output', 'table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'),
  },
  timeout: {
    summary: 'time for one request',
    env: 'IMGCTL_TIMEOUT',
    fallback: '30s',
    check: (text) => parseDuration(text, 'timeout'),
  },
  retries: {
    summary: 'further tries of a request that is safe to repeat',
    fallback: '4',
    check: wholeNumber('retries', 0, 100),
  },
  concurrency: {
    summary: 'page requests at a time',
    fallback: '6',
    check: wholeNumber('concurrency', 1, 32),
  },
  'columns.images': { summary: 'columns of images list', check: anyText },
  'columns.my-images': { summary: 'columns of my-images', check: anyText },
  'auth-scheme': {
    summary: 'how the token is sent',
    fallback: 'bearer',
    ...oneOf('auth-scheme', 'bearer', 'basic'),
  },
  'allow-http': {
    summary: 'accept plain http beyond this machine',
    fallback: 'false',
    ...oneOf('allow-http', 'true', 'false'),
  },
  'ca-file': { summary: 'further trusted certificates (PEM)', check: someText('ca-file') },
  time: {
    summary: 'how time stamps show',
    ...oneOf('time', 'wire', 'iso', 'local', 'age'),
  },
} as const satisfies Record<string, SettingDefinition>;

export type SettingKey = keyof typeof SETTINGS;

/** Stands beside a profile's settings where the keychain holds its password; login and logout write it. */
export const STORED_PASSWORD = 'stored-password';

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

export function isSettingKey(text: string): text is SettingKey {
  return Object.hasOwn(SETTINGS, text);
}

export interface Resolved {
  readonly value: string | undefined;
  /** For `config list`: `--base-url`, `IMGCTL_BASE_URL`, `profile default`, `default`, or empty. */
  readonly origin: string;
}

/** The flags that stand for settings, by setting. */
export type SettingFlags = Readonly<Partial<Record<SettingKey, string | undefined>>>;

/** The profile where none is chosen. */
export const DEFAULT_PROFILE = 'default';

/** Settings by flag, environment, profile, default, in this order. */
export class Settings {
  readonly profile: string;
  readonly #flags: SettingFlags;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #stored: Readonly<Record<string, string>>;
  /** What a command in a hint needs to reach this profile, with a space before it. */
  readonly profileFlag: string;

  /** `defaultProfile`: the one that a command without --profile takes. */
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

  /** The command that logs in to this profile. */
  get loginCommand(): string {
    return `imgctl login${this.profileFlag}`;
  }

  /** @throws ImgctlError usage or config: the value is not one that the setting can have */
  resolve(key: SettingKey): Resolved {
    const definition: SettingDefinition = SETTINGS[key];
    const resolved = this.find(key);
    if (resolved.value !== undefined && resolved.origin !== 'default') {
      check(definition, resolved);
    }
    return resolved;
  }

  /** The value, whether it can be used or not. */
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

  /** Whether the keychain holds a password of this profile, as far as imgctl knows. */
  get hasStoredPassword(): boolean {
    return Object.hasOwn(this.#stored, STORED_PASSWORD);
  }

  /**
   * Whose files these settings lead to, also at a base URL that no request would be sent to. What is not set
   * is empty.
   * @throws ImgctlError usage or config: a base URL or user name that cannot be
   */
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

  /** Milliseconds of a setting that is a duration. */
  duration(key: 'timeout'): number {
    return parseDuration(this.text(key) ?? '', key);
  }

  number(key: 'retries' | 'concurrency'): number {
    return Number(this.text(key));
  }
}

function check(definition: SettingDefinition, resolved: Resolved): void {
  try {
    definition.check(resolved.value ?? '');
  } catch (error) {
    if (!(error instanceof ImgctlError) || resolved.origin.startsWith('--')) throw error;
    throw new ImgctlError('config', `${error.message} (from ${resolved.origin})`, {
      hint: error.hint,
    });
  }
}

function checkUsername(text: string): void {
  if (text === '') throw cannotBeEmpty('username');
  // Basic credentials cannot hold a colon in the user name (RFC 7617).
  if (!text.includes(':')) return;
  throw invalid('username', beforeColon(text), 'a user name cannot hold a colon');
}

/** Who writes user:password, as for other programs, does not mean to show it. */
function beforeColon(text: string): string {
  return text.replace(/:.*/s, ':…');
}

function cannotBeEmpty(what: string): ImgctlError {
  return new ImgctlError('usage', `${what} cannot be empty`, {
    hint: `give a value; to take one out of the profile: imgctl config unset ${what}`,
  });
}

function invalid(what: string, text: string, hint: string): ImgctlError {
  return new ImgctlError('usage', `${what} cannot be: ${text}`, { hint });
}
