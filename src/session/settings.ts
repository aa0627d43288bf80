// The settings of a run: what config.json holds, and the value of each setting with its origin.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { readJsonFile } from '../files/atomic-file.ts';
import { followLinks } from '../files/user-file.ts';
import { baseUrlText, parseBaseUrl } from '../http/url.ts';
import { isObject, type JsonObject } from '../json.ts';
import { placeOfHelper } from './password-store.ts';
import {
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  STORED_PASSWORD,
} from './setting-table.ts';
import { parseDuration } from './setting-values.ts';
import type { Account } from './token-store.ts';

/** config.json: `{"profile": "<default profile>", "profiles": {"<name>": {"<key>": "<value>"}}}` */
export interface ConfigFile {
  readonly profile: string | undefined;
  readonly profiles: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Other members of the file, written back unchanged. */
  readonly rest: JsonObject;
}

export const EMPTY_CONFIG: ConfigFile = { profile: undefined, profiles: new Map(), rest: {} };

/** @throws ImgctlError usage: it could be a path, or is too long */
export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return name;
  throw new ImgctlError('usage', `invalid profile name: ${name.slice(0, 80)}`, {
    hint: 'use a letter or digit, then up to 63 letters, digits, - or _',
  });
}

export function configFilePath(directory: string): string {
  // A link into a collection of dot files stays a link.
  return followLinks(path.join(directory, 'config.json'));
}

/** @throws ImgctlError config: the file is unreadable or invalid */
export function readConfigFile(directory: string | undefined): ConfigFile {
  if (directory === undefined) return EMPTY_CONFIG;
  const file = configFilePath(directory);
  const result = readJsonFile(file);
  if (result.state === 'absent') return EMPTY_CONFIG;
  if (result.state === 'broken') throw brokenFile(file, result.reason);
  const { profile, profiles = {}, ...rest } = result.value;
  if (profile !== undefined && typeof profile !== 'string')
    throw brokenFile(file, 'profile is not a string');
  if (!isObject(profiles)) throw brokenFile(file, 'profiles is not an object');
  const read = new Map<string, Record<string, string>>();
  for (const [name, settings] of Object.entries(profiles)) {
    if (!isObject(settings)) throw brokenFile(file, `profiles.${name} is not an object`);
    for (const [key, value] of Object.entries(settings)) {
      if (typeof value !== 'string')
        throw brokenFile(file, `profiles.${name}.${key} is not a string`);
    }
    read.set(name, settings as Record<string, string>);
  }
  return { profile, profiles: read, rest };
}

function brokenFile(file: string, reason: string): ImgctlError {
  return new ImgctlError('config', `cannot read the settings in ${file}: ${reason}`, {
    hint: 'fix the file or move it elsewhere; imgctl does not overwrite it',
  });
}

interface Resolved {
  readonly value: string | undefined;
  readonly source: 'flag' | 'environment' | 'profile' | 'default';
  /** The source for people: `--base-url`, `IMGCTL_BASE_URL`, `profile default`, `default`; empty without a value. */
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

  /** With --base-url if a plain login would use another one. */
  get loginCommand(): string {
    const { value } = this.find('base-url');
    const isUsual = value === this.find('base-url', {}).value;
    return `imgctl login${this.profileFlag}${isUsual ? '' : ` --base-url ${value}`}`;
  }

  /** @throws ImgctlError usage or config: the value is invalid */
  resolve(key: SettingKey): Resolved {
    const resolved = this.find(key);
    const { value, source, origin } = resolved;
    if (value === undefined || source === 'default') return resolved;
    try {
      SETTINGS[key].check(value);
      return resolved;
    } catch (error) {
      if (!(error instanceof ImgctlError) || source === 'flag') throw error;
      throw error.with({ code: 'config', message: `${error.message} (from ${origin})` });
    }
  }

  /** Does not check the value. */
  find(key: SettingKey, flags: SettingFlags = this.#flags): Resolved {
    const definition: SettingDefinition = SETTINGS[key];
    const flag = flags[key];
    if (flag !== undefined) return { value: flag, source: 'flag', origin: `--${key}` };
    const variable = definition.env;
    const fromEnv = variable === undefined ? undefined : this.#env[variable];
    if (variable !== undefined && fromEnv) {
      return { value: fromEnv, source: 'environment', origin: variable };
    }
    if (Object.hasOwn(this.#stored, key)) {
      const origin = `profile ${this.profile}`;
      return { value: this.#stored[key], source: 'profile', origin };
    }
    const { fallback } = definition;
    const origin = fallback === undefined ? '' : 'default';
    return { value: fallback, source: 'default', origin };
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

/** Returns the settings that a profile stores, without flags. */
export function storedSettings(
  { profile: defaultProfile, profiles }: ConfigFile,
  profile: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Settings {
  return new Settings(profile, {}, env, profiles.get(profile) ?? {}, defaultProfile);
}
