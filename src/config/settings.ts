// The settings of a run: values of options, variables, profile and defaults, with their origin.

import { attempt, tryOr } from '../errors.ts';
import { hint, imgctl } from '../facts.ts';
import { baseUrlText, maskUrl } from '../http/url.ts';
import type { Io } from '../io.ts';
import { type ConfigFile, DEFAULT_PROFILE, serviceOf, type Texts } from './config-file.ts';
import {
  isOfService,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  type SettingValue,
  STORED_PASSWORD,
  variableOf,
} from './definitions.ts';
import { checkName, parseGiven } from './values.ts';

/** A setting that an option or a prompt gives. */
export class Given {
  readonly text: string;
  readonly value: unknown;
  /** Such as `--base-url`. */
  readonly origin: string;

  constructor(text: string, value: unknown, origin: string) {
    this.text = text;
    this.value = value;
    this.origin = origin;
  }
}

type Profiles = Pick<ConfigFile, 'profile' | 'profiles' | 'isHomeless'>;

export type GivenSettings = ReadonlyMap<SettingKey, Given>;

/** The owner of a token and of what else is cached; unset settings are empty. */
export interface Account {
  readonly profile: string;
  readonly baseUrl: string;
  readonly username: string;
}

/**
 * Settles the settings of a run.
 * @param profile the option --profile. @param given what options give
 * @throws ImgctlError usage: no name of a profile
 */
export function settle(
  config: Profiles,
  env: Io['env'],
  profile?: string,
  given?: GivenSettings,
): Settings {
  const { name, origin, fix } = chooseProfile(config, env, profile);
  const { error } = attempt(() => checkName(name, 'profile'));
  if (!error) return new Settings(config, name, env, given);
  const message = origin === '--profile' ? error.message : `${error.message} (from ${origin})`;
  throw error.with({ message, facts: fix ?? error.facts });
}

/** Returns the name of the profile, and what to do if it is invalid. */
function chooseProfile({ profile: usual }: Profiles, env: Io['env'], profile?: string) {
  if (profile !== undefined) return { name: profile, origin: '--profile' };
  const { IMGCTL_PROFILE } = env;
  if (IMGCTL_PROFILE) return { name: IMGCTL_PROFILE, origin: 'IMGCTL_PROFILE' };
  const fix = hint`select another one: ${imgctl('profile', 'use', 'NAME')}`;
  return { name: usual ?? DEFAULT_PROFILE, origin: 'config.json', fix };
}

/**
 * Returns the settings that a profile stores; ~/ is the home of the user.
 * @param variables of the run that count too
 */
export function storedSettings(
  config: Profiles,
  profile: string,
  { HOME, USERPROFILE }: Io['env'],
  variables: Texts = {},
): Settings {
  return new Settings(config, profile, { HOME, USERPROFILE, ...variables });
}

export interface FoundText {
  readonly layer: 'option' | 'variable' | 'profile' | 'default';
  readonly text: string | undefined;
  readonly origin: string;
}

/** Settings that nobody changes. An invalid one only throws when it is needed. */
export class Settings {
  readonly config: Profiles;
  readonly profile: string;
  /** What options and prompts give. */
  readonly given: GivenSettings;
  readonly #env: Texts;
  readonly #stored: Texts;
  readonly #values = new Map<SettingKey, unknown>();

  constructor(config: Profiles, profile: string, env: Texts, given: GivenSettings = new Map()) {
    this.config = config;
    this.profile = profile;
    this.given = given;
    this.#env = env;
    this.#stored = config.profiles.get(profile) ?? {};
    Object.freeze(this);
  }

  /**
   * The base URL of the profile, if this run uses another service. Then the profile's settings that
   * are only for its service are not used: `isOfService`.
   */
  get replacedUrl(): string | undefined {
    const own = serviceOf(this.#stored);
    const { text } = this.find('base-url');
    const isOwn = own === undefined || text === undefined || addressOf(text) === addressOf(own);
    return isOwn ? undefined : shownAddress(own);
  }

  /** The profile of the service of this run; if it has none, a name for a new one. */
  get serviceProfile(): { readonly name: string; readonly isNew: boolean } {
    if (this.replacedUrl === undefined) return { name: this.profile, isNew: false };
    const { profiles } = this.config;
    const address = addressOf(this.find('base-url').text);
    const known = [...profiles].find(([, texts]) => addressOf(texts['base-url']) === address);
    return { name: known?.[0] ?? nameFor(address, profiles), isNew: known === undefined };
  }

  /** The mark of the last login with --store-password: see stored-password.ts. */
  get storedAt(): string | undefined {
    return this.#ownText(STORED_PASSWORD);
  }

  /** Returns what the profile has, unless it is for another service. base-url is for none. */
  #ownText(key: string): string | undefined {
    const isOthers = isOfService(key) && this.replacedUrl !== undefined;
    return isOthers ? undefined : this.#stored[key];
  }

