// The settings of a run: what config.json holds and how it is changed, and the value of each setting with its origin.

import fs, { type Stats } from 'node:fs';
import path from 'node:path';
import { attempt, errorReason, ImgctlError, permissionHint } from '../errors.ts';
import { parseObject, readOwnFile, writeJsonFile } from '../files/atomic-file.ts';
import { withMutex } from '../files/mutex.ts';
import { type Paths, SET_HOME } from '../files/paths.ts';
import { followLinks } from '../files/user-file.ts';
import { baseUrlText } from '../http/url.ts';
import type { Io } from '../io.ts';
import { isObject, type JsonObject, parseLossless } from '../json.ts';
import { shellQuote } from '../words.ts';
import {
  absoluteUploadUrl,
  isSettingKey,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  type SettingValue,
  STORED_PASSWORD,
} from './definitions.ts';
import { parseGiven, type Value } from './values.ts';

/** config.json: `{"profile": "<default profile>", "profiles": {"<name>": {"<key>": "<value>"}}}` */
export interface ConfigFile {
  readonly profile: string | undefined;
  readonly profiles: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Other members of the file, written back unchanged. */
  readonly rest: JsonObject;
  readonly isHomeless?: boolean;
}

const CONFIG_FILE = 'config.json';

export function configFilePath(directory: string): string {
  // A link into a collection of dot files stays a link.
  return followLinks(path.join(directory, CONFIG_FILE));
}

/** @throws ImgctlError config: the file is unreadable, invalid or not trusted */
export function readConfigFile(directory: string | undefined, io: Trust): ConfigFile {
  if (directory === undefined) return { ...checkConfig({}), isHomeless: true };
  const file = configFilePath(directory);
  try {
    const check = (stat: Stats) => checkTrust(directory, stat, io);
    const text = readOwnFile(file, check, io.system.uid);
    return checkConfig(text === undefined ? {} : parseUnique(text));
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    const message = `cannot read the settings in ${file}: ${errorReason(error)}`;
    throw new ImgctlError('config', message, {
      hint:
        permissionHint(error, file) ??
        'fix the file or move it elsewhere; imgctl does not overwrite it',
    });
  }
}

/** @throws an error with the reason, also if a key stands twice: one of the two would be lost */
function parseUnique(text: string): JsonObject {
  const value = parseObject(text);
  parseLossless(text, (key) => {
    throw new Error(`it has ${key} twice`);
  });
  return value;
}

type Trust = Pick<Io, 'env' | 'system'>;

/**
 * Settings name commands to run, so those that another user can change are not used: sudo may keep HOME. Whoever sets
 * IMGCTL_CONFIG_DIR trusts that folder, such as a volume of a container. Windows has neither owners nor modes.
 * @throws ImgctlError config
 */
export function checkTrust(directory: string, stat: Stats, { env, system }: Trust): void {
  if (env.IMGCTL_CONFIG_DIR || system.uid === undefined) return;
  const file = path.join(directory, CONFIG_FILE);
  const checked = new Map([[file, stat]]);
  // Who can change its folder, or that of the file behind a link, can replace it.
  for (const folder of [directory, path.dirname(configFilePath(directory))]) {
    checked.set(folder, fs.statSync(folder));
  }
  for (const [name, { uid, mode }] of checked) {
    if (uid !== system.uid && uid !== 0) {
      throw new ImgctlError('config', `${name} belongs to another user`, {
        hint: `to trust it, set IMGCTL_CONFIG_DIR to ${directory}; for your own settings, run: sudo -H imgctl …`,
      });
    }
    if ((mode & 0o002) === 0) continue;
    throw new ImgctlError('config', `every user can change ${name}`, {
      hint: `check ${file}, then run: chmod o-w ${shellQuote(name)}`,
    });
  }
}

function checkConfig({ profile, profiles = {}, ...rest }: JsonObject): ConfigFile {
  if (profile !== undefined && typeof profile !== 'string') {
    throw new Error('profile is not a string');
  }
  if (!isObject(profiles)) throw new Error('profiles is not an object');
  const stray = Object.keys(rest).find(meantSetting);
  if (stray !== undefined) {
    throw new Error(`${stray} belongs in profiles.${DEFAULT_PROFILE} as ${meantSetting(stray)}`);
  }
  for (const [name, settings] of Object.entries(profiles)) {
    if (!isObject(settings)) throw new Error(`profiles.${name} is not an object`);
    const wrong = Object.keys(settings).find((key) => typeof settings[key] !== 'string');
    if (wrong !== undefined) throw new Error(`profiles.${name}.${wrong} is not a string`);
    const alias = Object.keys(settings).find((key) => !isSettingKey(key) && meantSetting(key));
    if (alias === undefined) continue;
    throw new Error(`profiles.${name}.${alias} is not a setting; use ${meantSetting(alias)}`);
  }
  const checked = profiles as Record<string, Record<string, string>>;
  return { profile, profiles: new Map(Object.entries(checked)), rest };
}

