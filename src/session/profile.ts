// Profiles: named sets of settings in one file, config.json.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { readJsonFile, writeJsonFile } from '../files/json-file.ts';
import { withLock } from '../files/lock.ts';
import type { Io } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { SettingKey, STORED_PASSWORD } from './settings.ts';

/** config.json: `{"profile": "<default one>", "profiles": {"<name>": {"<key>": "<value>"}}}` */
export interface ConfigFile {
  readonly profile: string | undefined;
  readonly profiles: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** What else stands in the file; kept as it is. */
  readonly rest: JsonObject;
}

export const EMPTY_CONFIG: ConfigFile = { profile: undefined, profiles: new Map(), rest: {} };

const LOCK_PATIENCE = 20_000;

/** @throws ImgctlError usage: a name that could be a path, or is too long */
export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return name;
  throw new ImgctlError('usage', `not a profile name: ${name.slice(0, 80)}`, {
    hint: 'a letter or digit, then up to 63 letters, digits, - or _',
  });
}

export function configFilePath(directory: string): string {
  const file = path.join(directory, 'config.json');
  try {
    // Settings may well be a link into somebody's collection of dot files; it is kept.
    return fs.realpathSync(file);
  } catch {
    return file;
  }
}

/** @throws ImgctlError config: a file that cannot be read, with its place; it is left as it is */
export function readConfigFile(directory: string | undefined): ConfigFile {
  if (directory === undefined) return EMPTY_CONFIG;
  const file = configFilePath(directory);
  const result = readJsonFile(file);
  if (result.state === 'absent') return EMPTY_CONFIG;
  if (result.state === 'broken') throw brokenFile(file, result.reason);
  const { profile, profiles = {}, ...rest } = result.value;
  if (profile !== undefined && typeof profile !== 'string')
    throw brokenFile(file, 'profile is not a text');
  if (!isObject(profiles)) throw brokenFile(file, 'profiles is not an object');
  const read = new Map<string, Record<string, string>>();
  for (const [name, settings] of Object.entries(profiles)) {
    if (!isObject(settings)) throw brokenFile(file, `profiles.${name} is not an object`);
    for (const [key, value] of Object.entries(settings)) {
      if (typeof value !== 'string')
        throw brokenFile(file, `profiles.${name}.${key} is not a text`);
    }
    read.set(name, settings as Record<string, string>);
  }
  return { profile, profiles: read, rest };
}

/** Changes settings of one profile; undefined takes a setting away. */
export async function changeProfile(
  directory: string | undefined,
  io: Io,
  name: string,
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

/** @throws ImgctlError config: there is no place for settings */
export function requireDirectory(directory: string | undefined): string {
  if (directory !== undefined) return directory;
  throw new ImgctlError('config', 'there is no home directory to keep settings in', {
    hint: 'set IMGCTL_CONFIG_DIR to a directory that can be written',
  });
}

/** Reads, changes and writes config.json while no other process does. */
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
      await writeJsonFile(file, value);
    });
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    throw new ImgctlError(
      'config',
      `cannot write ${file}: ${(error as NodeJS.ErrnoException).code}`,
      {
        hint: 'nothing was changed; check the disk and the modes, or set IMGCTL_CONFIG_DIR',
        cause: error,
      },
    );
  }
}

function brokenFile(file: string, reason: string): ImgctlError {
  return new ImgctlError('config', `cannot read the settings in ${file}: ${reason}`, {
    hint: 'mend the file or move it away; imgctl does not overwrite it',
  });
}
