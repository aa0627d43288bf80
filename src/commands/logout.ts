// imgctl logout: deletes the cached token and the stored password.

import type { Context } from '../context.ts';
import { counted } from '../output/messages.ts';
import { changeProfile } from '../session/profile.ts';
import { Settings, STORED_PASSWORD } from '../session/settings.ts';
import { forgetTokens } from '../session/token-cache.ts';
import { openCache } from './token-state.ts';

export async function run(context: Context, options: { all?: boolean }): Promise<void> {
  return options.all ? logoutAll(context) : logout(context);
}

async function logout(context: Context): Promise<void> {
  const { settings } = context;
  const cache = openCache(context, settings.account);
  context.console.note(cache.forget() ? 'logged out' : 'you were not logged in');
  if (await deleteStoredPassword(context, settings)) {
    context.console.note('deleted the stored password');
  }
}

async function logoutAll(context: Context): Promise<void> {
  const count = forgetTokens(context.paths.config);
  context.console.note(count > 0 ? `deleted ${counted(count, 'token')}` : 'you were not logged in');
  for (const [profile, stored] of context.config.profiles) {
    if (await deleteStoredPassword(context, new Settings(profile, {}, {}, stored))) {
      context.console.note(`deleted the stored password of profile ${profile}`);
    }
  }
}

/** Deletes a profile's password from the keychain. @returns true if there was one. @throws ImgctlError config */
export async function deleteStoredPassword(context: Context, settings: Settings): Promise<boolean> {
  const { profile, hasStoredPassword } = settings;
  if (!hasStoredPassword) return false;
  const { openKeychain } = await import('../session/keychain.ts');
  await openKeychain(context.io).forget(profile);
  const { paths, io } = context;
  await changeProfile(paths.config, io, profile, { [STORED_PASSWORD]: undefined });
  return true;
}