/** Returns the setting of that name but for case, - and _; no later version has another one. */
function meantSetting(name: string): SettingKey | undefined {
  const fold = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  return SETTING_KEYS.find((key) => fold(key) === fold(name));
}

const MUTEX_PATIENCE = 20_000;

interface Run {
  readonly io: Io;
  readonly paths: Pick<Paths, 'config'>;
}

export async function changeProfile(run: Run, name: string, changes: Texts): Promise<void> {
  await changeConfigFile(run, (config) => {
    const settings = Object.entries({ ...config.profiles.get(name), ...changes });
    const set = settings.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
    const profiles = new Map(config.profiles).set(name, Object.fromEntries(set));
    return { ...config, profiles };
  });
}

export function requireDirectory(directory: string | undefined): string {
  if (directory !== undefined) return directory;
  throw new ImgctlError('config', 'no home directory for the settings', { hint: SET_HOME });
}

export async function changeConfigFile(
  { io, paths }: Run,
  change: (config: ConfigFile) => ConfigFile,
): Promise<void> {
  const directory = requireDirectory(paths.config);
  const file = configFilePath(directory);
  try {
    await withMutex(file, MUTEX_PATIENCE, io, async (assertHeld) => {
      const { profile, profiles, rest } = change(readConfigFile(directory, io));
      const value: JsonObject = { profile, profiles: Object.fromEntries(profiles), ...rest };
      const create = (staging: string) => writeWithConf(staging, value);
      await writeJsonFile(file, value, { create, assertHeld, keepsOwner: true });
    });
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    throw new ImgctlError('config', `cannot write ${file}: ${errorReason(error)}`, {
      hint: 'check disk space and permissions, or set IMGCTL_CONFIG_DIR; nothing was changed',
      cause: error,
    });
  }
}

/** conf ignores short writes, and writes in place under SNAP: it only gets the staging file. */
async function writeWithConf(staging: string, value: JsonObject): Promise<void> {
  const { default: Conf } = await import('conf');
  const conf = new Conf<JsonObject>({
    cwd: path.dirname(staging),
    configName: path.basename(staging),
    fileExtension: '',
    configFileMode: 0o600,
    serialize: (settings) => `${JSON.stringify(settings, undefined, '\t')}\n`,
  });
  conf.store = value;
}

/** A value of an option or a prompt. */
export interface Override {
  readonly text: string;
  readonly value: unknown;
  /** Such as `--base-url`. */
  readonly origin: string;
}

type Overrides = ReadonlyMap<SettingKey, Override>;

export const DEFAULT_PROFILE = 'default';

/** True if other profiles exist, but not this one. The default profile needs no settings of its own. */
export function isUnknown(profile: string, { profiles }: Profiles): boolean {
  return profile !== DEFAULT_PROFILE && profiles.size > 0 && !profiles.has(profile);
}

type Texts = Readonly<Record<string, string | undefined>>;

type Profiles = Pick<ConfigFile, 'profile' | 'profiles' | 'isHomeless'>;

/** Returns a text as the settings store it: later commands may run in another directory. */
export function storedText(settings: Settings, key: SettingKey, text: string, cwd: string): string {
  const target = key === 'upload-url' ? settings.get(key) : undefined;
  if (target) return absoluteUploadUrl(target, text, cwd);
  const { from }: Value = SETTINGS[key].value;
  const isPath = from === 'files' || (key === 'credential-helper' && /[\\/]/.test(text));
  return isPath ? path.resolve(cwd, text) : text;
}

/** The owner of a token and of what else is cached; unset settings are empty. */
export interface Account {
  readonly profile: string;
  readonly baseUrl: string;
  readonly username: string;
}

/** The settings of a run. An invalid one throws when it is needed, and does not matter otherwise. */
export class Settings {
  readonly profile: string;
  /** ` --profile NAME` if a command in a hint needs it for this profile, else empty. */
  readonly profileFlag: string;
  /** The same, with --base-url if the command would use another service. */
  readonly serviceFlags: string;
  readonly loginCommand: string;
  /** Where the last login with --store-password stored the password. */
  readonly storedAt: string | undefined;
  readonly isHomeless: boolean;
  readonly #config: Profiles;
  readonly #env: Texts;
  readonly #overrides: Overrides;
  readonly #stored: Texts;
  readonly #values = new Map<SettingKey, unknown>();

