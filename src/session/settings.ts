// The settings of a run: the value of each, and where it comes from.

import { ImgctlError } from '../errors.ts';
import { baseUrlText, parseBaseUrl } from '../http/url.ts';
import { placeOfHelper } from './password-store.ts';
import {
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  STORED_PASSWORD,
} from './setting-table.ts';
import { parseDuration } from './setting-values.ts';
import type { Account } from './token-files.ts';

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

  /** Where the last login with --store-password stored the password. */
  get storedAt(): string | undefined {
    return this.#stored[STORED_PASSWORD];
  }

  /** Where passwords of the profile are stored, first the place to read: see openPasswordStore. */
  get passwordPlaces(): string[] {
    const helper = this.text('credential-helper');
    const places = helper === undefined ? [] : [placeOfHelper(helper)];
    const { storedAt } = this;
    return storedAt === undefined || places.includes(storedAt) ? places : [...places, storedAt];
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

  /** Milliseconds to wait for the end of the token request limit. */
  get tokenPatience(): number {
    const text = this.text('wait-for-token');
    return text === undefined ? 0 : parseDuration(text, 'wait-for-token');
  }

  number(key: 'retries' | 'concurrency'): number {
    return Number(this.text(key));
  }
}
