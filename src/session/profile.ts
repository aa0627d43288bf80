// Profiles: named sets of settings in one file, config.json.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { errorReason, readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import type { Io } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { SettingKey, STORED_PASSWORD } from './setting-table.ts';

/** config.json: `{"profile": "<default profile>", "profiles": {"<name>": {"<key>": "<value>"}}}` */
export interface ConfigFile {
  readonly profile: string | undefined;
  readonly profiles: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Other members of the file, written back unchanged. */
  readonly rest: JsonObject;
}

export const EMPTY_CONFIG: ConfigFile = { profile: undefined, profiles: new Map(), rest: {} };

const LOCK_PATIENCE = 20_000;

/** @throws ImgctlError usage: it could be a path, or is too long */
export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return name;
  throw new ImgctlError('usage', `invalid profile name: ${name.slice(0, 80)}`, {
    hint: 'use a letter or digit, then up to 63 letters, digits, - or _',
  });
}

export function configFilePath(directory: string): string {
  const file = path.join(directory, 'config.json');
  try {
    // A link into a collection of dot files stays a link.
    return fs.realpathSync(file);
  } catch {
    return file;
  }
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

export async function changeProfile(
  directory: string | undefined,
  io: Io,
  name: string,
  /** undefined removes a setting. */
  changes: Readonly<Partial<Record<SettingKey | typeof STORED_PASSWORD, string | undefined>>>,
): Promise<void> {
  await changeConfigFile(directory, io, (config) => {
    const settings = new Map(Object.entries(config.profiles.get(name) ?? {}));
    for (const [key, value] of Object.entries(changes)) {
      if (value === undefined) settings.delete(key);
      else settings.set(key, value);
    }
    const profiles = new Map(config.profiles).set(name, Object.fromEntries(settings));
    return { ...config, profiles };
  });
}

export function requireDirectory(directory: string | undefined): string {
  if (directory !== undefined) return directory;
  throw new ImgctlError('config', 'no home directory for the settings', {
    hint: 'set IMGCTL_CONFIG_DIR to a writable directory',
  });
}

/** Reads, changes and writes config.json under a lock. */
export async function changeConfigFile(
  directory: string | undefined,
  io: Io,
  change: (config: ConfigFile) => ConfigFile,
): Promise<void> {
  const file = configFilePath(requireDirectory(directory));
  try {
    await withLock(file, LOCK_PATIENCE, io, async () => {
      const { profile, profiles, rest } = change(readConfigFile(directory));
      const value: JsonObject = {
        ...(profile === undefined ? {} : { profile }),
        profiles: Object.fromEntries(profiles),
        ...rest,
      };
      const create = (staging: string) => storeWithConf(staging, value);
      await writeJsonFile(file, value, io.system, { create });
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
async function storeWithConf(staging: string, value: JsonObject): Promise<void> {
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

function brokenFile(file: string, reason: string): ImgctlError {
  return new ImgctlError('config', `cannot read the settings in ${file}: ${reason}`, {
    hint: 'fix the file or move it elsewhere; imgctl does not overwrite it',
  });
}
