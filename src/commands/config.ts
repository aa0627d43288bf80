// imgctl config: shows and changes the settings of a profile.

import path from 'node:path';
import type { Context } from '../context.ts';
import { ImgctlError, valueOrError } from '../errors.ts';
import { parseChoice } from '../query/suggest.ts';
import { changeProfile, requireDirectory } from '../session/profile.ts';
import {
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
} from '../session/setting-table.ts';
import { configFilePath } from '../session/settings.ts';
import { readColumns } from './listing.ts';
import { type GetOptions, printValue, readGet } from './shared-options.ts';

export async function list(context: Context, options: GetOptions): Promise<void> {
  const bare = readGet(context, options, ['key', 'value', 'origin', 'error']);
  const { settings } = context;
  const problems = new Map<SettingKey, ImgctlError>();
  const rows = SETTING_KEYS.map((key) => {
    const { shown = String }: SettingDefinition = SETTINGS[key];
    const { text, origin } = settings.find(key);
    const result = valueOrError(() => settings.get(key));
    const problem = 'error' in result ? result.error : undefined;
    if (problem) problems.set(key, problem);
    const value = problem ? shown(text ?? '') : text;
    return { key, value: value ?? null, origin: origin || null, error: problem?.message ?? null };
  });
  const format = problems.has('output') ? 'table' : context.format;
  const columns = ['key', 'value', 'origin'];
  if (format !== 'table' || problems.size > 0) columns.push('error');
  await context.printList(rows, columns, { format, idField: 'key', get: bare });
  const [first] = problems.values();
  if (first) throw first;
}

export async function get(context: Context, _options: object, name: string): Promise<void> {
  const key = requireKey(name);
  const value = context.settings.text(key);
  const { origin } = context.settings.find(key);
  if (value === undefined) {
    throw new ImgctlError('not-found', `${key} is not set`, {
      hint: `set it with: imgctl config set ${key} VALUE${context.settings.profileFlag}`,
    });
  }
  await printValue(context, { key, value, origin }, 'value');
}

export async function set(
  context: Context,
  _options: object,
  name: string,
  value: string,
): Promise<void> {
  const key = requireKey(name);
  SETTINGS[key].parse(value, key);
  if (key === 'columns.images' || key === 'columns.my-images') readColumns(value, key);
  // Later commands may run in another directory.
  const isPath =
    key === 'ca-file' ||
    key === 'upload-ca-file' ||
    key === 'metrics-file' ||
    (key === 'credential-helper' && /[\\/]/.test(value));
  await change(context, key, isPath ? path.resolve(context.io.cwd, value) : value);
  if (key === 'base-url' || key === 'token-store') await warnAboutUrl(context, key, value);
}

/** Every other command will refuse a URL without TLS. */
async function warnAboutUrl(
  context: Context,
  key: 'base-url' | 'token-store',
  value: string,
): Promise<void> {
  const { requireBaseUrl, requireStoreAddress } = await import('../session/session.ts');
  const settings = context.settingsWith({ [key]: value });
  const require = key === 'base-url' ? requireBaseUrl : requireStoreAddress;
  const result = valueOrError(() => require(settings));
  if ('error' in result) context.console.warn(result.error.message, result.error.hint);
}

export async function unset(context: Context, _options: object, name: string): Promise<void> {
  await change(context, requireKey(name), undefined);
}

export async function showPath(context: Context): Promise<void> {
  const file = configFilePath(requireDirectory(context.paths.config));
  await printValue(context, { path: file }, 'path');
}

async function change(context: Context, key: SettingKey, value: string | undefined): Promise<void> {
  await changeProfile(context.paths.config, context.io, context.profileName, { [key]: value });
}

function requireKey(text: string): SettingKey {
  return parseChoice(text, { noun: 'setting', valid: SETTING_KEYS, where: 'imgctl config' });
}
