// Changes profiles in config.json, for the commands that store settings.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { errorReason, writeJsonFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import type { Io } from '../io.ts';
import type { JsonObject } from '../json.ts';
import type { SettingKey, STORED_PASSWORD } from './setting-table.ts';
import { type ConfigFile, configFilePath, readConfigFile } from './settings.ts';

const LOCK_PATIENCE = 20_000;

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
    await withLock(file, LOCK_PATIENCE, io, async (confirm) => {
      const { profile, profiles, rest } = change(readConfigFile(directory));
      const value: JsonObject = {
        ...(profile === undefined ? {} : { profile }),
        profiles: Object.fromEntries(profiles),
        ...rest,
      };
      const create = (staging: string) => storeWithConf(staging, value);
      await writeJsonFile(file, value, { create, confirm });
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