  /** Without environment and overrides these are the settings that the profile stores. */
  constructor(
    config: Profiles,
    profile: string,
    env: Texts = {},
    overrides: Overrides = new Map(),
  ) {
    const { profile: usual = DEFAULT_PROFILE, profiles } = config;
    this.profile = profile;
    this.profileFlag = profile === usual ? '' : ` --profile ${profile}`;
    this.isHomeless = config.isHomeless === true;
    this.#config = config;
    this.#overrides = overrides;
    this.#env = env;
    this.#stored = profiles.get(profile) ?? {};
    this.storedAt = this.#stored[STORED_PASSWORD];
    const { text } = this.find('base-url');
    const isUsual = text === this.find('base-url', new Map()).text;
    this.serviceFlags = `${this.profileFlag}${isUsual ? '' : ` --base-url ${text}`}`;
    this.loginCommand = `imgctl login${this.serviceFlags}`;
  }

  /** The first profile with an address, if the default one has nothing stored. */
  get otherProfile(): string | undefined {
    const { profiles } = this.#config;
    if (this.profileFlag !== '' || profiles.has(this.profile)) return undefined;
    return [...profiles].find(([, stored]) => stored['base-url'] !== undefined)?.[0];
  }

  /** Returns the value. @throws ImgctlError usage or config: it is invalid */
  get<Key extends SettingKey>(key: Key): SettingValue<Key> {
    if (!this.#values.has(key)) this.#values.set(key, this.#read(key));
    return this.#values.get(key) as SettingValue<Key>;
  }

  #read(key: SettingKey): unknown {
    const { text, layer, origin } = this.find(key);
    if (layer === 'override') return this.#overrides.get(key)?.value;
    if (text === undefined) return undefined;
    const { value, error } = attempt(() => parseGiven(SETTINGS[key].value, text, key, this.#env));
    if (!error) return value;
    // A defect is no invalid value.
    if (error.code === 'failed') throw error;
    throw error.with({ code: 'config', message: `${error.message} (from ${origin})` });
  }

  /** Returns the settings with other values. @throws ImgctlError usage or config: one is invalid */
  with(texts: Partial<Record<SettingKey, string | undefined>>): Settings {
    const overrides = new Map(this.#overrides);
    for (const [key, text] of Object.entries(texts) as [SettingKey, string | undefined][]) {
      if (text === undefined) continue;
      const value = parseGiven(SETTINGS[key].value, text, key, this.#env);
      overrides.set(key, { text, value, origin: key });
    }
    return new Settings(this.#config, this.profile, this.#env, overrides);
  }

  /** Returns the text of a valid value, a base URL with its scheme. @throws ImgctlError usage or config: it is invalid */
  text(key: SettingKey): string | undefined {
    const value = this.get(key);
    if (value instanceof URL) return baseUrlText(value);
    return typeof value === 'string' ? value : this.find(key).text;
  }

  /**
   * Returns the text, unchecked, of the first of override, environment, profile and default that has one, and its origin
   * for people: `--base-url`, `IMGCTL_BASE_URL`, `profile default`, `default`; empty without a text.
   */
  find(key: SettingKey, overrides = this.#overrides) {
    const { env: variable = '', fallback }: SettingDefinition = SETTINGS[key];
    const found = (
      layer: 'override' | 'environment' | 'profile' | 'default',
      text: string | undefined,
      origin: string,
    ) => ({ layer, text, origin });
    const override = overrides.get(key);
    if (override) return found('override', override.text, override.origin);
    if (this.#env[variable]) return found('environment', this.#env[variable], variable);
    if (Object.hasOwn(this.#stored, key)) {
      return found('profile', this.#stored[key], `profile ${this.profile}`);
    }
    return found('default', fallback, fallback === undefined ? '' : 'default');
  }

  /** Where `login --store-password` stores the password: `keychain`, or `helper:NAME`. */
  get passwordLocation(): string {
    const helper = this.get('credential-helper');
    return helper === undefined ? 'keychain' : `helper:${helper}`;
  }

  /** Where passwords of the profile may be, first the location to read. */
  get passwordLocations(): string[] {
    const configured = this.get('credential-helper') && this.passwordLocation;
    return [...new Set([configured, this.storedAt])].filter((location) => location !== undefined);
  }

  /** The owner of the cached files; unset values are empty. Plain http is accepted, because nothing is sent. */
  get account(): Account {
    const url = this.get('base-url');
    const username = this.get('username') ?? '';
    return { profile: this.profile, baseUrl: url === undefined ? '' : baseUrlText(url), username };
  }
}