  /** True if commands without --profile use this profile, with and without IMGCTL_PROFILE. */
  isUsual(name: string): boolean {
    const { profile: usual = DEFAULT_PROFILE } = this.config;
    return name === usual && name === (this.#env.IMGCTL_PROFILE || usual);
  }

  /** True if other profiles exist, but not this one. The default profile may be empty. */
  get isUnknown(): boolean {
    const { profiles } = this.config;
    return this.profile !== DEFAULT_PROFILE && profiles.size > 0 && !profiles.has(this.profile);
  }

  /** The first profile with an address, if the run names none. */
  get otherProfile(): string | undefined {
    if (!this.isUsual(this.profile)) return undefined;
    return [...this.config.profiles].find(([, stored]) => stored['base-url'] !== undefined)?.[0];
  }

  /** Returns the value. @throws ImgctlError usage or config: it is invalid */
  get<Key extends SettingKey>(key: Key): SettingValue<Key> {
    if (!this.#values.has(key)) this.#values.set(key, this.#read(key));
    return this.#values.get(key) as SettingValue<Key>;
  }

  #read(key: SettingKey): unknown {
    const { text, layer, origin } = this.find(key);
    if (layer === 'option') return this.given.get(key)?.value;
    if (text === undefined) return undefined;
    const { value, error } = attempt(() => parseGiven(SETTINGS[key].value, text, key, this.#env));
    if (!error) return value;
    throw error.with({ code: 'config', message: `${error.message} (from ${origin})` });
  }

  /**
   * Returns the settings with other values.
   * @param originOf returns their origin for messages, such as the option of the same meaning
   * @throws ImgctlError usage or config: one is invalid
   */
  with(
    texts: Partial<Record<SettingKey, string | undefined>>,
    originOf: (key: SettingKey) => string = String,
  ): Settings {
    const given = new Map(this.given);
    for (const [key, text] of Object.entries(texts) as [SettingKey, string | undefined][]) {
      if (text === undefined) continue;
      const origin = originOf(key);
      const value = parseGiven(SETTINGS[key].value, text, origin, this.#env);
      given.set(key, new Given(text, value, origin));
    }
    return new Settings(this.config, this.profile, this.#env, given);
  }

  /**
   * Returns the text of a valid value: a base URL with its scheme, a word in its usual case.
   * @throws ImgctlError usage or config: it is invalid
   */
  text(key: SettingKey): string | undefined {
    const value = this.get(key);
    if (value instanceof URL) return baseUrlText(value);
    return typeof value === 'string' || typeof value === 'boolean'
      ? `${value}`
      : this.find(key).text;
  }

  /**
   * Returns the unchecked text of option (or prompt), variable, profile or default, in this order,
   * and its origin: `--base-url`, `IMGCTL_BASE_URL`, `profile default`, `default`; empty for none.
   */
  find(key: SettingKey): FoundText {
    const option = this.given.get(key);
    if (option === undefined) return this.findUngiven(key);
    return { layer: 'option', text: option.text, origin: option.origin };
  }

  /** Returns what `find` would return without options and prompts. */
  findUngiven(key: SettingKey): FoundText {
    const variable = variableOf(key);
    const text = this.#env[variable];
    if (text) return { layer: 'variable', text, origin: variable };
    const stored = this.#ownText(key);
    if (stored !== undefined) {
      return { layer: 'profile', text: stored, origin: `profile ${this.profile}` };
    }
    const { fallback }: SettingDefinition = SETTINGS[key];
    return { layer: 'default', text: fallback, origin: fallback === undefined ? '' : 'default' };
  }

  /** The owner of the cached files. Plain http is accepted, because nothing is sent. */
  get account(): Account {
    const url = this.get('base-url');
    const username = this.get('username') ?? '';
    return { profile: this.profile, baseUrl: url === undefined ? '' : baseUrlText(url), username };
  }
}

/** Returns a name for a new profile of the service. */
function nameFor(address: string, profiles: Profiles['profiles']): string {
  const words = tryOr(() => new URL(address).host, '').match(/[A-Za-z0-9]+/g) ?? ['other'];
  const base = words.join('-').slice(0, 60);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!profiles.has(name) && name !== DEFAULT_PROFILE) return name;
  }
}

/** Returns a base URL in its normal form, to compare it; one that is invalid as it is. */
export function addressOf(text = ''): string {
  return tryOr(() => baseUrlText(SETTINGS['base-url'].value.parse(text)), text);
}

/** Returns a base URL for messages: an invalid one may hold a password. */
export function shownAddress(text = ''): string {
  return maskUrl(addressOf(text));
}

/**
 * Returns the text of a setting as config.json holds it.
 * @throws ImgctlError usage: a file that later commands would not find
 */
export function storedText(settings: Settings, key: SettingKey, cwd: string): string | undefined {
  const { value }: SettingDefinition = SETTINGS[key];
  return value.stored?.(settings.get(key), key, cwd) ?? settings.text(key);
}
