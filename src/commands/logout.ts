// imgctl logout: deletes cached tokens and the stored password.

import type { Context } from '../context.ts';
import { counted } from '../output/messages.ts';
import { changeProfile } from '../session/profile.ts';
import { STORED_PASSWORD } from '../session/setting-table.ts';
import { Settings } from '../session/settings.ts';
import { forgetAllTokens, forgetTokens } from '../session/token-files.ts';

export async function run(context: Context, options: { all?: boolean }): Promise<void> {
  return options.all ? logoutAll(context) : logout(context);
}

async function logout(context: Context): Promise<void> {
  const { settings } = context;
  const { count, alsoUsedBy } = forgetTokens(context.paths.config, settings.account);
  const several = count > 1 ? ` (deleted ${counted(count, 'token')})` : '';
  if (count > 0) context.console.success(`Logged out${several}`);
  else context.console.note('you were not logged in');
  if (alsoUsedBy.length > 0) {
    context.console.note(`also logged out, with the same token: ${alsoUsedBy.join(', ')}`);
  }
  if (await deleteStoredPassword(context, settings)) {
    context.console.success('Deleted the stored password');
  }
}

async function logoutAll(context: Context): Promise<void> {
  const count = forgetAllTokens(context.paths.config);
  if (count > 0) context.console.success(`Deleted ${counted(count, 'token')}`);
  else context.console.note('you were not logged in');
  for (const [profile, stored] of context.config.profiles) {
    if (await deleteStoredPassword(context, new Settings(profile, {}, {}, stored))) {
      context.console.success(`Deleted the stored password of profile ${profile}`);
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
