// imgctl profile: lists, selects and deletes profiles.

import type { Context } from '../context.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { quoted, suggest } from '../query/suggest.ts';
import { changeConfigFile } from '../session/profile.ts';
import { DEFAULT_PROFILE, type Settings, storedSettings } from '../session/settings.ts';
import { forgetUnsharedTokens } from '../session/token-cache.ts';
import { deleteStoredPassword } from './logout.ts';
import { openCache, tokenState } from './token-state.ts';

export async function list(context: Context): Promise<void> {
  const { profile = DEFAULT_PROFILE, profiles } = context.config;
  const rows = [...profiles].map(([name, stored]) => {
    const settings = storedSettings(context.config, name);
    const isDefault = name === profile;
    const [location = null] = valueOr(() => settings.passwordLocations, []);
    return {
      name,
      default: context.format === 'table' ? (isDefault ? '*' : '') : isDefault,
      base_url: stored['base-url'] ?? null,
      username: stored.username ?? null,
      token: cachedTokenState(context, settings),
      password: stored['password-command'] ? 'command' : (location?.replace(/:.*/s, '') ?? null),
    };
  });
  const columns = ['name', 'default', 'base_url', 'username', 'token', 'password'];
  await context.printList(rows, columns, { idField: 'name' });
  if (rows.length === 0) context.console.note('no profiles yet', 'create one with: imgctl login');
}

/** An invalid base URL has no token; `config list` reports what is wrong with it. */
function cachedTokenState(context: Context, settings: Settings): string {
  const account = valueOr(() => settings.account, undefined);
  if (account === undefined) return 'none';
  return tokenState(openCache(context, account).read(), context.io.now());
}

export async function use(context: Context, _options: object, profile: string): Promise<void> {
  if (profile !== DEFAULT_PROFILE) requireProfile(context, profile);
  const { paths, io } = context;
  await changeConfigFile(paths.config, io, (config) => ({ ...config, profile }));
  context.console.success(`The default profile is now ${profile}`);
  if (io.env.IMGCTL_PROFILE && io.env.IMGCTL_PROFILE !== profile) {
    const message = `IMGCTL_PROFILE=${io.env.IMGCTL_PROFILE} overrides it`;
    context.console.note(message, 'run: unset IMGCTL_PROFILE');
  }
}

export async function remove(context: Context, _options: object, name: string): Promise<void> {
  requireProfile(context, name);
  const { paths, io } = context;
  forgetUnsharedTokens(paths.config, name);
  await deleteStoredPassword(context, storedSettings(context.config, name));
  const wasDefault = context.config.profile === name;
  await changeConfigFile(paths.config, io, (config) => {
    const profiles = new Map(config.profiles);
    profiles.delete(name);
    return { ...config, profiles, profile: config.profile === name ? undefined : config.profile };
  });
  context.console.success(`Deleted profile ${name}`);
  if (wasDefault) {
    const hint = 'select another with: imgctl profile use NAME';
    context.console.note('this was the default profile', hint);
  }
}

function requireProfile(context: Context, name: string): void {
  const { profiles } = context.config;
  if (profiles.has(name)) return;
  throw new ImgctlError('not-found', `unknown profile ${quoted(name)}`, {
    hint: suggest(name, [...profiles.keys()], 'imgctl profile list'),
  });
}
