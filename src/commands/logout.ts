// imgctl logout: forgets the cached token and the stored password.

import type { Context } from '../context.ts';
import { counted } from '../output/messages.ts';
import { changeProfile } from '../session/profile.ts';
import { Settings, STORED_PASSWORD } from '../session/settings.ts';
import { type Account, forgetTokens, TokenCache } from '../session/token-cache.ts';

export async function run(context: Context, options: { all?: boolean }): Promise<void> {
  return options.all ? logoutAll(context) : logout(context);
}

/** Opens the cache of an account; what is wrong with it is a warning. */
export function openCache(context: Context, account: Account): TokenCache {
  const { console, io, paths } = context;
  return new TokenCache(paths.config, account, io.system, (message) => console.warn(message));
}

async function logout(context: Context): Promise<void> {
  const { settings } = context;
  const cache = openCache(context, settings.account);
  context.console.note(cache.forget() ? 'logged out' : 'there was no token to forget');
  if (await forgetPassword(context, settings))
    context.console.note('the stored password is forgotten');
}

async function logoutAll(context: Context): Promise<void> {
  const count = forgetTokens(context.paths.config);
  context.console.note(`${counted(count, 'token')} forgotten`);
  for (const [profile, stored] of context.config.profiles) {
    if (await forgetPassword(context, new Settings(profile, {}, {}, stored))) {
      context.console.note(`the stored password of profile ${profile} is forgotten`);
    }
  }
}

/** Takes the password of a profile out of the keychain. @returns whether one was stored. @throws ImgctlError config */
export async function forgetPassword(context: Context, settings: Settings): Promise<boolean> {
  const { profile, hasStoredPassword } = settings;
  if (!hasStoredPassword) return false;
  const { openKeychain } = await import('../session/keychain.ts');
  await openKeychain(context.io).forget(profile);
  const { paths, io } = context;
  await changeProfile(paths.config, io, profile, { [STORED_PASSWORD]: undefined });
  return true;
}
