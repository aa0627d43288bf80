// What logout and profile delete remove: the password of a profile, and the token unless another profile shares it.

import { changeProfile } from '../config/config-file.ts';
import { STORED_PASSWORD } from '../config/definitions.ts';
import { type Account, Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { tryOr } from '../errors.ts';
import { openPasswordStore } from '../secrets/keychain.ts';

/** Returns the names of the other profiles with the same base URL and user name, which share the token. */
export function profilesSharing({ settings: { config } }: Context, account: Account): string[] {
  const { profile, baseUrl, username } = account;
  return [...config.profiles.keys()].filter((name) => {
    const other = tryOr(() => new Settings(config, name).account, undefined);
    return name !== profile && other?.baseUrl === baseUrl && other.username === username;
  });
}

/** Deletes a profile's password wherever it is stored. @returns true if there was one. @throws ImgctlError config */
export async function deleteStoredPassword(context: Context, settings: Settings): Promise<boolean> {
  const { profile, passwordLocations } = settings;
  // A keychain finds passwords by the profile, even if its base URL is invalid.
  const account = tryOr(() => settings.account, { profile, baseUrl: '', username: '' });
  const forget = (location: string) => openPasswordStore(context.io, location).forget(account);
  let deleted = false;
  for (const location of passwordLocations) if (await forget(location)) deleted = true;
  if (settings.storedAt === undefined) return deleted;
  await changeProfile(context.io, profile, { [STORED_PASSWORD]: undefined });
  // A login may have stored it again before that.
  return (await forget(settings.storedAt)) || deleted;
}
