// What config.json holds, whether it can be trusted, and how it is changed.

import fs, { type Stats } from 'node:fs';
import path from 'node:path';
import { errorCode, errorReason, ImgctlError, permissionAdvice, tryOr } from '../errors.ts';
import { readJsonFile, replaceFile } from '../files/atomic-file.ts';
import { holdMutex, withMutex } from '../files/mutex.ts';
import { followLinks } from '../files/user-file.ts';
import type { Io } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';
import { shellQuote } from '../words.ts';
import { FORMER_URL, isOfService, SETTING_KEYS, SETTINGS } from './definitions.ts';
import { findPaths } from './paths.ts';

export const DEFAULT_PROFILE = 'default';

export type Texts = Readonly<Record<string, string | undefined>>;

/** config.json: `{"profile": "<default profile>", "profiles": {"<name>": {"<key>": "<value>"}}}` */
export interface ConfigFile {
  /** The default profile. */
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

export const NO_CONFIG: ConfigFile = { profile: undefined, profiles: new Map(), rest: {} };

/** @throws ImgctlError config: the file is unreadable, invalid or not trusted */
export function readConfigFile(directory: string | undefined, io: Trust): ConfigFile {
  if (directory === undefined) return { ...NO_CONFIG, isHomeless: true };
  const file = configFilePath(directory);
  try {
    const check = (stat: Stats) => checkTrust(directory, stat, io);
    return checkConfig(readJsonFile(file, check, io.system.uid) ?? {});
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    const message = `cannot read the settings in ${file}: ${errorReason(error)}`;
    throw new ImgctlError('config', message, {
      facts:
        permissionAdvice(error, file) ??
        'fix the file or move it elsewhere; imgctl does not overwrite it',
    });
  }
}

type Trust = Pick<Io, 'env' | 'system'>;

/**
 * Settings name commands to run, so those that another user can change are not used: sudo may keep
 * HOME. A group is trusted: many systems give each user a group, which may change the user's files.
 * Whoever sets IMGCTL_CONFIG_DIR trusts that folder, such as a volume of a container. Windows has
 * neither owners nor modes.
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
        facts: `to trust it, set IMGCTL_CONFIG_DIR to ${directory}; for your own settings, run: sudo -H imgctl …`,
      });
    }
    if ((mode & 0o002) === 0) continue;
    const facts = `check ${file}, then run: chmod o-w ${shellQuote(name)}`;
    throw new ImgctlError('config', `every user can change ${name}`, { facts });
  }
}

function checkConfig({ profile, profiles = {}, ...rest }: JsonObject): ConfigFile {
  if (profile !== undefined && typeof profile !== 'string') {
    throw new Error('profile is not a string');
  }
  if (!isObject(profiles)) throw new Error('profiles is not an object');
  for (const key of Object.keys(rest)) {
    const member = meantName(key, ['profile', 'profiles']);
    if (member) throw new Error(`${key} is unknown; use ${member}`);
    const meant = meantName(key, SETTING_KEYS);
    if (meant) throw new Error(`${key} belongs in profiles.${DEFAULT_PROFILE} as ${meant}`);
  }
  for (const [name, settings] of Object.entries(profiles)) {
    if (!isObject(settings)) throw new Error(`profiles.${name} is not an object`);
    for (const [key, value] of Object.entries(settings)) {
      const place = `profiles.${name}.${key}`;
      if (typeof value !== 'string') throw new Error(`${place} is not a string`);
      const meant = meantName(key, SETTING_KEYS) ?? key;
      if (meant !== key) throw new Error(`${place} is not a setting; use ${meant}`);
    }
  }
  const checked = profiles as Record<string, Record<string, string>>;
  return { profile, profiles: new Map(Object.entries(checked)), rest };
}

/** Returns the one of this name but for case, -, _ and dots: no later version adds such one. */
function meantName(name: string, valid: readonly string[]): string | undefined {
  const fold = (text: string) => text.toLowerCase().replaceAll(/[-_.]/g, '');
  return valid.find((each) => fold(each) === fold(name));
}

/** Returns the base URL of the service that a profile belongs to, if any. */
export function serviceOf(texts: Texts): string | undefined {
  return texts['base-url'] ?? texts[FORMER_URL];
}

/** A profile whose base URL is removed keeps its service, if any: no other may get its password. */
function withService(changed: Texts, stored: Texts): Texts {
  const { [FORMER_URL]: kept, ...texts } = changed;
  const former = stored['base-url'] ?? kept ?? '';
  const isBound = Object.keys(texts).some((key) => texts[key] && isOfService(key));
  if (!isBound || texts['base-url'] !== undefined || !isBaseUrl(former)) return texts;
  return { ...texts, [FORMER_URL]: former };
}

function isBaseUrl(text: string): boolean {
  return tryOr(() => SETTINGS['base-url'].value.parse(text), undefined) !== undefined;
}

const MUTEX_PATIENCE = 20_000;

/** @param changes what to set, or remove if undefined; or a function of what is stored */
export async function changeProfile(
  io: Io,
  name: string,
  changes: Texts | ((stored: Texts) => Texts),
): Promise<void> {
  await changeConfigFile(io, (config) => {
    const stored = config.profiles.get(name) ?? {};
    const changed = typeof changes === 'function' ? changes(stored) : changes;
    const settings = Object.entries(withService({ ...stored, ...changed }, stored));
    const set = settings.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
    // Nothing that removes settings creates a profile, such as one that was deleted meanwhile.
    if (set.length === 0 && !config.profiles.has(name)) return config;
    const profiles = new Map(config.profiles).set(name, Object.fromEntries(set));
    return { ...config, profiles };
  });
}

export function requireDirectory(directory: string | undefined): string {
  if (directory !== undefined) return directory;
  const message = 'no home directory for the settings';
  throw new ImgctlError('config', message, { facts: { kind: 'no-home' } });
}

function textOf({ profile, profiles, rest }: ConfigFile): string {
  const value = { profile, profiles: Object.fromEntries(profiles), ...rest };
  return `${JSON.stringify(value, undefined, '\t')}\n`;
}

/** @param change is called again if it changes something */
export async function changeConfigFile(
  io: Io,
  change: (config: ConfigFile) => ConfigFile,
): Promise<void> {
  const directory = requireDirectory(findPaths(io).config);
  const file = configFilePath(directory);
  // What changes nothing needs no file that can be written.
  const known = readConfigFile(directory, io);
  if (textOf(change(known)) === textOf(known)) return;
  try {
    await withMutex(holdMutex(file, MUTEX_PATIENCE, io), async (assertHeld) => {
      const text = textOf(change(readConfigFile(directory, io)));
      const create = (staging: string) => writeWithConf(staging, text);
      await replaceFile(file, text, { create, assertHeld, keepsOwner: true });
    });
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    // Only the system knows codes; the rest is a file or a lock of another program.
    const fix =
      errorCode(error) === ''
        ? 'move it elsewhere'
        : 'check disk space and permissions, or set IMGCTL_CONFIG_DIR';
    throw new ImgctlError('config', `cannot write ${file}: ${errorReason(error)}`, {
      facts: `${fix}; the settings are unchanged`,
      cause: error,
    });
  }
}

/** conf ignores short writes, and writes in place under SNAP: it only gets the staging file. */
async function writeWithConf(staging: string, text: string): Promise<void> {
  const { default: Conf } = await import('conf');
  const conf = new Conf<JsonObject>({
    cwd: path.dirname(staging),
    configName: path.basename(staging),
    fileExtension: '',
    configFileMode: 0o600,
    serialize: () => text,
  });
  conf.store = JSON.parse(text);
}
